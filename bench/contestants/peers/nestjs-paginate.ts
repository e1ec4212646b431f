/** Lists of nestjs-paginate, as its documentation shows. It has nothing but lists. */
import { Controller, Get } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import {
  FilterOperator,
  Paginate,
  paginate,
  type Paginated,
  type PaginateConfig,
  type PaginateQuery,
} from 'nestjs-paginate';
import { Repository } from 'typeorm';
import { Article } from '../nest/article.entity.js';
import { Product } from '../nest/product.entity.js';
import { serve } from '../serve.js';
import { ARTICLES, ARTICLES_WITH_RELATIONS, PRODUCTS } from '../settings.js';
import { createApplication } from './application.js';

const productList: PaginateConfig<Product> = { sortableColumns: ['id'], defaultSortBy: [['id', 'ASC']] };
const articleList: PaginateConfig<Article> = {
  sortableColumns: ['id', 'publishedAt'],
  defaultSortBy: [['id', 'ASC']],
  filterableColumns: { authorId: [FilterOperator.EQ], status: [FilterOperator.EQ], views: [FilterOperator.GTE] },
};

@Controller()
class ListsController {
  constructor(
    @InjectRepository(Product) private readonly products: Repository<Product>,
    @InjectRepository(Article) private readonly articles: Repository<Article>,
  ) {}

  @Get(PRODUCTS)
  findProducts(@Paginate() query: PaginateQuery): Promise<Paginated<Product>> {
    return paginate(query, this.products, productList);
  }

  @Get(ARTICLES)
  findArticles(@Paginate() query: PaginateQuery): Promise<Paginated<Article>> {
    return paginate(query, this.articles, articleList);
  }

  @Get(ARTICLES_WITH_RELATIONS)
  findArticlesWithRelations(@Paginate() query: PaginateQuery): Promise<Paginated<Article>> {
    return paginate(query, this.articles, { ...articleList, relations: ['author', 'comments'] });
  }
}

await serve(await createApplication({ controllers: [ListsController] }));
