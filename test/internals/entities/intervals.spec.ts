import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { valueTypeOf } from '../../../lib/entities/column-types.js';
import { textReadOf } from '../../../lib/entities/text-reads.js';
import { startCrud } from '../../crud/service.js';
import { DATABASES } from '../../harness/databases.js';

@Entity()
class Exact {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ type: 'interval' }) interval!: object;
}

it.runIf(DATABASES.includes('postgres'))(
  '[4.6] an infinite interval of PostgreSQL 17 is answered as its text',
  async () => {
    const service = await startCrud('express', { database: 'postgres', entities: [Exact] });
    try {
      const column = service.dataSource.getMetadata(Exact).findColumnWithPropertyName('interval')!;
      const { read } = textReadOf(column, service.dataSource)!;
      const { write, read: readSent } = valueTypeOf(column, service.dataSource);
      for (const text of ['infinity', '-infinity']) {
        expect(write(read(text))).toBe(text);
        expect(readSent(text)).toEqual({ value: text });
      }
      expect(read('1 day 02:00:00')).toEqual({ days: 1, hours: 2 });
    } finally {
      await service.close();
    }
  },
);
