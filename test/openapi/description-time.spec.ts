/** Controllers are described when a document is read, and not when the application starts. */
import { setTimeout as wait } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { AuthModule, AuthUser, CrudController, CrudModule } from 'declarest';
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

@Entity()
class Guest extends AuthUser {}

const auth = () => AuthModule.forRoot({ userClass: Guest, jwtSecret: 'x'.repeat(32), defaultAccess: 'public' });

/** Its provider is ready when those of all other modules are. */
@Injectable()
class LateController extends CrudController({ entity: Kettle, endpoint: '/late' }) {
  constructor(@Inject('LATE') readonly late: string) {
    super();
  }
}
const late = { provide: 'LATE', useFactory: () => wait(50, 'late') };

it.each([
  ['before', () => ({ imports: [auth(), CrudModule.forFeature(KettlesController)] })],
  ['behind', () => ({ imports: [CrudModule.forFeature(KettlesController), auth()] })],
  ['long before a controller of', () => ({ imports: [auth()], controllers: [LateController], providers: [late] })],
])('endpoints of accounts are described too, with AuthModule %s the resources', async (_, parts) => {
  const service = await startCrud('express', { entities: [Kettle, Guest], ...parts() });
  try {
    const { paths } = documentOf(service.app);
    const { get } = paths['/kettles'] ?? paths['/late'] ?? {};
    expect([get?.summary, paths['/api/auth/login']?.post?.tags]).toEqual([expect.stringMatching(/^List /), ['Auth']]);
  } finally {
    await service.close();
  }
});
