/** The tables of databases on servers, which the benchmark fills. */
import 'reflect-metadata';
import { Article, Author, Comment } from './article.entity.js';
import { Product } from './product.entity.js';

export const entities = [Product, Author, Article, Comment];
