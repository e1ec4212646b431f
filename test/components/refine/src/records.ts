export interface Named {
  id: number;
  name: string;
}

export interface Article {
  id: number;
  title: string;
  price: number | null;
  featured: boolean | null;
  publishedOn: string | null;
  reviewedAt: string | null;
  categoryId: number;
  tagsIds: number[];
}
