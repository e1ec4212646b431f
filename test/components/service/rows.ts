/** The rows that each component starts with. */
import type { DataSource } from 'typeorm';

import { Article, Category, Comment, Entry, Tag } from './entities.js';

const STATUSES = ['draft', 'review', 'published'] as const;
const CATEGORIES = ['Art', 'Books', 'Cooking', 'Design'].map((name) => ({ name }));
const TAGS = ['blue', 'green', 'red', 'white', 'yellow'].map((name) => ({ name }));
const ENTRIES = numbers(60).map((number) => ({ name: `Entry ${number}` }));

/** More than the server answers in one page. */
export const ARTICLES = 130;

export async function fill(database: DataSource): Promise<void> {
  await database.synchronize(true);
  await database.transaction(async (manager) => {
    const [categories, tags] = [await manager.save(Category, CATEGORIES), await manager.save(Tag, TAGS)];
    const articles = numbers(ARTICLES).map((number) => ({
      title: `Article ${String(number).padStart(3, '0')}`,
      body: `<p>Text ${number}</p>`,
      views: number * 10,
      price: number + 0.25,
      featured: [true, false, null][number % 3] ?? null,
      status: STATUSES[number % 3] ?? 'draft',
      publishedOn: new Date(Date.UTC(2026, 0, number)).toISOString().slice(0, 10),
      reviewedAt: new Date(Date.UTC(2026, 0, number, 9, 30)),
      readingTime: '00:10:00',
      links: [{ label: 'Home', url: 'https://a.example' }],
      keywords: ['old'],
      category: categories[number % categories.length] ?? null,
      tags: tags.slice(0, number % 3),
    }));
    const [first] = await manager.save(Article, articles, { chunk: 50 });
    const comments = numbers(3).map((number) => ({ text: `Comment ${number}`, ...(first && { article: first }) }));
    await manager.insert(Comment, comments);
    await manager.insert(Entry, ENTRIES);
  });
}

function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index + 1);
}
