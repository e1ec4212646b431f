/** How the requests and the responses of each kind of contestant are written; the records in them are the same. */
const ARTICLES = '/api/articles';
const ARTICLES_WITH_RELATIONS = '/api/articles-with-relations';

/** declarest, the hand-written controller and the prototype send one envelope, and differ only in their filters. */
const envelope = {
  hasEnvelope: true,
  page: (page, size) => `page=${page}&size=${size}`,
  sort: 'sort=-publishedAt',
  included: (page) => `${ARTICLES}?include=author,comments&${page}`,
  batch: { path: `${ARTICLES}/batch`, body: (items) => ({ items }) },
  read: ({ data, metadata }) => ({ data, total: metadata?.pagination?.total, pagination: metadata?.pagination }),
};

export const DIALECTS = {
  'hand-written': {
    ...envelope,
    filters: (author) => `authorId=${author}&status=published&minViews=20`,
  },
  prototype: { ...envelope, operations: ['findById', 'protected', 'page', 'create'] },
  declarest: {
    ...envelope,
    filters: (author) => `filter[authorId]=${author}&filter[status]=published&filter[views][gte]=20`,
  },
  kavo: {
    operations: ['findById', 'protected', 'page', 'create', 'filtered', 'included', 'patch'],
    page: (page, size) => `limit=${size}&offset=${(page - 1) * size}`,
    filters: (author) => `filter[authorId][eq]=${author}&filter[status][eq]=published&filter[views][gte]=20`,
    sort: 'sort=-publishedAt',
    included: (page) => `${ARTICLES_WITH_RELATIONS}?include=author,comments&${page}`,
    read: ({ items, total, ...record }) => ({ data: items?.map(withForeignKeys) ?? record, total }),
  },
  'nestjs-paginate': {
    operations: ['page', 'filtered', 'included'],
    page: (page, size) => `page=${page}&limit=${size}`,
    filters: (author) => `filter.authorId=$eq:${author}&filter.status=$eq:published&filter.views=$gte:20`,
    sort: 'sortBy=publishedAt:DESC',
    included: (page) => `${ARTICLES_WITH_RELATIONS}?${page}`,
    read: ({ data, meta }) => ({ data, total: meta.totalItems }),
  },
  dataui: {
    page: (page, size) => `page=${page}&limit=${size}`,
    filters: (author) => `filter=authorId||$eq||${author}&filter=status||$eq||published&filter=views||$gte||20`,
    sort: 'sort=publishedAt,DESC',
    included: (page) => `${ARTICLES}?join=author&join=comments&${page}`,
    batch: { path: `${ARTICLES}/bulk`, body: (bulk) => ({ bulk }) },
    read: (body) => (Array.isArray(body.data) ? { data: body.data, total: body.total } : { data: body }),
  },
};

/** Kavo does not send columns that belong to a relation; the records of the relation have the same values. */
function withForeignKeys({ author, comments, ...record }) {
  if (!author) return record;
  return {
    ...record,
    authorId: author.id,
    author,
    comments: comments.map((comment) => ({ ...comment, articleId: record.id })),
  };
}
