/** Controllers of Kavo, as its documentation shows. */
import { Controller, UseGuards } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Kavo, KavoModule } from '@kavo/nest';
import { createInfrastructure } from '@kavo/typeorm';
import { Column, DataSource, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { ArticleChangesDto, ArticleDto } from '../nest/article.dto.js';
import { Article, Author, Comment } from '../nest/article.entity.js';
import { AuthGuard } from '../nest/auth.guard.js';
import { ProductDto } from '../nest/product.dto.js';
import { Product } from '../nest/product.entity.js';
import { serve } from '../serve.js';
import { ARTICLES, ARTICLES_WITH_RELATIONS, PRODUCTS, PROTECTED } from '../settings.js';
import { createApplication } from './application.js';

/** Articles without relations: Kavo neither sends nor filters a column that belongs to a relation. */
@Entity('articles')
class PlainArticle {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ length: 120 })
  title!: string;

  @Column({ length: 20 })
  status!: string;

  @Column('integer')
  views!: number;

  @Column()
  publishedAt!: Date;

  @Column('integer')
  ownerId!: number;

  @Column('integer')
  authorId!: number;
}

/** The global pipe validates the classes of the input. */
const products = { schema: { input: { create: ProductDto, update: ProductDto } } } as const;

@Kavo(Product, products)
@Controller(PRODUCTS)
class ProductsController {}

@Kavo(Product, products)
@Controller(PROTECTED)
@UseGuards(AuthGuard)
class ProtectedProductsController {}

@Kavo(PlainArticle, {
  schema: { input: { create: ArticleDto, update: ArticleDto, patch: ArticleChangesDto } },
  filter: { fields: ['authorId', 'status', 'views'] },
  sort: { fields: ['id', 'publishedAt'] },
})
@Controller(ARTICLES)
class ArticlesController {}

@Kavo(Article, { include: { fields: ['author', 'comments'] } })
@Controller(ARTICLES_WITH_RELATIONS)
class ArticlesWithRelationsController {}

/** Only entities with a controller can be included. */
@Kavo(Author)
@Controller('/api/authors')
class AuthorsController {}

@Kavo(Comment)
@Controller('/api/comments')
class CommentsController {}

const app = await createApplication({
  imports: [
    TypeOrmModule.forFeature([PlainArticle]),
    KavoModule.forRootAsync({
      inject: [DataSource],
      useFactory: (dataSource: DataSource) => ({ infrastructure: createInfrastructure(dataSource) }),
    }),
  ],
  controllers: [
    ProductsController,
    ProtectedProductsController,
    ArticlesController,
    ArticlesWithRelationsController,
    AuthorsController,
    CommentsController,
  ],
});
await serve(app);
