/** @dataui/crud, declared as its documentation does. */
import 'reflect-metadata';
import { Controller, Injectable, Module, UseGuards, ValidationPipe } from '@nestjs/common';
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
import { ORIGIN, PRODUCTS, PROTECTED, ready, SECRET } from './settings.js';

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
app.useGlobalPipes(new ValidationPipe({ transform: true, whitelist: true }));
app.enableCors({ origin: ORIGIN, methods: ['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH'], maxAge: 600 });
await app.listen(0, '127.0.0.1');
ready((app.getHttpServer().address() as { port: number }).port);
