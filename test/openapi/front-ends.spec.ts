/** What the providers say that a user may do, against what the server answers: the document and the token decide. */
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuthModule, AuthUser, CrudModule, SecurityConfig, UserAccounts } from 'declarest';
import { addAccess } from 'declarest/openapi';
import * as reactAdmin from 'ra-data-declarest';
import * as refine from 'refine-declarest';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { createDatabase } from '../harness/databases.js';
import { type RunningApp, startApp } from '../harness/platforms.js';
import { TEST_SECRET } from '../harness/tokens.js';
import { PASSWORD, recordedOptions } from '../front-ends/admin-service.js';

@Entity()
class Person extends AuthUser {}

@Entity()
class Cup {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 40 }) name!: string;
}

@Entity()
class Wish {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 40 }) text!: string;
  @Column('integer') personId!: number;
}

class Rules extends SecurityConfig {
  override configure(): void {
    this.requireAuth('/api/**');
    this.publicEndpoints('GET /api/cups/**', 'GET /docs-json');
    this.requireRole(['STAFF', 'not "a" word'], 'POST /api/cups', 'PATCH /api/cups/*');
    this.denyAll('DELETE /api/cups/*');
  }
}

const OWNERS = { wishes: { field: 'personId', except: ['STAFF'] } };
const ACTIONS = ['list', 'show', 'create', 'clone', 'edit', 'delete'] as const;

type Can = (action: string, resource: string, record?: { id: number; personId?: number }) => Promise<boolean>;

describe('what a user may do', () => {
  let running: RunningApp;
  let api: string;

  beforeAll(async () => {
    const database = await createDatabase();
    running = await startApp(
      'express',
      {
        imports: [
          TypeOrmModule.forRoot(database.options),
          AuthModule.forRoot({ userClass: Person, jwtSecret: TEST_SECRET, bcryptRounds: 4 }),
          CrudModule.forFeature(
            { entity: Cup, endpoint: '/api/cups' },
            { entity: Wish, endpoint: '/api/wishes', owner: { field: 'personId', except: ['STAFF'] } },
          ),
        ],
        providers: [Rules],
      },
      {
        onClose: database.drop,
        configure: (app) => {
          const config = new DocumentBuilder().setTitle('Cups').setOpenAPIVersion('3.1.0').addBearerAuth().build();
          const document = () => addAccess(SwaggerModule.createDocument(app, config), app);
          SwaggerModule.setup('docs', app, document, { raw: ['json'] });
        },
      },
    );
    api = `${running.url}/api`;
    const accounts = running.app.get(UserAccounts, { strict: false });
    for (const [name, role] of Object.entries({ ann: 'USER', bob: 'USER', sam: 'STAFF', odd: 'not "a" word' }))
      await accounts.create({ email: `${name}@example.com`, password: PASSWORD, role });
  });
  afterAll(() => running.close());

  /** A front end where this user has logged in. */
  const reactAdminOf = async (name?: string, document: string | object = `${running.url}/docs-json`): Promise<Can> => {
    const { fetch, storage } = recordedOptions(api);
    const auth = reactAdmin.authProvider(api, { fetch, storage, document, owners: OWNERS });
    if (name) await auth.login({ email: `${name}@example.com`, password: PASSWORD });
    return (action, resource, record) => auth.canAccess({ action, resource, ...(record && { record }) });
  };

  const refineOf = async (name?: string, document: string | object = `${running.url}/docs-json`): Promise<Can> => {
    const { fetch, storage } = recordedOptions(api);
    const options = { fetch, storage, document, owners: OWNERS };
    if (name) await refine.authProvider(api, options).login({ email: `${name}@example.com`, password: PASSWORD });
    const { can } = refine.accessControlProvider(api, options);
    return async (action, resource, record) =>
      (await can({ action, resource, params: record ? { id: record.id } : {} })).can;
  };

  describe.each([
    ['react-admin', reactAdminOf],
    ['refine', refineOf],
  ])('%s', (_, logIn) => {
    const allowed = async (can: Can, resource: string): Promise<string[]> => {
      const answers = await Promise.all(ACTIONS.map(async (action) => ((await can(action, resource)) ? [action] : [])));
      return answers.flat();
    };

    it.each([
      [undefined, ['list', 'show'], []],
      ['ann', ['list', 'show'], [...ACTIONS]],
      ['sam', ['list', 'show', 'create', 'clone', 'edit'], [...ACTIONS]],
      ['odd', ['list', 'show', 'create', 'clone', 'edit'], [...ACTIONS]],
    ])('allows %s what the rules allow', async (name, cups, wishes) => {
      const can = await logIn(name);
      expect([await allowed(can, 'cups'), await allowed(can, 'wishes')]).toEqual([cups, wishes]);
      // The server decides what the document does not say.
      expect([await allowed(can, 'plates'), await can('wash', 'cups')]).toEqual([[...ACTIONS], true]);
    });

    it('allows changes of own records only, except for roles that may change all', async () => {
      const { fetch, storage } = recordedOptions(api);
      await reactAdmin.authProvider(api, { fetch, storage }).login({ email: 'ann@example.com', password: PASSWORD });
      const data = reactAdmin.dataProvider(api, { fetch, storage });
      const { data: wish } = await data.create<{ id: number; personId: number }>('wishes', { data: { text: 'tea' } });
      const changes = async (name: string): Promise<boolean[]> => {
        const can = await logIn(name);
        return Promise.all(['show', 'edit', 'delete'].map((action) => can(action, 'wishes', wish)));
      };
      expect(await changes('ann')).toEqual([true, true, true]);
      expect(await changes('bob')).toEqual([true, false, false]);
      expect(await changes('sam')).toEqual([true, true, true]);
    });

    it('allows everything without a document, and reads one that failed again', async () => {
      expect(await allowed(await logIn('ann', {}), 'cups')).toEqual([...ACTIONS]);
      let fails = true;
      const document = async () => {
        if (fails) throw new Error('offline');
        return { paths: { '/api/cups': { get: {} } } };
      };
      const can = await logIn('ann', document);
      expect(await can('create', 'cups')).toBe(true);
      fails = false;
      expect([await can('create', 'cups'), await can('list', 'cups')]).toEqual([false, true]);
    });
  });
});
