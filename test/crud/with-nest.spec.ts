/** What @dataui/crud has as options, and an application of declarest adds by means of Nest and TypeORM. */
import {
  type ArgumentsHost,
  Body,
  type CallHandler,
  Catch,
  ConflictException,
  Controller,
  type ExceptionFilter,
  type ExecutionContext,
  Get,
  GoneException,
  HttpException,
  type INestApplication,
  Injectable,
  type NestInterceptor,
  NotFoundException,
  Post,
  type Provider,
  Query,
  UseFilters,
  UseInterceptors,
} from '@nestjs/common';
import { APP_FILTER, APP_INTERCEPTOR, HttpAdapterHost } from '@nestjs/core';
import {
  ApiExcludeEndpoint,
  ApiOperation,
  ApiQuery,
  ApiResponse,
  DocumentBuilder,
  SwaggerModule,
} from '@nestjs/swagger';
import { InjectRepository } from '@nestjs/typeorm';
import { CrudController, type JsonObject, type ListQuery } from 'declarest';
import { catchError, type Observable, of, tap } from 'rxjs';
import { Column, Entity, PrimaryGeneratedColumn, type Repository } from 'typeorm';
import { DATABASES } from '../harness/databases.js';
import { PLATFORMS } from '../harness/platforms.js';
import { type CrudService, failure, naming, startCrud, wrongFields } from './service.js';

const NAMES = ['Ann', 'ANN', 'Bob', 'bobby', 'Cleo'];

@Injectable()
class AnswersOnce implements NestInterceptor {
  private readonly answers = new Map<string, unknown>();

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const { url } = context.switchToHttp().getRequest<{ url: string }>();
    if (this.answers.has(url)) return of(this.answers.get(url));
    return next.handle().pipe(tap((answer) => this.answers.set(url, answer)));
  }
}

describe.each(PLATFORMS)('%s', (platform) => {
  describe.each(DATABASES)('%s', (database) => {
    @Entity()
    class Person {
      @PrimaryGeneratedColumn()
      id!: number;

      @Column({ length: 20 })
      name!: string;

      @Column({ length: 20, generatedType: 'STORED', asExpression: 'lower(name)', insert: false, update: false })
      lowerName!: string;
    }

    const options = {
      entity: Person,
      endpoint: '/api/people',
      enablePagination: true,
      filterableFields: ['name', 'lowerName'],
      sortableFields: ['name'],
    } as const;

    @Injectable()
    class PeopleController extends CrudController(options) {
      constructor(@InjectRepository(Person) private readonly people: Repository<Person>) {
        super();
      }

      @Get()
      @ApiOperation({ summary: 'People by name', operationId: 'listPeople' })
      @ApiQuery({ name: 'limit', type: Number, required: false })
      @ApiResponse({ status: 200, description: 'A page of people' })
      override findAll({ limit, order, ...query }: ListQuery) {
        return super.findAll({ ...query, ...(limit && { size: limit }), ...(order && { sort: order }) });
      }

      @Post()
      @ApiExcludeEndpoint()
      override create(body: JsonObject) {
        return super.create(body);
      }

      @Get('window')
      window(@Query('offset') offset: string, @Query('limit') limit: string) {
        return this.people.find({ skip: Number(offset), take: Number(limit), order: { id: 'ASC' } });
      }
    }

    @UseInterceptors(AnswersOnce)
    class CachedController extends CrudController({ ...options, endpoint: '/api/cached-people' }) {}

    let service: CrudService;

    beforeAll(async () => {
      service = await startCrud(platform, {
        database,
        entities: [Person],
        resources: () => [PeopleController, CachedController],
        providers: [AnswersOnce],
      });
      for (const name of NAMES) await service.post('/api/people', { name });
    });

    afterAll(() => service.close());

    const namesAt = async (path: string): Promise<string[]> => {
      const { status, json } = await service.get(path);
      expect(status).toBe(200);
      return (json.data as { name: string }[]).map(({ name }) => name);
    };

    it.each([
      ['$eqL', 'filter[lowerName]=ann', ['Ann', 'ANN']],
      ['$neL', 'filter[lowerName][ne]=ann', ['Bob', 'bobby', 'Cleo']],
      ['$inL', 'filter[lowerName][in]=ann,cleo', ['Ann', 'ANN', 'Cleo']],
      ['$notinL', 'filter[lowerName][nin]=ann,cleo', ['Bob', 'bobby']],
      ['$startsL', 'filter[lowerName][startsWith]=bob', ['Bob', 'bobby']],
      ['$endsL', 'filter[lowerName][endsWith]=nn', ['Ann', 'ANN']],
    ])('has %s of @dataui/crud by a computed column in lower case', async (_operator, filter, names) => {
      expect(await namesAt(`/api/people?${filter}`)).toEqual(names);
    });

    it('keeps the computed column up to date', async () => {
      const { json } = await service.post('/api/people', { name: 'Dora' });
      const { id } = json.data;
      await service.send('PATCH', `/api/people/${id}`, { json: { name: 'DORA D.' } });
      expect(await namesAt('/api/people?filter[lowerName]=dora%20d.')).toEqual(['DORA D.']);
      await service.del(`/api/people/${id}`);
    });

    it('gives parameters another name in an override', async () => {
      expect(await namesAt('/api/people?limit=2&order=-name&filter[lowerName][startsWith]=bob')).toEqual(
        await namesAt('/api/people?size=2&sort=-name&filter[lowerName][startsWith]=bob'),
      );
      expect(await namesAt('/api/people?limit=2')).toEqual(['Ann', 'ANN']);
      expect((await service.get('/api/people?limit=many')).status).toBe(400);
    });

    it('reads a window that is no page in an own route', async () => {
      const { json } = await service.get('/api/people/window?offset=1&limit=3');
      expect((json as { name: string }[]).map(({ name }) => name)).toEqual(['ANN', 'Bob', 'bobby']);
    });

    it('answers from a cache by an interceptor', async () => {
      const before = await namesAt('/api/cached-people');
      const { json } = await service.post('/api/people', { name: 'Emil' });
      expect(await namesAt('/api/cached-people')).toEqual(before);
      expect(await namesAt('/api/cached-people?size=50')).toEqual([...before, 'Emil']);
      await service.del(`/api/people/${json.data.id}`);
    });

    it('describes generated and overridden operations with @nestjs/swagger', () => {
      const { paths } = SwaggerModule.createDocument(service.app, new DocumentBuilder().build(), {
        operationIdFactory: (controller, method) => `${controller} ${method}`,
      });
      expect(Object.keys(paths['/api/people']!)).toEqual(['get']);
      expect(paths['/api/people']!.get).toMatchObject({
        summary: 'People by name',
        operationId: 'listPeople',
        parameters: expect.arrayContaining([expect.objectContaining({ name: 'limit', in: 'query' })]),
        responses: { 200: { description: 'A page of people' } },
      });
      expect(paths['/api/people/{id}']!.put!.operationId).toBe('replacePeoplePerson');
    });
  });
});

describe('exceptions of the application', () => {
  class SoldOut extends Error {}

  @Entity()
  class Ticket {
    @PrimaryGeneratedColumn()
    id!: number;

    @Column({ length: 20 })
    seat!: string;
  }

  class TicketsController extends CrudController({ entity: Ticket, endpoint: '/api/tickets', enableBatch: true }) {
    override beforeCreate({ seat }: Partial<Ticket>): void {
      if (seat === 'gone') throw new SoldOut();
      if (seat === 'held') throw new ConflictException({ message: 'The seat is held', code: 'HELD' });
    }
  }

  @Catch(SoldOut)
  class SoldOutFilter implements ExceptionFilter {
    constructor(private readonly host: HttpAdapterHost) {}

    catch(_: SoldOut, host: ArgumentsHost): void {
      this.host.httpAdapter.reply(host.switchToHttp().getResponse(), { soldOut: true }, 410);
    }
  }

  @UseFilters(SoldOutFilter)
  class FilteredController extends TicketsController {}

  const translate: NestInterceptor = {
    intercept: (_, next) =>
      next.handle().pipe(
        catchError((error: unknown) => {
          throw error instanceof SoldOut ? new GoneException({ message: 'Sold out', code: 'SOLD_OUT' }) : error;
        }),
      ),
  };

  it.each(PLATFORMS)('[4.3] reach a filter of the subclass, which others do not, on %s', async (platform) => {
    const service = await startCrud(platform, {
      entities: [Ticket],
      resources: [FilteredController],
      isDescribed: false,
    });
    const answer = await service.post('/api/tickets', { seat: 'gone' });
    expect([answer.status, answer.json]).toEqual([410, { soldOut: true }]);
    expect((await service.get('/api/tickets/7')).json).toEqual(failure('Ticket with id 7 not found'));
    await service.close();
  });

  it.each(PLATFORMS)(
    '[4.3] are translated by a global interceptor, and keep their members, on %s',
    async (platform) => {
      const providers = [{ provide: APP_INTERCEPTOR, useValue: translate }];
      const service = await startCrud(platform, {
        entities: [Ticket],
        resources: [TicketsController],
        providers,
        isDescribed: false,
      });
      const gone = await service.post('/api/tickets', { seat: 'gone' });
      expect([gone.status, gone.json]).toEqual([410, { ...failure('Sold out'), code: 'SOLD_OUT' }]);
      const held = await service.post('/api/tickets', { seat: 'held' });
      expect([held.status, held.json]).toEqual([409, { ...failure('The seat is held'), code: 'HELD' }]);
      const items = { items: [{ seat: 'held' }, { seat: '1' }] };
      const batch = await service.post('/api/tickets/batch?atomic=false', items);
      expect(batch.json.data[0]).toEqual({ status: 409, message: 'The seat is held', code: 'HELD' });
      await service.close();
    },
  );
});

describe('exception filters', () => {
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
        expect([answer.status, answer.json]).toEqual([409, failure(naming('Note'), { text: 'is already taken' })]);
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
});
