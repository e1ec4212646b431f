/** What @dataui/crud has as options, and an application of declarest adds by means of Nest and TypeORM. */
import {
  type CallHandler,
  type ExecutionContext,
  Get,
  Injectable,
  type NestInterceptor,
  Post,
  Query,
  UseInterceptors,
} from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import {
  ApiExcludeEndpoint,
  ApiOperation,
  ApiQuery,
  ApiResponse,
  DocumentBuilder,
  SwaggerModule,
} from '@nestjs/swagger';
import { CrudController, type JsonObject, type ListQuery } from 'declarest';
import { type Observable, of, tap } from 'rxjs';
import { Column, Entity, PrimaryGeneratedColumn, type Repository } from 'typeorm';
import { DATABASES } from '../harness/databases.js';
import { PLATFORMS } from '../harness/platforms.js';
import { type CrudService, startCrud } from './service.js';

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
      expect(paths['/api/people/{id}']!.put!.operationId).toBe('PeopleController update');
    });
  });
});
