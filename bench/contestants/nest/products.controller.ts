import {
  Body,
  Controller,
  Delete,
  Get,
  NotFoundException,
  Param,
  Post,
  Put,
  Query,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type FindOptionsWhere, Like, Repository } from 'typeorm';
import { PRODUCTS, PROTECTED } from '../settings.js';
import { AuthGuard } from './auth.guard.js';
import { type Answer, EnvelopeInterceptor } from './envelope.interceptor.js';
import { PageDto, ProductDto, SearchDto } from './product.dto.js';
import { Product } from './product.entity.js';
import { assertId } from './record-id.js';

@Controller(PRODUCTS)
@UseInterceptors(EnvelopeInterceptor)
export class ProductsController {
  constructor(@InjectRepository(Product) private readonly products: Repository<Product>) {}

  @Get()
  findAll(@Query() query: PageDto): Promise<Answer> {
    return this.page('Product list', query);
  }

  @Get('search')
  search(@Query() query: SearchDto): Promise<Answer> {
    return this.page('Product search', query, { name: Like(`%${query.name}%`) });
  }

  @Get(':id')
  async findById(@Param('id') id: number): Promise<Answer> {
    return { message: 'Product found', data: await this.product(id) };
  }

  @Post()
  async create(@Body() dto: ProductDto): Promise<Answer> {
    return { message: 'Product created', data: await this.products.save(this.products.create(dto)) };
  }

  @Put(':id')
  async update(@Param('id') id: number, @Body() dto: ProductDto): Promise<Answer> {
    const product = await this.product(id);
    return { message: 'Product updated', data: await this.products.save(this.products.merge(product, dto)) };
  }

  @Delete(':id')
  async remove(@Param('id') id: number): Promise<Answer> {
    assertId(id);
    const { affected } = await this.products.delete(id);
    if (!affected) throw new NotFoundException(`Product with id ${id} not found`);
    return { message: 'Product deleted', data: null };
  }

  private async product(id: number): Promise<Product> {
    assertId(id);
    const product = await this.products.findOneBy({ id });
    if (!product) throw new NotFoundException(`Product with id ${id} not found`);
    return product;
  }

  private async page(message: string, { page, size }: PageDto, where?: FindOptionsWhere<Product>): Promise<Answer> {
    const [data, total] = await this.products.findAndCount({
      ...(where && { where }),
      order: { id: 'ASC' },
      skip: (page - 1) * size,
      take: size,
    });
    return { message, data, metadata: { pagination: { page, size, total, totalPages: Math.ceil(total / size) } } };
  }
}

@Controller(PROTECTED)
@UseGuards(AuthGuard)
export class ProtectedProductsController extends ProductsController {}
