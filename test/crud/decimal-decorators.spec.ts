/** Decorators of class-validator on decimals and integers of 64 bits, whose answers are texts. */
import { IsDecimal, IsInt, IsNumber, IsOptional, IsPositive, Max, Min, ValidateNested } from 'class-validator';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { DATABASES } from '../harness/databases.js';
import { type CrudService, startCrud, wrongFields } from './service.js';

const money = { type: 'decimal', precision: 20, scale: 2 } as const;

class Size {
  @Column('decimal', { precision: 6, scale: 1 }) @IsPositive() width!: number;
}

@Entity()
class Priced {
  @PrimaryGeneratedColumn() id!: number;
  @Column(money) @IsNumber({ maxDecimalPlaces: 2 }) @Min(0) @Max(99.5) price!: number;
  @Column({ ...money, nullable: true }) @IsOptional() @Min(1, { message: 'must be 1 or more' }) cost!: number | null;
  @Column(money) @IsDecimal() digits!: string;
  @Column('bigint') @IsInt() @Min(0) serial!: string;
  @Column(() => Size) @ValidateNested() size!: Size;
  @Column({ length: 9, default: 'new' }) @Min(0) label!: string;
}

describe.each(DATABASES)('on %s', (database) => {
  let service: CrudService;
  beforeAll(async () => {
    service = await startCrud('express', { database, resources: [{ entity: Priced, endpoint: '/api/priced' }] });
  });
  afterAll(() => service.close());

  const body = {
    price: '99.50',
    cost: '1.00',
    digits: '1234567890123.25',
    serial: '9007199254740993',
    size: { width: '0.5' },
  };

  it('accepts what it answers', async () => {
    const created = await service.post('/api/priced', { ...body, price: 99.5, size: { width: 0.5 } });
    expect([created.status, created.json.data]).toEqual([201, { id: 1, label: 'new', ...body }]);
    const { id: _id, label: _label, ...answered } = created.json.data;
    for (const method of ['PUT', 'PATCH']) {
      const { status, json } = await service.send(method, '/api/priced/1', { json: answered });
      expect([method, status, json.data]).toEqual([method, 200, created.json.data]);
    }
  });

  it.each([
    ['a number', { price: 99.51, cost: 0.5, serial: -1, size: { width: -1 } }],
    ['a text', { price: '99.51', cost: '0.50', serial: '-9007199254740993', size: { width: '-1.0' } }],
  ])('refuses %s beyond the bounds, with the messages of its number', async (_kind, wrong) => {
    const { status, json } = await service.post('/api/priced', { ...body, ...wrong });
    expect(status).toBe(400);
    const messages = Object.fromEntries(
      (json.errors as { field: string; message: string }[]).map(({ field, message }) => [field, message]),
    );
    expect(messages).toEqual({
      price: 'price must not be greater than 99.5',
      cost: 'must be 1 or more',
      serial: 'serial must not be less than 0',
      'size.width': 'width must be a positive number',
    });
  });

  it('takes the text of other columns for no number', async () => {
    expect(wrongFields(await service.post('/api/priced', { ...body, label: '5' }))).toEqual(['label']);
  });
});
