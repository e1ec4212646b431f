import { Controller, Get, Injectable, Logger, type OnApplicationShutdown, Post, Body } from '@nestjs/common';
import { InjectDataSource, TypeOrmModule } from '@nestjs/typeorm';
import { JwtService } from '@nestjs/jwt';
import { Column, type DataSource, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { request } from './client.js';
import { createDatabase, DATABASES } from './databases.js';
import { bootError, linesOf, loggedAtBoot, PLATFORMS, startApp } from './platforms.js';
import { parseAnswer, rawTarget } from './raw-socket.js';
import { claims, makeToken, TEST_SECRET } from './tokens.js';

@Entity()
class Note {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column()
  text!: string;
}

@Controller('notes')
class NotesController {
  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  @Get()
  all() {
    return this.dataSource.getRepository(Note).find();
  }

  @Post()
  add(@Body() body: { text: string }) {
    new Logger('Notes').warn(`added ${body.text}`);
    return this.dataSource.getRepository(Note).save({ text: body.text });
  }
}

@Injectable()
class Refuses {
  // Injected, so that the connection is open by now.
  constructor(@InjectDataSource() _dataSource: DataSource) {
    throw new Error('this one does not boot');
  }
}

describe.each(PLATFORMS)('the harness on %s', (platform) => {
  it.each(DATABASES)('runs an application on a database of its own (%s)', async (name) => {
    const database = await createDatabase(name);
    const closed: string[] = [];
    @Injectable()
    class Witness implements OnApplicationShutdown {
      onApplicationShutdown(): void {
        closed.push('application');
      }
    }
    const { url, port, logs, close } = await startApp(
      platform,
      {
        imports: [TypeOrmModule.forRoot(database.options), TypeOrmModule.forFeature([Note])],
        controllers: [NotesController],
        providers: [Witness],
      },
      {
        onClose: async () => {
          await database.drop();
          closed.push('database');
        },
      },
    );
    const made = await request(url, 'POST', '/notes', { json: { text: 'ä' } });
    expect([made.status, made.json]).toEqual([201, { id: 1, text: 'ä' }]);
    expect(made.headers['content-type']).toBe('application/json; charset=utf-8');
    const raw = await rawTarget(port, 'http://elsewhere/notes?%zz');
    expect([raw.status, raw.body]).toEqual([200, '[{"id":1,"text":"ä"}]']);
    expect((await request(url, 'HEAD', '/notes')).text).toBe('');
    expect(linesOf(logs, 'warn')).toEqual(['warn [Notes] added ä']);
    await close();
    expect(closed).toEqual(['application', 'database']);
  });

  it.each(DATABASES)('hands over the error of a boot that failed, and closes what was opened (%s)', async (name) => {
    const database = await createDatabase(name);
    const root = { imports: [TypeOrmModule.forRoot(database.options)], providers: [Refuses] };
    const error = await bootError(platform, root, { onClose: database.drop });
    expect(error.message).toBe('this one does not boot');
  });

  it('tells what was logged at boot, and when a boot that should fail does not', async () => {
    expect((await loggedAtBoot(platform, {})).logs.join('\n')).toContain('Nest application successfully started');
    expect((await loggedAtBoot(platform, { imports: [undefined as never] })).error).toBeInstanceOf(Error);
    await expect(bootError(platform, {})).rejects.toThrow('it is up');
  });
});

it('puts chunks together and reads a silent server as no answer', () => {
  const chunked = parseAnswer(
    Buffer.from(
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX: a\r\nx: b\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n',
    ),
  );
  expect([chunked.status, chunked.body, chunked.headers['x']]).toEqual([200, 'abcde', 'a, b']);
  expect(parseAnswer(Buffer.alloc(0)).status).toBeUndefined();
});

it('makes tokens that a library accepts, and others that none would make', async () => {
  const jwt = new JwtService();
  const sent = claims();
  await expect(jwt.verifyAsync(makeToken({ payload: sent }), { secret: TEST_SECRET })).resolves.toEqual(sent);
  await expect(jwt.verifyAsync(makeToken(), { secret: TEST_SECRET })).resolves.toMatchObject({ sub: sent['sub'] });
  expect(makeToken({ alg: 'none' })).toMatch(/\.$/);
  expect(makeToken({ payload: 'text', alg: 'HS512' }).split('.')[1]).toBe('dGV4dA');
});
