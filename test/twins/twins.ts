import { inspect } from 'node:util';
import {
  Body,
  Controller,
  Delete,
  Get,
  NotFoundException,
  Param,
  ParseIntPipe,
  Patch,
  Post,
  Put,
  type Type,
  ValidationPipe,
} from '@nestjs/common';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { CrudModule, type CrudOptions } from 'declarest';
import type { DeepPartial, Repository } from 'typeorm';
import type { Answer, RequestOptions } from '../harness/client.js';
import type { Platform } from '../harness/platforms.js';
import { type CrudParts, type CrudService, startCrud } from '../crud/service.js';

const SIDES = ['generated', 'handwritten'] as const;
type Side = (typeof SIDES)[number];

export interface TwinParts extends Omit<CrudParts, 'resources'> {
  /** Two classes with the same columns, such as subclasses of one abstract class: `GeneratedNote`, `HandwrittenNote`. */
  twins: readonly [generated: Type, handwritten: Type];
  /** Options of the generated resource, or a subclass of `CrudController` with the endpoint `/generated`. */
  generated?: Partial<CrudOptions<object>> | Type;
  /** The controller of `/handwritten`; `plainController` of its entity if absent. */
  handwritten?: Type;
  /** What the neighbour records; each entry belongs to the side whose request runs. */
  seen?: Seen;
  /** Columns that differ between the sides, such as times. */
  except?: readonly string[];
}

export interface Twins extends CrudService {
  /**
   * Sends one request to `/generated` and then to `/handwritten`, and compares statuses and records.
   *
   * @param path below the endpoint, such as `/1`
   * @returns the generated answer
   */
  both(method: string, path: string, json?: unknown, options?: RequestOptions): Promise<Answer>;
  /** Compares the tables, deleted rows included. Returns the rows of the generated side. */
  rows(): Promise<object[]>;
}

/** Records what a neighbour saw, as text at that moment. The names of the sides are replaced by `twin`. */
export class Seen {
  side: Side | undefined;
  readonly #entries: Record<Side, string[]> = { generated: [], handwritten: [] };

  add(entry: unknown): void {
    const text = typeof entry === 'string' ? entry : inspect(entry, { depth: 8, breakLength: Infinity, sorted: true });
    if (this.side) this.#entries[this.side].push(text.replace(/generated|handwritten/gi, 'twin'));
  }

  /** Compares what was seen of both sides since the last call. Returns the entries of the generated side. */
  take(): string[] {
    const [generated, handwritten] = SIDES.map((side) => this.#entries[side].splice(0));
    expect(generated).toEqual(handwritten);
    return generated!;
  }
}

/** One application with a generated controller, its hand-written twin, and the neighbours that `parts` adds. */
export async function startTwins(platform: Platform, parts: TwinParts): Promise<Twins> {
  const { twins, generated, handwritten = plainController(twins[1]), seen = new Seen(), except = [] } = parts;
  const resource =
    typeof generated === 'function' ? generated : { entity: twins[0], endpoint: '/generated', ...generated };
  const service = await startCrud(platform, {
    entities: [...twins],
    // A hand-written route is not in the generated document.
    isDescribed: false,
    ...parts,
    imports: [
      ...(parts.imports ?? []),
      CrudModule.forFeature(resource as CrudOptions<object>),
      TypeOrmModule.forFeature([twins[1]]),
    ],
    controllers: [handwritten, ...(parts.controllers ?? [])],
  });
  const both: Twins['both'] = async (method, path, json, options) => {
    const answers: Answer[] = [];
    for (const side of SIDES) {
      seen.side = side;
      const body = json === undefined ? {} : { json };
      answers.push(await service.send(method, `/${side}${path}`, { ...body, ...options }));
      seen.side = undefined;
    }
    const [mine, other] = answers as [Answer, Answer];
    const record = mine.status < 400 ? [mine.json?.data, other.json] : [];
    expect([mine.status, ...without(record.slice(0, 1), except)], `${method} ${path}: ${mine.text}`).toEqual([
      other.status,
      ...without(record.slice(1), except),
    ]);
    return mine;
  };
  const rowsOf = async (entity: Type): Promise<object[]> => {
    const { primaryColumns } = service.dataSource.getMetadata(entity);
    const query = service.dataSource.getRepository(entity).createQueryBuilder('row').withDeleted();
    for (const { propertyPath } of primaryColumns) query.addOrderBy(`row.${propertyPath}`);
    const left = except.map((name) => `row_${name}`);
    return without(await query.getRawMany(), left) as object[];
  };
  return {
    ...service,
    both,
    rows: async () => {
      const [mine, other] = [await rowsOf(twins[0]), await rowsOf(twins[1])];
      expect(mine).toEqual(other);
      return mine;
    },
  };
}

/** What an application would write for one table with a generated number as its key. */
export function plainController(entity: Type<object>): Type {
  const body = new ValidationPipe({ expectedType: entity, transform: true });
  const partial = new ValidationPipe({ expectedType: entity, transform: true, skipMissingProperties: true });

  @Controller('handwritten')
  class HandwrittenController {
    constructor(@InjectRepository(entity) readonly records: Repository<{ id: number }>) {}

    @Get()
    findAll(): Promise<object[]> {
      return this.records.find({ order: { id: 'ASC' } });
    }

    @Get(':id')
    async findById(@Param('id', ParseIntPipe) id: number): Promise<{ id: number }> {
      const record = await this.records.findOneBy({ id });
      if (!record) throw new NotFoundException();
      return record;
    }

    @Post()
    create(@Body(body) values: DeepPartial<{ id: number }>): Promise<object> {
      return this.records.save(this.records.create(values));
    }

    @Put(':id')
    async update(@Param('id', ParseIntPipe) id: number, @Body(body) values: object): Promise<object> {
      return this.records.save(this.records.merge(await this.findById(id), values));
    }

    @Patch(':id')
    async patch(@Param('id', ParseIntPipe) id: number, @Body(partial) values: object): Promise<object> {
      return this.records.save(this.records.merge(await this.findById(id), values));
    }

    @Delete(':id')
    async delete(@Param('id', ParseIntPipe) id: number): Promise<void> {
      const record = await this.findById(id);
      if (this.records.metadata.deleteDateColumn) await this.records.softRemove(record);
      else await this.records.remove(record);
    }

    @Post(':id/restore')
    async restore(@Param('id', ParseIntPipe) id: number): Promise<object> {
      const record = await this.records.findOne({ where: { id }, withDeleted: true });
      if (!record) throw new NotFoundException();
      return this.records.recover(record);
    }
  }
  return HandwrittenController;
}

/** Leaves out these members, and compares an empty body as null. */
function without(values: readonly unknown[], names: readonly string[]): unknown[] {
  return JSON.parse(
    JSON.stringify(
      values.map((value) => value ?? null),
      (key, value) => (names.includes(key) ? undefined : value),
    ),
  ) as unknown[];
}
