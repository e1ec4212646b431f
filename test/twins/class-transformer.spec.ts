/** `@Transform()` and `@Type()` on an entity: what a generated controller and its hand-written twin refuse and store. */
import { Transform, Type } from 'class-transformer';
import { IsNotEmpty, IsOptional, ValidateNested } from 'class-validator';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { PLATFORMS } from '../harness/platforms.js';
import { startTwins, type Twins } from './twins.js';

const trim = ({ value }: { value: unknown }): unknown => (typeof value === 'string' ? value.trim() : value);

class Address {
  @Transform(trim) @IsNotEmpty() @Column({ default: 'Ulm' }) street!: string;
}

class Settings {
  @Transform(trim) @IsNotEmpty() theme!: string;
}

abstract class Place {
  @PrimaryGeneratedColumn() id!: number;
  @Transform(trim) @IsNotEmpty() @Column() city!: string;
  @IsOptional() @Type(() => Number) @Column({ type: 'int', default: 0 }) seats!: number;
  @IsOptional() @Transform(trim, { toPlainOnly: true }) @Column({ default: '' }) shown!: string;
  @IsOptional() @Transform(trim, { groups: ['none'] }) @Column({ default: '' }) grouped!: string;
  @IsOptional() @ValidateNested() @Type(() => Address) @Column(() => Address) address!: Address;
  @IsOptional() @ValidateNested() @Type(() => Settings) @Column('simple-json', { default: '{}' }) settings!: Settings;
}
@Entity()
class GeneratedPlace extends Place {}
@Entity()
class HandwrittenPlace extends Place {}

describe.each(PLATFORMS)('class-transformer on %s', (platform) => {
  let twins: Twins;
  beforeAll(async () => {
    twins = await startTwins(platform, { twins: [GeneratedPlace, HandwrittenPlace] });
  });
  afterAll(() => twins.close());

  it.each([
    ['POST', '', { city: '   ' }, 400],
    ['POST', '', { city: ' Bonn ', seats: '7', shown: ' a ', grouped: ' b ' }, 201],
    ['POST', '', { city: 'Ulm', address: { street: ' x ' }, settings: { theme: ' dark ' } }, 201],
    ['POST', '', { city: 'Ulm', address: { street: '  ' } }, 400],
    ['POST', '', { city: 'Ulm', settings: { theme: '  ' } }, 400],
    ['PATCH', '/1', { city: ' Berlin ' }, 200],
    ['PATCH', '/1', { city: ' ' }, 400],
    ['PUT', '/1', { city: ' Kiel ', seats: '8', shown: ' c ', grouped: ' d ' }, 200],
  ])('answers and stores the same for %s %s with %j', async (method, path, body, status) => {
    expect((await twins.both(method, path, body)).status).toBe(status);
    await twins.rows();
  });
});
