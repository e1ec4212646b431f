/** Keys that Fastify's router refuses, because a path parameter of it has at most 100 characters. */
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { AuthModule, AuthUser, type CrudOptions, SecurityConfig } from 'declarest';
import { Column, Entity, JoinColumn, ManyToOne, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';
import { linesOf } from '../harness/platforms.js';
import { crudError, type CrudParts, startCrud } from './service.js';

@Entity()
class Line {
  @PrimaryColumn('uuid') tenant!: string;
  @PrimaryColumn('uuid') order!: string;
  @PrimaryColumn('uuid') line!: string;
  @Column('integer') quantity!: number;
}

@Entity()
class Word {
  @PrimaryColumn({ type: 'varchar', length: 190 }) word!: string;
}

@Entity()
class Meaning {
  @PrimaryGeneratedColumn() id!: number;
  @ManyToOne(() => Word)
  @JoinColumn()
  word!: Word;
}

@Entity()
class Note {
  @PrimaryColumn('text') name!: string;
}

@Entity()
class Short {
  @PrimaryColumn({ type: 'varchar', length: 49 }) a!: string;
  @PrimaryColumn({ type: 'varchar', length: 50 }) b!: string;
}

@Entity()
class Numbered {
  @PrimaryGeneratedColumn('uuid') id!: string;
  @Column('integer') size!: number;
}

@Entity()
class Person extends AuthUser {}

const RESOURCES: CrudOptions<never>[] = [Line, Word, Note, Short, Numbered].map((entity) => ({
  entity: entity as never,
  endpoint: `/${entity.name.toLowerCase()}s`,
  enablePagination: true,
}));
const NESTED = { entity: Meaning, endpoint: '/words/:wordId/meanings', enablePagination: true } as never;
const adapter = (maxParamLength?: number) =>
  new FastifyAdapter({
    forceCloseConnections: true,
    ...(maxParamLength && { routerOptions: { maxParamLength } }),
  } as never);

const parts = (resources: CrudOptions<never>[], more: CrudParts = {}): CrudParts => ({ resources, ...more });

const warningsOf = async (platform: 'express' | 'fastify', given: CrudParts): Promise<string[]> => {
  const service = await startCrud(platform, given);
  const lines = linesOf(service.logs, 'warn').filter((line) => line.includes('414'));
  await service.close();
  return lines;
};

const NAMES =
  'Line.tenant,order,line (110), Word.word (190), Note.name (no limit), :wordId of /words/:wordId/meanings (190)';
const WARNING = `Keys that may have more than 100 characters, which the router of Fastify refuses (414): ${NAMES}. Shorten the columns, or use new FastifyAdapter({ routerOptions: { maxParamLength: 500 } }).`;

it('[4.8] warns on Fastify of keys and path parameters that may be too long for its router', async () => {
  const all = [...RESOURCES, NESTED];
  expect(await warningsOf('fastify', parts(all))).toEqual([`warn [CrudModule] ${WARNING}`]);
  expect(await warningsOf('express', parts(all))).toEqual([]);
});

it('[4.8] refuses to start with `strict`', async () => {
  class Open extends SecurityConfig {
    configure(): void {
      this.publicEndpoints('/**');
    }
  }
  const imports = [
    AuthModule.forRoot({ userClass: Person, jwtSecret: 'x'.repeat(32), defaultAccess: 'public', strict: true }),
  ];
  const { message } = await crudError('fastify', parts(RESOURCES.slice(0, 1), { imports, providers: [Open] }));
  expect(message).toContain('Line.tenant,order,line (110). Shorten the columns');
});

it('[4.8] is silent where the router takes them, or no route has the key', async () => {
  const finite = [...RESOURCES.filter(({ entity }) => entity !== (Note as never)), NESTED];
  expect(await warningsOf('fastify', parts(finite, { adapter: adapter(190) }))).toEqual([]);
  expect(await warningsOf('fastify', parts([{ ...RESOURCES[0], operations: ['findAll', 'create'] } as never]))).toEqual(
    [],
  );
  expect(await warningsOf('fastify', parts(RESOURCES.slice(3), { adapter: adapter(50) }))).toEqual([
    expect.stringContaining('more than 50 characters, which the router of Fastify refuses (414): Short.a,b (100). '),
  ]);
});

it('[4.8] reads, changes and deletes records with long keys where the limit is raised', async () => {
  const service = await startCrud('fastify', parts(RESOURCES.slice(0, 2), { adapter: adapter(500) }));
  const uuid = (digit: number): string => `${digit}`.repeat(8) + '-0000-4000-8000-000000000000';
  const line = { tenant: uuid(1), order: uuid(2), line: uuid(3), quantity: 1 };
  const { status, headers } = await service.post('/lines', line);
  expect([status, (await service.get(headers['location'] ?? '')).json.data]).toEqual([201, line]);
  const word = 'ä'.repeat(190);
  const created = await service.post('/words', { word });
  expect((await service.get(created.headers['location'] ?? '')).json.data).toEqual({ word });
  expect((await service.del(created.headers['location'] ?? '')).status).toBe(200);
  await service.close();
});
