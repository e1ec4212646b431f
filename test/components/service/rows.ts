/** The rows that each component starts with. */
import type { DataSource } from 'typeorm';

import { Article, Category, Comment, Entry, Tag } from './entities.js';

const STATUSES = ['draft', 'review', 'published'] as const;
const CATEGORIES = ['Art', 'Books', 'Cooking', 'Design'].map((name, index) => ({ id: index + 1, name }));
const TAGS = ['blue', 'green', 'red', 'white', 'yellow'].map((name, index) => ({ id: index + 1, name }));
const ENTRIES = numbers(60).map((number) => ({ name: `Entry ${number}` }));

/** More than the server answers in one page. */
export const ARTICLES = 130;

export async function fill(database: DataSource): Promise<void> {
  await database.synchronize(true);
  await database.transaction(async (manager) => {
    await manager.insert(Category, CATEGORIES);
    await manager.insert(Tag, TAGS);
    await manager.insert(Article, numbers(ARTICLES).map(article));
    const links = numbers(ARTICLES).flatMap((articleId) =>
      numbers(articleId % 3).map((tagId) => ({ articleId, tagId })),
    );
    await manager.createQueryBuilder().insert().into('article_tags_tag').values(links).execute();
    await manager.insert(
      Comment,
      numbers(3).map((number) => ({ text: `Comment ${number}`, article: { id: 1 } })),
    );
    await manager.insert(Entry, ENTRIES);
  });
}

const article = (number: number) => ({
  title: `Article ${String(number).padStart(3, '0')}`,
  body: `<p>Text ${number}</p>`,
  views: number * 10,
  price: number + 0.25,
  featured: [true, false, null][number % 3] ?? null,
  status: STATUSES[number % 3] ?? 'draft',
  publishedOn: new Date(Date.UTC(2026, 0, number)).toISOString().slice(0, 10),
  reviewedAt: new Date(Date.UTC(2026, 0, number, 9, 30)),
  readingTime: '00:10',
  links: [{ label: 'Home', url: 'https://a.example' }],
  keywords: ['old'],
  category: { id: (number % CATEGORIES.length) + 1 },
});

function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index + 1);
}
