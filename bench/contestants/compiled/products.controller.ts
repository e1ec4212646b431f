import { BadRequestException, Body, Controller, Get, NotFoundException, Param, Post, Query } from '@nestjs/common';
import { PRODUCTS, PROTECTED } from '../settings.js';
import { ProductsStore } from './products.store.js';

type Fields = Record<string, unknown>;
type QueryParameters = Record<string, string | undefined>;

@Controller(PRODUCTS)
export class ProductsController {
  constructor(private readonly products: ProductsStore) {}

  @Get()
  async findAll(@Query() query: QueryParameters): Promise<object> {
    const [page, size] = pageOf(query);
    const [products, total] = await this.products.page(size, (page - 1) * size);
    return pageEnvelope('Product list', products, page, size, total);
  }

  @Get(':id')
  async findById(@Param('id') id: string): Promise<object> {
    return envelope('Product found', found(id, await this.products.find(readId(id))));
  }

  @Post()
  async create(@Body() body: Fields): Promise<object> {
    return envelope('Product created', await this.products.create(valuesOf(body)));
  }
}

@Controller(PROTECTED)
export class ProtectedProductsController extends ProductsController {}

function readId(text: string): number {
  const id = Number(text);
  if (!Number.isSafeInteger(id) || id < 1) throw new BadRequestException('Product id is not valid');
  return id;
}

function found<T>(id: string, product: T | undefined): T {
  if (!product) throw new NotFoundException(`Product with id ${id} not found`);
  return product;
}

function valuesOf({ name, description, price, stock, active }: Fields): unknown[] {
  const isValid =
    typeof name === 'string' &&
    name.length <= 120 &&
    typeof description === 'string' &&
    typeof price === 'number' &&
    Number.isInteger(stock) &&
    typeof active === 'boolean';
  if (!isValid) throw new BadRequestException('Product is not valid');
  return [name, description, price, stock, active ? 1 : 0];
}

function pageOf({ page = '1', size = '20' }: QueryParameters): [page: number, size: number] {
  return [Number(page), Math.min(Number(size), 100)];
}

function envelope(message: string, data: unknown): object {
  return { success: true, message, data, timestamp: localTimestamp() };
}

function pageEnvelope(message: string, data: unknown[], page: number, size: number, total: number): object {
  const pagination = { page, size, total, totalPages: Math.ceil(total / size) };
  return { ...envelope(message, data), metadata: { pagination } };
}

function localTimestamp(): string {
  const now = new Date();
  return new Date(now.getTime() - now.getTimezoneOffset() * 60_000).toISOString().slice(0, -1);
}
