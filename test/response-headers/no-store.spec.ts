/** Answers of generated endpoints to a user are kept by no cache; those that everybody gets are as before. */
import { Get, Header, Injectable } from '@nestjs/common';
import { CrudController } from 'declarest';
import { as } from 'declarest/testing';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { authModule } from '../access/ruled-app.js';
import { PLATFORMS } from '../harness/platforms.js';
import type { Answer } from '../harness/client.js';
import { startCrud } from '../crud/service.js';

@Entity()
class Leaf {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 20 }) name!: string;
}

@Injectable()
class Leaves extends CrudController({ entity: Leaf, endpoint: '/leaves', enableExists: true }) {
  @Get('exists/:id')
  @Header('Cache-Control', 'max-age=60')
  override exists(id: string) {
    return super.exists(id);
  }
}

describe.each(PLATFORMS)('%s', (platform) => {
  it('no cache keeps what a user gets, also on a public route', async () => {
    const imports = [authModule({ defaultAccess: 'public' })];
    const service = await startCrud(platform, { imports, entities: [Leaf], resources: [Leaves] });
    const ann = as(service.app, { sub: 1, roles: ['USER'] });
    const nobody = as(service.app);
    const seen = ({ status, headers }: Answer) => [status, headers['cache-control']];
    try {
      expect(seen(await ann.post('/leaves', { name: 'ash' }))).toEqual([201, 'no-store']);
      for (const path of ['/leaves', '/leaves/1']) {
        expect([path, seen(await nobody.get(path))]).toEqual([path, [200, undefined]]);
        expect([path, seen(await ann.get(path))]).toEqual([path, [200, 'no-store']]);
      }
      expect(seen(await ann.get('/leaves/9'))).toEqual([404, 'no-store']);
      // The route's own header counts.
      expect(seen(await ann.get('/leaves/exists/1'))).toEqual([200, 'max-age=60']);
    } finally {
      await service.close();
    }
  });
});
