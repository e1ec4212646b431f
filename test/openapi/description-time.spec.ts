/** Controllers are described when a document is read, and not when the application starts. */
import { ApiExcludeController } from '@nestjs/swagger';
import { CrudController } from 'declarest';
import { Entity, PrimaryGeneratedColumn } from 'typeorm';
import { startCrud } from '../crud/service.js';
import { documentOf } from './described.js';

@Entity()
class Kettle {
  @PrimaryGeneratedColumn()
  id!: number;
}

class KettlesController extends CrudController({ entity: Kettle, endpoint: '/kettles' }) {}

@ApiExcludeController()
class HiddenController extends CrudController({ entity: Kettle, endpoint: '/hidden' }) {}

const isDescribed = (): boolean =>
  (Reflect.getMetadataKeys(KettlesController.prototype.findAll) as string[]).includes('swagger/apiOperation');

it('the start describes nothing, and each document everything, but for a controller that the application excludes', async () => {
  const service = await startCrud('express', { entities: [Kettle], resources: [KettlesController, HiddenController] });
  try {
    expect(isDescribed()).toBe(false);
    for (const { paths } of [documentOf(service.app), documentOf(service.app)]) {
      expect(paths['/kettles']?.get?.summary).toBe('List Kettles');
      expect(Object.keys(paths).filter((path) => path.startsWith('/hidden'))).toEqual([]);
    }
    expect(isDescribed()).toBe(true);
  } finally {
    await service.close();
  }
});
