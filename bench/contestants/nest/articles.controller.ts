import { Body, Controller, Get, NotFoundException, Param, Patch, Post, Query, UseInterceptors } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type FindOptionsWhere, MoreThanOrEqual, Repository } from 'typeorm';
import { ARTICLES } from '../settings.js';
import { ArticleChangesDto, ArticleListDto, ArticlesDto } from './article.dto.js';
import { Article } from './article.entity.js';
import { type Answer, EnvelopeInterceptor } from './envelope.interceptor.js';
import { assertId } from './record-id.js';

@Controller(ARTICLES)
@UseInterceptors(EnvelopeInterceptor)
export class ArticlesController {
  constructor(@InjectRepository(Article) private readonly articles: Repository<Article>) {}

  @Get()
  async findAll(@Query() { authorId, status, minViews, sort, include, page, size }: ArticleListDto): Promise<Answer> {
    const where: FindOptionsWhere<Article> = {
      ...(authorId !== undefined && { authorId }),
      ...(status !== undefined && { status }),
      ...(minViews !== undefined && { views: MoreThanOrEqual(minViews) }),
    };
    const [data, total] = await this.articles.findAndCount({
      where,
      relations: include === undefined ? {} : { author: true, comments: true },
      order: sort === 'id' ? { id: 'ASC' } : { publishedAt: 'DESC', id: 'ASC' },
      skip: (page - 1) * size,
      take: size,
    });
    const pagination = { page, size, total, totalPages: Math.ceil(total / size) };
    return { message: 'Article list', data, metadata: { pagination } };
  }

  @Patch(':id')
  async patch(@Param('id') id: number, @Body() changes: ArticleChangesDto): Promise<Answer> {
    assertId(id);
    const article = await this.articles.findOneBy({ id });
    if (!article) throw new NotFoundException(`Article with id ${id} not found`);
    return { message: 'Article updated', data: await this.articles.save(this.articles.merge(article, changes)) };
  }

  @Post('batch')
  async createMany(@Body() { items }: ArticlesDto): Promise<Answer> {
    return { message: 'Articles created', data: await this.articles.save(this.articles.create(items)) };
  }
}
