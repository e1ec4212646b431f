/** MySQL and MariaDB: columns whose character set cannot hold every text. */
import { AuthModule, AuthUser } from 'declarest';
import { BeforeInsert, Column, Entity, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';
import { AUTH } from '../auth/auth-app.js';
import { DATABASES } from '../harness/databases.js';
import { type CrudService, type DataPath, failure, startCrud } from './service.js';

@Entity()
class Song {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 30, charset: 'latin1' })
  title!: string;

  @Column({ length: 30 })
  singer!: string;
}

@Entity()
class Genre {
  @PrimaryColumn({ length: 20, charset: 'latin1' })
  id!: string;

  @Column({ length: 30 })
  name!: string;

  @BeforeInsert()
  setId(): void {
    this.id = this.name;
  }
}

@Entity()
class Member extends AuthUser {}

const PATHS: DataPath[] = ['compiled', 'repository'];

const onMariadb = DATABASES.includes('mariadb') ? describe : describe.skip;
onMariadb.each(PATHS)('a column in latin1, %s', (path) => {
  let service: CrudService;
  beforeAll(async () => {
    service = await startCrud('express', {
      database: 'mariadb',
      path,
      entities: [Song, Genre, Member],
      resources: [
        {
          entity: Song,
          endpoint: '/api/songs',
          filterableFields: ['title', 'singer'],
          sortableFields: ['title'],
          enablePagination: 'both',
          enableSearch: true,
          searchableFields: ['title', 'singer'],
        },
        { entity: Genre, endpoint: '/api/genres' },
      ],
      imports: [AuthModule.forRoot({ ...AUTH, userClass: Member, defaultAccess: 'public' })],
    });
    for (const title of ['Äther', 'Zoo', 'zoo?']) await service.post('/api/songs', { title, singer: '🎤' });
  });
  afterAll(() => service.close());

  const titles = async (query: string): Promise<unknown> => {
    const { status, json } = await service.get(`/api/songs?${encodeURI(query)}`);
    return status === 200 ? json.data.map(({ title }: Song) => title) : [status, json];
  };

  it.each([
    ['filter[title]=💩', []],
    ['filter[title]=?', []],
    ['filter[title]=Äther', ['Äther']],
    ['filter[title]=äther', []],
    ['filter[title][in]=💩,Zoo', ['Zoo']],
    ['filter[title][ne]=💩', ['Äther', 'Zoo', 'zoo?']],
    ['filter[title][contains]=💩', []],
    ['filter[title][icontains]=Ж', []],
    ['filter[title][startsWith]=Ä', ['Äther']],
    ['filter[title][endsWith]=💩', []],
    ['filter[title][lt]=💩', ['Äther', 'Zoo', 'zoo?']],
    ['filter[title][between]=A,💩', ['Äther', 'Zoo', 'zoo?']],
    ['filter[or][0][title]=💩&filter[or][1][singer]=🎤', ['Äther', 'Zoo', 'zoo?']],
    ['sort=title&pagination=cursor&size=2', ['Zoo', 'zoo?']],
  ])('[7.1] %s', async (query, expected) => {
    expect(await titles(query)).toEqual(expected);
  });

  it('[4.5] searches find nothing', async () => {
    expect((await service.get('/api/songs/search?q=%F0%9F%92%A9')).json.data).toEqual([]);
  });

  it('[4.3] a text that the column cannot hold is 400 in a write, and unknown as an id', async () => {
    expect((await service.post('/api/songs', { title: '💩', singer: 'a' })).status).toBe(400);
    const { status, json } = await service.get('/api/genres/%F0%9F%92%A9');
    expect([status, json]).toEqual([404, failure('Genre with id 💩 not found')]);
  });

  it('[2.4] a login is unknown, and a registration 400', async () => {
    await service.dataSource.query('ALTER TABLE member CONVERT TO CHARACTER SET latin1');
    const account = { email: '💩@example.com', password: 'long enough' };
    expect((await service.post('/api/auth/login', account)).status).toBe(401);
    expect((await service.post('/api/auth/register', account)).status).toBe(400);
  });
});
