/** Names that tell resources of one entity apart: of their controllers, and of their schemas in a document. */
import { Controller, Get } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { ApiOkResponse, ApiProperty, ApiSchema } from '@nestjs/swagger';
import { ThrottlerGuard, ThrottlerModule } from '@nestjs/throttler';
import { CrudController } from 'declarest';
import { Column, Entity, ManyToOne, PrimaryGeneratedColumn } from 'typeorm';
import { ONE_PLATFORM } from '../harness/platforms.js';
import { documentOf } from '../openapi/described.js';
import { startCrud } from './service.js';

@Entity()
class Shelf {
  @ApiProperty() @PrimaryGeneratedColumn() id!: number;
  @ApiProperty({ description: 'by the application' }) @Column({ length: 20 }) label!: string;
}

@Entity()
class Book {
  @ApiProperty() @PrimaryGeneratedColumn() id!: number;
  @ApiProperty({ description: 'by the application' }) @Column({ length: 20 }) title!: string;
  @ApiProperty() @Column({ default: 1 }) cost!: number;
  @ApiProperty() @ManyToOne(() => Shelf) shelf!: Shelf;
}

@Entity()
@ApiSchema({ name: 'PrintedMap', description: 'A map' })
class Chart {
  @ApiProperty() @PrimaryGeneratedColumn() id!: number;
}

const entities = [Shelf, Book, Chart];
const books = { entity: Book, endpoint: '/books', maxListSize: 10 };

describe.each(ONE_PLATFORM)('on %s', (platform) => {
  it('counts requests of two resources of one entity separately', async () => {
    const limit = 2;
    const resources = [
      books,
      { ...books, endpoint: '/staff/books' },
      { ...books, endpoint: '/shelves/:shelfId/books' },
    ];
    const service = await startCrud(platform, {
      entities,
      resources,
      imports: [ThrottlerModule.forRoot([{ ttl: 60_000, limit }])],
      providers: [{ provide: APP_GUARD, useClass: ThrottlerGuard }],
      isDescribed: false,
    });
    try {
      for (const path of ['/books', '/staff/books', '/shelves/1/books']) {
        for (let sent = 0; sent < limit; sent += 1)
          expect([path, (await service.get(path)).status]).toEqual([path, 200]);
        expect((await service.get(path)).status).toBe(429);
      }
    } finally {
      await service.close();
    }
  });

  it('[4.2] the second controller of an entity is named by its endpoint, and subclasses keep their names', () => {
    class Own extends CrudController({ ...books, endpoint: '/own' }) {}
    expect(Own.name).toBe('Own');
    expect(CrudController(books).name).toBe('BookCrudController');
    expect(CrudController({ ...books, endpoint: '/staff/books' }).name).toBe('StaffBooksBookCrudController');
    expect(CrudController(books).name).toBe('BookCrudController');
    expect(CrudController({ entity: Chart, endpoint: '/staff/books' }).name).toBe('ChartCrudController');
  });

  it('the class of an entity has a schema of its own beside that of generated answers', async () => {
    class BooksController extends CrudController({
      ...books,
      includableRelations: ['shelf'],
      fieldPermissions: { cost: { read: 'never' } },
    }) {
      @Get('newest/one')
      @ApiOkResponse({ type: Book })
      newest() {
        return {};
      }
    }
    @Controller('/own')
    class OwnController {
      @Get('shelves')
      @ApiOkResponse({ type: [Shelf] })
      shelves() {
        return [];
      }

      @Get('maps')
      @ApiOkResponse({ type: Chart })
      maps() {
        return {};
      }
    }
    const service = await startCrud(platform, {
      entities,
      resources: [BooksController, { entity: Chart, endpoint: '/charts', maxListSize: 10 }],
      controllers: [OwnController],
    });
    try {
      const { components, paths } = documentOf(service.app);
      const schemas = components?.schemas as Record<string, { properties: Record<string, { description?: string }> }>;
      const own = 'by the application';
      expect(schemas['Book']?.properties).not.toHaveProperty('cost');
      expect(schemas['Book']?.properties).toHaveProperty('shelfId');
      expect(schemas['BookEntity']?.properties).toMatchObject({ title: { description: own }, cost: {} });
      expect(schemas['BookEntity']?.properties['shelf']).toMatchObject({ $ref: '#/components/schemas/ShelfEntity' });
      expect(schemas['ShelfEntity']?.properties['label']?.description).toBe(own);
      expect(schemas['Shelf']?.properties['label']?.description).not.toBe(own);
      expect(schemas['PrintedMap']).toMatchObject({ description: 'A map' });
      const refs = (path: string) => JSON.stringify(paths[path]?.get?.responses['200']).match(/schemas\/\w+/g);
      expect(refs('/books/newest/one')).toEqual(['schemas/BookEntity']);
      expect(refs('/own/shelves')).toEqual(['schemas/ShelfEntity']);
      expect(refs('/books/{id}')).toEqual(['schemas/BookAnswer']);
    } finally {
      await service.close();
    }
  });
});
