/** @dataui/crud, as in its documentation, on Nest's Express adapter. */
import 'reflect-metadata';
import { Controller, Injectable, Module, UseGuards } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { JwtModule } from '@nestjs/jwt';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { Crud, type CrudController } from '@dataui/crud';
import { TypeOrmCrudService } from '@dataui/crud-typeorm';
import { Repository } from 'typeorm';
import { AuthGuard } from './nest/auth.guard.js';
import { databaseOptions } from './nest/database.js';
import { ProductDto } from './nest/product.dto.js';
import { Product } from './nest/product.entity.js';
import { serve, validationPipe } from './serve.js';
import { DEPLOYED, PRODUCTS, PROTECTED, SECRET } from './settings.js';

@Injectable()
class ProductsService extends TypeOrmCrudService<Product> {
  constructor(@InjectRepository(Product) repository: Repository<Product>) {
    super(repository as never);
  }
}

const crud = Crud({
  model: { type: Product },
  dto: { create: ProductDto, replace: ProductDto },
  query: { alwaysPaginate: true, limit: 20, maxLimit: 100, sort: [{ field: 'id', order: 'ASC' }] },
});

@crud
@Controller(PRODUCTS)
class ProductsController implements CrudController<Product> {
  constructor(public service: ProductsService) {}
}

@crud
@Controller(PROTECTED)
@UseGuards(AuthGuard)
class ProtectedProductsController implements CrudController<Product> {
  constructor(public service: ProductsService) {}
}

@Module({
  imports: [
    TypeOrmModule.forRoot(databaseOptions),
    TypeOrmModule.forFeature([Product]),
    JwtModule.register({ global: true, secret: SECRET }),
  ],
  controllers: [ProductsController, ProtectedProductsController],
  providers: [ProductsService],
})
class AppModule {}

const app = await NestFactory.create(AppModule, { logger: ['error'] });
if (!DEPLOYED) app.useGlobalPipes(validationPipe());
await serve(app);
