import {
  type ArgumentsHost,
  Body,
  Catch,
  Controller,
  type ExceptionFilter,
  Get,
  HttpException,
  NotFoundException,
  Post,
} from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import type { INestApplication, Provider } from '@nestjs/common';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { PLATFORMS } from '../harness/platforms.js';
import { type CrudService, failure, naming, startCrud, wrongFields } from './service.js';

@Entity()
class Note {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ unique: true, length: 20 })
  text!: string;
}

/** Catches everything, and answers in its own shape, whatever platform it stands on. */
@Catch()
class OwnFilter implements ExceptionFilter {
  catch(exception: unknown, host: ArgumentsHost): void {
    const status =
      exception instanceof HttpException
        ? exception.getStatus()
        : ((exception as { statusCode?: number })?.statusCode ?? 500);
    const response = host.switchToHttp().getResponse<{
      status: (code: number) => { send: (body: object) => void };
    }>();
    response.status(status).send({ own: true });
  }
}

@Controller('own')
class OwnController {
  @Get()
  missing() {
    throw new NotFoundException('nothing here');
  }

  @Get('broken')
  broken() {
    throw new Error('broken');
  }

  @Post()
  take(@Body() body: unknown) {
    return { body };
  }
}

const FILTERS: [string, { providers?: Provider[]; configure?: (app: INestApplication) => void; own: boolean }][] = [
  ['no filter', { own: false }],
  ['a filter of the module', { providers: [{ provide: APP_FILTER, useClass: OwnFilter }], own: true }],
  ['a filter of main.ts', { configure: (app) => void app.useGlobalFilters(new OwnFilter()), own: true }],
];

describe.each(PLATFORMS)('on %s', (platform) => {
  describe.each(FILTERS)('with %s', (_what, { providers = [], configure, own }) => {
    let service: CrudService;
    beforeAll(async () => {
      service = await startCrud(platform, {
        resources: [{ entity: Note, endpoint: '/api/notes' }],
        controllers: [OwnController],
        providers,
        ...(configure && { configure }),
      });
      await service.post('/api/notes', { text: 'taken' });
    });
    afterAll(() => service.close());
    const json = { 'content-type': 'application/json' };

    it('[4.3] a missing record keeps its shape', async () => {
      const answer = await service.get('/api/notes/7');
      expect([answer.status, answer.json]).toEqual([404, failure('Note with id 7 not found')]);
    });

    it('[4.3] invalid data keeps its shape', async () => {
      expect(wrongFields(await service.post('/api/notes', {}))).toEqual(['text']);
    });

    it('[4.3] a conflict keeps its shape', async () => {
      const answer = await service.post('/api/notes', { text: 'taken' });
      expect([answer.status, answer.json]).toEqual([409, failure(naming('Note'))]);
    });

    it.each([
      [400, '{', json],
      [415, '<a/>', { 'content-type': 'application/xml' }],
      [415, 'text', { 'content-type': 'text/plain' }],
      [413, JSON.stringify({ text: 'x'.repeat(2_000_000) }), json],
    ])('[4.3] a body that is %d keeps its shape', async (status, body, headers) => {
      for (const [method, path] of [
        ['POST', '/api/notes'],
        ['PUT', '/api/notes/1'],
      ] as const) {
        const answer = await service.send(method, path, { body, headers });
        expect([answer.status, answer.json]).toEqual([status, failure(expect.stringMatching(/\S/))]);
      }
    });

    it("[4.3] the application's own routes keep theirs", async () => {
      const missing = await service.get('/own');
      expect([missing.status, missing.json]).toEqual([
        404,
        own ? { own: true } : { statusCode: 404, message: 'nothing here', error: 'Not Found' },
      ]);
      const broken = await service.get('/own/broken');
      expect([broken.status, broken.json]).toEqual([
        500,
        own ? { own: true } : { statusCode: 500, message: 'Internal server error' },
      ]);
    });

    it.each([
      [400, '{', json],
      [413, JSON.stringify({ text: 'x'.repeat(2_000_000) }), json],
    ])("[4.3] a body that is %d keeps the shape of the application's own routes", async (status, body, headers) => {
      const answer = await service.send('POST', '/own', { body, headers });
      expect(answer.status).toBe(status);
      expect(answer.json).toEqual(own ? { own: true } : expect.objectContaining({ statusCode: status }));
      expect(answer.json).not.toHaveProperty('success');
    });

    it("[4.3] an unknown path keeps the application's shape", async () => {
      const answer = await service.get('/nowhere');
      expect(answer.status).toBe(404);
      expect(answer.json).not.toHaveProperty('success');
    });

    it("[4.3] bodies of the application's own routes are read as ever", async () => {
      const answer = await service.post('/own', { a: [1] });
      expect([answer.status, answer.json]).toEqual([201, { body: { a: [1] } }]);
    });
  });
});
