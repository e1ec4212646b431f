/** Operations on articles: filters, relations, PATCH and batches; and the lists that show what `owner` costs. */
import assert from 'node:assert/strict';
import { COMMENTS_OF_EACH, rowsOf } from './data.mjs';
import { bearer, checkTotal, JSON_BODY, times } from './operations.mjs';

const PATH = '/api/articles';
const DISTINCT = 1_000;
const BATCH = 100;
const FIELDS = ['authorId', 'id', 'ownerId', 'publishedAt', 'status', 'title', 'views'];

/** The first authors have written in every database. */
const AUTHORS = 20;

const article = (index) => ({
  title: `New article no. ${index}`,
  status: 'draft',
  views: index,
  publishedAt: '2026-01-31T09:30:15.000Z',
  ownerId: 1,
  authorId: 1 + (index % AUTHORS),
});

function checkArticle(data, expected, more = []) {
  assert.deepEqual(Object.keys(data).toSorted(), [...FIELDS, ...more].toSorted());
  assert.deepEqual({ ...data, ...expected }, data);
}

export const ARTICLE_OPERATIONS = {
  filtered: {
    title: '3 filters, sort, page of 20 + total',
    status: 200,
    requests(contestant) {
      const { filters, sort, page } = contestant.dialect;
      return times(rowsOf(contestant).authors, (index) => ({
        method: 'GET',
        path: `${PATH}?${filters(1 + index)}&${sort}&${page(1, 20)}`,
      }));
    },
    check(data, list, contestant) {
      checkTotal(list, { page: 1, size: 20, total: 41, totalPages: 3 });
      assert.equal(data.length, 20);
      const { articles, authors } = rowsOf(contestant);
      data.forEach((each, index) =>
        checkArticle(each, { id: articles - 2 * authors * index, authorId: 1, status: 'published' }),
      );
    },
  },
  included: {
    title: '20 records with a to-one and a to-many relation',
    status: 200,
    requests(contestant) {
      const { included, page } = contestant.dialect;
      const pages = rowsOf(contestant).articles / 20;
      return times(pages, (index) => ({ method: 'GET', path: included(page(1 + index, 20)) }));
    },
    check(data) {
      assert.equal(data.length, 20);
      data.forEach((each, index) => {
        checkArticle(each, { id: 1 + index }, ['author', 'comments']);
        assert.deepEqual(each.author, { id: each.authorId, name: `Author no. ${each.authorId}` });
        const comments = each.comments.map(({ text, articleId }) => [text, articleId]).toSorted();
        const expected = times(COMMENTS_OF_EACH, (at) => [`Comment ${1 + at} on article ${each.id}`, each.id]);
        assert.deepEqual(comments, expected);
      });
    },
  },
  patch: {
    title: 'PATCH of two fields',
    status: 200,
    /** A record gets other values whenever its turn comes, so that TypeORM always has something to write. */
    requests: (contestant) =>
      times(10 * DISTINCT, (index) => ({
        method: 'PATCH',
        path: `${PATH}/${1 + (((index % DISTINCT) * 7_919) % rowsOf(contestant).articles)}`,
        headers: JSON_BODY,
        body: JSON.stringify({ title: `Changed ${index}`, views: index }),
      })),
    check: (data) => checkArticle(data, { id: 1, title: 'Changed 0', views: 0 }),
  },
  // Measured last, because the tables grow with the speed of each contestant.
  batch: {
    title: 'batch of 100, 4 connections',
    status: 201,
    connections: 4,
    requests: ({ dialect: { batch } }) =>
      times(20, (index) => ({
        method: 'POST',
        path: batch.path,
        headers: JSON_BODY,
        body: JSON.stringify(batch.body(times(BATCH, (item) => article(index * BATCH + item)))),
      })),
    check(data) {
      assert.equal(data.length, BATCH);
      data.forEach((each, index) => checkArticle(each, article(index)));
    },
  },
};

/** Both lists have the same records: all articles belong to the user of the token. Totals would cost more than the list. */
export const [PLAIN_LIST, OWN_LIST] = [PATH, '/api/own-articles'].map((path) => ({
  title: `${path}: page of 20 without total`,
  status: 200,
  requests: () => [{ method: 'GET', path: `${path}?count=none&size=20`, headers: bearer }],
  check: (data) => assert.deepEqual([data.length, data[19].id], [20, 20]),
}));
