/** Entities with a `toJSON` of their own: what it hides is no part of answers, and nothing is lost by PUT. */
import { Column, Entity, ManyToOne, OneToMany, PrimaryGeneratedColumn } from 'typeorm';
import { type CrudService, startCrud } from '../crud/service.js';
import type { Answer } from '../harness/client.js';

@Entity('json_teams')
class Team {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ default: '' }) name!: string;
  @OneToMany(() => Member, ({ team }) => team) members!: Member[];
  /** Needs a relation that is not loaded. */
  toJSON(): object {
    return { ...this, size: this.members.length };
  }
}

@Entity('json_members')
class Member {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ default: '' }) name!: string;
  @Column({ type: 'varchar', nullable: true }) secret!: string | null;
  @Column({ type: 'varchar', nullable: true }) card!: string | null;
  @Column({ default: true }) isPublic!: boolean;
  @Column({ type: 'varchar', nullable: true }) phone!: string | null;
  @Column({ type: 'datetime', nullable: true }) seen!: Date | null;
  @Column({ type: 'bigint', default: 1, transformer: { to: (n: unknown) => n, from: BigInt } }) points!: bigint;
  @ManyToOne(() => Team, ({ members }) => members, { nullable: true }) team!: Team | null;

  toJSON(): object {
    const { secret: _secret, phone, card, seen, points, ...rest } = this;
    return {
      ...rest,
      label: `${this.name}!`,
      card: card && `****${card.slice(-4)}`,
      seen: seen?.toISOString(),
      points: points.toString(),
      ...(this.isPublic && { phone }),
    };
  }
}

/** What it reads cannot be made up. */
@Entity('json_settings')
class Settings {
  @PrimaryGeneratedColumn() id!: number;
  @Column('simple-json') value!: { theme: { name: string } };
  @Column({ default: 'x' }) token!: string;
  toJSON(): object {
    return { id: this.id, value: { theme: { name: this.value.theme.name.toString() } } };
  }
}

describe.each(['compiled', 'repository'] as const)('toJSON of entities, %s', (path) => {
  let service: CrudService;
  beforeAll(async () => {
    service = await startCrud('express', {
      path,
      entities: [Team, Member, Settings],
      isDescribed: (route) => !route.startsWith('/settings'),
      resources: [
        { entity: Team, endpoint: '/teams', maxListSize: 10, includableRelations: ['members'] },
        { entity: Member, endpoint: '/members', maxListSize: 10, includableRelations: ['team'], enableExport: true },
        { entity: Settings, endpoint: '/settings', maxListSize: 10 },
      ],
    });
  });
  afterAll(() => service.close());

  const dataOf = ({ json }: Answer) => (json as { data: Record<string, unknown> }).data;
  const rows = (table: string): Promise<unknown> => service.dataSource.query(`SELECT * FROM ${table} ORDER BY id`);

  it('[4.6] [9.3] answers have no column that it leaves out or masks, and PUT of them loses nothing', async () => {
    const made = await service.post('/members', {
      name: 'Ann',
      secret: 's',
      card: '1234567890',
      phone: '555',
      seen: '2026-01-31T09:30:00.000Z',
    });
    expect([made.status, dataOf(made)], made.text).toEqual([
      201,
      { id: 1, name: 'Ann', isPublic: true, seen: '2026-01-31T09:30:00.000Z', points: 1, teamId: null },
    ]);
    const before = await rows('json_members');
    const { id: _, ...sent } = dataOf(await service.get('/members/1'));
    for (const method of ['PUT', 'PATCH']) {
      const { status, text } = await service.send(method, '/members/1', { json: sent });
      expect([status, await rows('json_members')], text).toEqual([200, before]);
    }
    expect((await service.get('/members/export?format=ndjson')).text).not.toMatch(/1234|555|secret/);
  });

  it('[4.6] [7.4] it may need relations that are not loaded, and included ones are answered', async () => {
    const made = await service.post('/teams', { name: 'A' });
    expect([made.status, dataOf(made)], made.text).toEqual([201, { id: 1, name: 'A' }]);
    await service.send('PATCH', '/members/1', { json: { teamId: 1 } });
    expect(dataOf(await service.get('/members/1?include=team'))).toMatchObject({
      teamId: 1,
      team: { id: 1, name: 'A' },
    });
    const [team] = dataOf(await service.get('/teams?include=members')) as unknown as { members: object[] }[];
    expect(team?.members).toMatchObject([{ id: 1, name: 'Ann' }]);
    expect(JSON.stringify(team)).not.toMatch(/1234|555|secret/);
  });

  it('[9.3] one that cannot be tried answers for itself, so that it hides what it always hid', async () => {
    const made = await service.post('/settings', { value: { theme: { name: 'dark' } } });
    expect([made.status, dataOf(made)], made.text).toEqual([201, { id: 1, value: { theme: { name: 'dark' } } }]);
  });
});
