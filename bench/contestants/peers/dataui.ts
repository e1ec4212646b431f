/** Controllers and services of @dataui/crud, as its documentation shows. */
import { Controller, Injectable, UseGuards } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Crud, type CrudController, type CrudOptions } from '@dataui/crud';
import { TypeOrmCrudService } from '@dataui/crud-typeorm';
import { Type } from 'class-transformer';
import { IsDate, IsInt, IsString, MaxLength } from 'class-validator';
import { Repository } from 'typeorm';
import { ArticleChangesDto } from '../nest/article.dto.js';
import { Article } from '../nest/article.entity.js';
import { AuthGuard } from '../nest/auth.guard.js';
import { ProductDto } from '../nest/product.dto.js';
import { Product } from '../nest/product.entity.js';
import { serve } from '../serve.js';
import { ARTICLES, PRODUCTS, PROTECTED } from '../settings.js';
import { createApplication } from './application.js';

@Injectable()
class ProductsService extends TypeOrmCrudService<Product> {
  constructor(@InjectRepository(Product) products: Repository<Product>) {
    super(products);
  }
}

@Injectable()
class ArticlesService extends TypeOrmCrudService<Article> {
  constructor(@InjectRepository(Article) articles: Repository<Article>) {
    super(articles);
  }
}

/** The rules of the hand-written ArticleDto. In a batch, only rules with `always` or its own groups apply to the items. */
class ArticleDto {
  @IsString({ always: true })
  @MaxLength(120, { always: true })
  title!: string;

  @IsString({ always: true })
  @MaxLength(20, { always: true })
  status!: string;

  @IsInt({ always: true })
  views!: number;

  @Type(() => Date)
  @IsDate({ always: true })
  publishedAt!: Date;

  @IsInt({ always: true })
  ownerId!: number;

  @IsInt({ always: true })
  authorId!: number;
}

/** Its own pipe validates bodies, with the options of the pipe of the other contestants. */
const validation = { transform: true, whitelist: true };
const products: CrudOptions = {
  model: { type: Product },
  dto: { create: ProductDto, update: ProductDto, replace: ProductDto },
  query: { limit: 20, maxLimit: 100, alwaysPaginate: true, sort: [{ field: 'id', order: 'ASC' }] },
  validation,
};

@Crud(products)
@Controller(PRODUCTS)
class ProductsController implements CrudController<Product> {
  constructor(readonly service: ProductsService) {}
}

@Crud(products)
@Controller(PROTECTED)
@UseGuards(AuthGuard)
class ProtectedProductsController implements CrudController<Product> {
  constructor(readonly service: ProductsService) {}
}

@Crud({
  model: { type: Article },
  dto: { create: ArticleDto, update: ArticleChangesDto, replace: ArticleDto },
  query: {
    limit: 20,
    maxLimit: 100,
    alwaysPaginate: true,
    sort: [{ field: 'id', order: 'ASC' }],
    join: { author: {}, comments: {} },
  },
  validation,
})
@Controller(ARTICLES)
class ArticlesController implements CrudController<Article> {
  constructor(readonly service: ArticlesService) {}
}

const app = await createApplication({
  controllers: [ProductsController, ProtectedProductsController, ArticlesController],
  providers: [ProductsService, ArticlesService],
});
await serve(app, false);
