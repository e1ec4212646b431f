/** What an override of an operation need not repeat. */
import { Delete, Get, Post } from '@nestjs/common';
import { CrudController } from 'declarest';
import { as } from 'declarest/testing';
import { Column, DeleteDateColumn, Entity, ManyToOne, PrimaryGeneratedColumn } from 'typeorm';
import { authModule } from '../access/ruled-app.js';
import { ONE_PLATFORM } from '../harness/platforms.js';
import { type CrudService, startCrud, wrongFields } from './service.js';

@Entity()
class Shelf {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 20 }) name!: string;
}

@Entity()
class Box {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 20 }) name!: string;
  @ManyToOne(() => Shelf, { nullable: true }) shelf!: Shelf | null;
  @DeleteDateColumn() goneAt!: Date | null;
}

class Boxes extends CrudController({
  entity: Box,
  endpoint: '/boxes',
  includableRelations: ['shelf'],
  deletedRoles: ['ADMIN'],
  enableRestore: true,
}) {
  @Get(':uuid')
  override findById(id: string) {
    return super.findById(id);
  }
  @Delete(':number')
  override delete(id: string) {
    return super.delete(id);
  }
  @Post(':id/restore')
  override restore(id: string) {
    return super.restore(id);
  }
}

describe.each(ONE_PLATFORM)('on %s', (platform) => {
  let service: CrudService;
  beforeAll(async () => {
    service = await startCrud(platform, {
      entities: [Shelf, Box],
      resources: [Boxes],
      imports: [authModule({ defaultAccess: 'public' })],
    });
    await service.dataSource.getRepository(Shelf).insert({ name: 'top' });
    for (const name of ['a', 'b']) await service.dataSource.getRepository(Box).insert({ name, shelf: { id: 1 } });
  });
  afterAll(() => service.close());

  it('[4.7] [9.1] the query of the request, for super.findById and super.delete', async () => {
    const { data } = (await service.get('/boxes/1?fields=name&include=shelf')).json;
    expect(data).toEqual({ name: 'a', shelf: { id: 1, name: 'top' } });
    expect(wrongFields(await service.get('/boxes/1?unknown=1'))).toEqual(['unknown']);
    const admin = as(service.app, { roles: ['ADMIN'] });
    expect((await admin.delete('/boxes/2?purge=true')).status).toBe(200);
    expect(await service.dataSource.getRepository(Box).count({ withDeleted: true })).toBe(1);
    expect(wrongFields((await service.del('/boxes/1?purge=true')) as never)).toEqual(['purge']);
  });

  it('[4.7] the name of the parameter in its path, and the status', async () => {
    expect((await service.get('/boxes/1')).json.data.name).toBe('a');
    expect((await service.del('/boxes/1')).status).toBe(200);
    expect((await service.post('/boxes/1/restore', {})).status).toBe(200);
  });
});
