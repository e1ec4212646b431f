export const STATUSES = [
  { id: 'draft', name: 'Draft' },
  { id: 'review', name: 'Review' },
  { id: 'published', name: 'Published' },
];

export const KEYWORDS = ['old', 'new', 'blue'].map((id) => ({ id, name: id }));
