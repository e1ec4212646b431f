/** `@Transform()` and `@Type()` of class-transformer apply to bodies, as a ValidationPipe with `transform` applies them. */
import 'reflect-metadata';
import { Body, ClassSerializerInterceptor, Post, UnprocessableEntityException, ValidationPipe } from '@nestjs/common';
import { APP_INTERCEPTOR } from '@nestjs/core';
import { Exclude, Expose, Transform, Type } from 'class-transformer';
import { IsNotEmpty, IsOptional, MaxLength, ValidateNested } from 'class-validator';
import { CrudController, runAs } from 'declarest';
import { Column, Entity, ManyToOne, PrimaryGeneratedColumn } from 'typeorm';
import type { Answer } from '../harness/client.js';
import { PLATFORMS } from '../harness/platforms.js';
import { type CrudService, startCrud } from './service.js';

interface Given {
  value: unknown;
  obj: Record<string, unknown>;
}

const trim = ({ value }: Given): unknown => (value as string).trim();

class Address {
  @Transform(trim) @IsNotEmpty() @Column({ default: 'Ulm' }) city!: string;
  @Column({ type: 'varchar', nullable: true }) zip!: string | null;
}

class Settings {
  @Transform(trim) @IsNotEmpty() theme!: string;
  @IsOptional() @MaxLength(3) size?: string;
}

@Entity()
class Region {
  @PrimaryGeneratedColumn() id!: number;
}

@Entity()
class Place {
  @PrimaryGeneratedColumn() id!: number;
  @Transform(trim) @IsNotEmpty() @Column({ length: 20 }) name!: string;
  @Transform(({ value }: Given) => value || undefined) @Column({ default: 'none' }) note!: string;
  @Type(() => Number) @Column({ type: 'int', nullable: true }) seats!: number | null;
  @Type(() => Date) @Column({ type: 'datetime', nullable: true }) opened!: Date | null;
  @Type(() => Date) @Column({ type: 'date', nullable: true }) day!: string | null;
  @Transform(({ value }: Given) => `${String(value)} EUR`, { toPlainOnly: true })
  @Column({ default: '1' })
  fee!: string;
  @Expose({ name: 'renamed' }) @Transform(trim) @Column({ default: 'x' }) title!: string;
  @Exclude() @Transform(trim) @Column({ default: 'x' }) secret!: string;
  @Transform(({ value, obj }: Given) => `${String(obj['name']).trim()}/${String(value)}`)
  @Column({ default: '' })
  slug!: string;
  @Expose() @Transform(({ value }: Given) => (value as string).toLowerCase()) @Column({ default: '' }) code!: string;
  @Transform(({ value }: Given) => {
    if (value === 'bad') throw new UnprocessableEntityException({ message: 'bad kind', code: 'KIND' });
    return value;
  })
  @Column({ default: '' })
  kind!: string;
  @Type(() => Address) @Column(() => Address) address!: Address;
  @IsOptional()
  @ValidateNested()
  @Type(() => Settings)
  @Column('simple-json', { nullable: true })
  settings!: Settings | null;
  @Column('simple-json', { nullable: true }) free!: object | null;
  @ManyToOne(() => Region) region!: Region | null;
}

class PlacesController extends CrudController({ entity: Place, endpoint: '/places', enableBatch: true }) {
  override beforeCreate({ note }: { note?: string }): object | undefined {
    return note === 'hook' ? { note: ' set ' } : undefined;
  }
  store(body: object): Promise<unknown> {
    return this.create(body as never);
  }
}

const errorsOf = ({ status, json }: Answer): unknown[] => [status, json.errors];

describe.each(PLATFORMS)('class-transformer on %s', (platform) => {
  let service: CrudService;
  beforeAll(async () => {
    // The document describes what columns take, not what transformers make of it, and no HttpException of theirs.
    service = await startCrud(platform, {
      entities: [Place, Region],
      resources: [PlacesController],
      isDescribed: false,
    });
  });
  afterAll(() => service.close());

  const create = async (values: object) => (await service.post('/places', { name: 'a', ...values })).json.data;

  it('[4.6] transforms values before they are validated and stored', async () => {
    expect(errorsOf(await service.post('/places', { name: '   ' }))).toEqual([
      400,
      [{ field: 'name', message: 'name should not be empty' }],
    ]);
    const { id } = await create({
      name: `  Bonn${' '.repeat(20)}`,
      seats: '7',
      opened: '2026-01-31T10:00:00Z',
      day: '2026-01-31',
      fee: '2',
    });
    const [row] = await service.dataSource.getRepository(Place).findBy({ name: 'Bonn' });
    expect(row).toMatchObject({
      id,
      seats: 7,
      day: '2026-01-31',
      opened: new Date('2026-01-31T10:00:00Z'),
      fee: '2',
      code: '',
    });
  });

  it('[4.6] [8.1] transforms what PUT and PATCH send, and nothing else', async () => {
    const { id } = await create({ code: 'KEEP', slug: 's' });
    expect((await service.send('PATCH', `/places/${id}`, { json: { title: ' t ' } })).json.data).toMatchObject({
      title: 't',
      name: 'a',
      code: 'keep',
      slug: 'a/s',
      note: 'none',
    });
    const wrong = await service.send('PATCH', `/places/${id}`, { json: { name: '  ' } });
    expect(errorsOf(wrong)).toEqual([400, [{ field: 'name', message: 'name should not be empty' }]]);
    expect((await service.put(`/places/${id}`, { name: ' b ', slug: 'x' })).json.data).toMatchObject({
      name: 'b',
      slug: 'b/x',
    });
  });

  it('[8.2] transforms the items of a batch, and names the ones that are wrong', async () => {
    const wrong = await service.post('/places/batch', { items: [{ name: 'a' }, { name: ' ' }, { name: 5 }] });
    expect(errorsOf(wrong)).toEqual([
      400,
      [
        { field: 'items[1].name', message: 'name should not be empty' },
        { field: 'items[2].name', message: 'must be text of at most 20 characters, got 5' },
      ],
    ]);
    const { json } = await service.post('/places/batch', { items: [{ name: ' a ' }, { name: 'b ' }] });
    expect(json.data.map(({ name }: Place) => name)).toEqual(['a', 'b']);
    const items = json.data.map(({ id }: Place) => ({ id, name: ` ${id} ` }));
    const changed = await service.send('PATCH', '/places/batch', { json: { items } });
    expect(changed.json.data.map(({ name }: Place) => name)).toEqual(items.map(({ id }: Place) => String(id)));
  });

  it('[4.6] transforms embedded values and nested objects with @Type()', async () => {
    const { id } = await create({ address: { city: ' Bonn ' }, settings: { theme: ' dark ' } });
    const { json } = await service.get(`/places/${id}`);
    expect(json.data).toMatchObject({ address: { city: 'Bonn', zip: null }, settings: { theme: 'dark' } });
    const merged = { settings: { size: 'xl' }, address: { zip: '5' } };
    const patched = await service.send('PATCH', `/places/${id}`, { json: merged });
    expect(patched.json.data).toMatchObject({
      address: { city: 'Bonn', zip: '5' },
      settings: { theme: 'dark', size: 'xl' },
    });
    const wrong = { settings: { theme: '  ' }, name: 'a' };
    const found = [400, [{ field: 'settings.theme', message: 'theme should not be empty' }]];
    expect(errorsOf(await service.post('/places', wrong))).toEqual(found);
    expect(errorsOf(await service.send('PATCH', `/places/${id}`, { json: wrong }))).toEqual(found);
  });

  it('[4.6] a value that becomes undefined counts as not sent', async () => {
    const { id } = await create({ note: '' });
    await service.send('PATCH', `/places/${id}`, { json: { note: 'n' } });
    const { json } = await service.send('PATCH', `/places/${id}`, { json: { note: '' } });
    expect(json.data.note).toBe('n');
    expect((await service.put(`/places/${id}`, { name: 'a', note: '' })).json.data.note).toBe('none');
  });

  it('[4.3] a transformer that throws is 400 naming each field, and an HttpException is answered as it is', async () => {
    const wrong = { name: 5, title: null, slug: 's', code: 7, address: { city: 3 }, kind: 'x' };
    const { status, json } = await service.post('/places', wrong);
    expect([status, json.fields]).toEqual([
      400,
      {
        name: 'must be text of at most 20 characters, got 5',
        title: 'must not be null',
        code: expect.stringMatching(/^must be text.*, got 7$/),
        'address.city': expect.stringMatching(/^must be text.*, got 3$/),
      },
    ]);
    expect((await service.post('/places', { name: 'a', kind: 'bad', code: 7 })).json).toMatchObject({
      message: 'bad kind',
      code: 'KIND',
    });
  });

  it('[4.3] a text that @Type() makes an invalid date or number of is 400', async () => {
    const { status, json } = await service.post('/places', { name: 'a', opened: 'soon', seats: 'many' });
    expect([status, Object.keys(json.fields).toSorted()]).toEqual([400, ['opened', 'seats']]);
    expect(json.fields.opened).toMatch(/, got "soon"$/);
  });

  it('[9.3] names are those of the properties, whatever @Expose() says, and excluded columns are transformed too', async () => {
    const { id } = await create({ title: ' t ', secret: ' s ' });
    expect(await service.dataSource.getRepository(Place).findOneBy({ id })).toMatchObject({ title: 't', secret: 's' });
    expect((await service.post('/places', { name: 'a', renamed: 't' })).status).toBe(400);
  });

  it('[4.6] keeps JSON values without decorators exactly as they are sent', async () => {
    const free = { constructor: { a: 1 }, list: [{ constructor: 'x' }], nested: { a: null } };
    const { id } = await create({ free });
    expect((await service.get(`/places/${id}`)).json.data.free).toEqual(free);
  });

  it('[8.9] does not transform what a hook returns', async () => {
    expect(await create({ note: 'hook' })).toMatchObject({ note: ' set ', name: 'a' });
  });

  it('[2.7] transforms what code of the application gives, but no instance of the entity', async () => {
    const places = service.app.get(PlacesController, { strict: false });
    await runAs({ id: 1, roles: [] }, async () => {
      expect(await places.store({ name: ' c ' })).toMatchObject({ data: { name: 'c' } });
      expect(await places.store(Object.assign(new Place(), { name: ' d ' }))).toMatchObject({ data: { name: ' d ' } });
    });
  });
});

it.each(PLATFORMS)('[6] on %s, the body of an override with a ValidationPipe is transformed once', async (platform) => {
  @Entity()
  class Word {
    @PrimaryGeneratedColumn() id!: number;
    @Transform(({ value }: Given) => `${String(value)}!`) @Column() text!: string;
  }
  class WordsController extends CrudController({ entity: Word, endpoint: '/words' }) {
    @Post()
    override create(@Body(new ValidationPipe({ transform: true, expectedType: Word })) body: never) {
      return super.create(body);
    }
  }
  const service = await startCrud(platform, {
    entities: [Word],
    resources: [WordsController],
    providers: [{ provide: APP_INTERCEPTOR, useClass: ClassSerializerInterceptor }],
    isDescribed: false,
  });
  await service.post('/words', { text: 'a' });
  expect(await service.dataSource.query('SELECT text FROM word')).toEqual([{ text: 'a!' }]);
  await service.close();
});
