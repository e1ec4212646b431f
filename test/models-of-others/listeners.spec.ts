/** Listeners of updates: they see the loaded entity, as `save` gives it, and may write its row by another connection. */
import { BeforeUpdate, Column, DataSource, Entity, JoinTable, ManyToMany, PrimaryGeneratedColumn } from 'typeorm';
import { type CrudService, startCrud } from '../crud/service.js';
import type { Answer } from '../harness/client.js';
import { DATABASES } from '../harness/databases.js';

let others: DataSource | undefined;

@Entity('heard_labels')
class Label {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ default: '' }) name!: string;
}

@Entity('heard_projects')
class Project {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ default: '' }) title!: string;
  @Column({ default: '' }) text!: string;
  @Column({ default: '' }) summary!: string;
  @Column({ default: 0 }) writes!: number;
  @Column({ type: 'simple-json', nullable: true }) details!: object | null;
  @Column({ type: 'int', default: 1, transformer: { to: (n: unknown) => n, from: (n: unknown) => n } }) rank!: number;
  @ManyToMany(() => Label) @JoinTable() labels!: Label[];

  @BeforeUpdate()
  async derive(): Promise<void> {
    this.summary = this.text.slice(0, 3).toUpperCase();
    await others?.getRepository(Project).increment({ id: this.id }, 'writes', 1);
  }
}

describe.each(DATABASES)('listeners on %s', (database) => {
  let service: CrudService;
  beforeAll(async () => {
    service = await startCrud('express', {
      database,
      entities: [Project, Label],
      resources: [
        {
          entity: Project,
          endpoint: '/projects',
          maxListSize: 10,
          enableBatch: true,
          linkableRelations: ['labels'],
        },
      ],
    });
    await service.dataSource.getRepository(Label).insert([{ name: 'a' }, { name: 'b' }]);
    others = service.dataSource;
  });
  afterAll(async () => {
    others = undefined;
    await service.close();
  });

  const dataOf = ({ json }: Answer) => (json as { data: Record<string, unknown> }).data;

  it('[4.6] [8.1] @BeforeUpdate sees the whole entity on PATCH and PUT, and what it derives is kept', async () => {
    const { id } = dataOf(await service.post('/projects', { title: 'a', text: 'long text' }));
    const patched = await service.send('PATCH', `/projects/${String(id)}`, { json: { title: 'b' } });
    expect(dataOf(patched)).toMatchObject({ title: 'b', text: 'long text', summary: 'LON', writes: 1 });
    const put = await service.put(`/projects/${String(id)}`, { title: 'c', text: 'other' });
    expect(dataOf(put)).toMatchObject({ title: 'c', text: 'other', summary: 'OTH' });
  });

  it.each([
    ['PATCH', '', { title: 'b' }],
    ['PATCH', '', { details: { a: 2 } }],
    ['PATCH', '', { rank: 5 }],
    ['PUT', '', { text: 'second', details: { b: 1 }, labelsIds: [2] }],
    ['PATCH', '/batch', { title: 'd', details: { c: 3 } }],
  ])(
    '[4.6] [8.1] no lock is held while a listener writes the row of %s %s %j by another connection',
    async (method, path, body) => {
      const first = { title: 'a', text: 'first', details: { a: 1, z: 1 }, labelsIds: [1] };
      const { id } = dataOf(await service.post('/projects', first));
      const answer = path
        ? await service.send(method, `/projects${path}`, { json: { items: [{ id, ...body }] } })
        : await service.send(method, `/projects/${String(id)}`, { json: body });
      expect(answer.status, answer.text).toBe(200);
      const merged = { ...(method === 'PATCH' && first.details), ...(body as { details?: object }).details };
      const { writes, ...record } = dataOf(await service.get(`/projects/${String(id)}`));
      expect(record).toMatchObject({ ...(method === 'PATCH' && first), ...body, details: merged });
      expect(writes).toBeGreaterThan(method === 'PUT' ? -1 : 0);
    },
  );

  it('[8.1] concurrent patches of a JSON column are merged beside a listener', async () => {
    const { id } = dataOf(await service.post('/projects', { text: 'x', details: {} }));
    const names = ['a', 'b', 'c', 'd', 'e'];
    const patch = (name: string) =>
      service.send('PATCH', `/projects/${String(id)}`, { json: { details: { [name]: 1 } } });
    const answers = await Promise.all(names.map(patch));
    expect(answers.map(({ status }) => status)).toEqual(names.map(() => 200));
    const { details } = dataOf(await service.get(`/projects/${String(id)}`));
    expect(Object.keys(details as object).toSorted()).toEqual(names);
  });
});
