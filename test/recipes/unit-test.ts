/** Tests an override with a database in memory. */
import { Post } from '@nestjs/common';
import { CrudController, type JsonObject, runAs } from 'declarest';
import { createCrudTestingModule } from 'declarest/testing';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

@Entity()
export class Article {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ length: 80 }) title!: string;
  @Column('integer') authorId!: number;
}

const options = { entity: Article, endpoint: '/api/articles', owner: 'authorId' } as const;

export class ArticlesController extends CrudController(options) {
  @Post()
  override create(body: JsonObject) {
    return super.create({ ...body, title: String(body['title']).trim() });
  }
}

export async function createdArticle(): Promise<unknown> {
  const module = await createCrudTestingModule([ArticlesController], [Article]);
  const articles = module.get(ArticlesController);
  const { data } = await runAs({ id: 7 }, () => articles.create({ title: '  Lamps ' }));
  await module.close();
  return data;
}
