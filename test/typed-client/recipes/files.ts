import { createClient } from 'declarest-client';
import { shop } from './shop.js';

/** The whole list as a file, for a link to download it. */
export async function exportProducts(): Promise<Blob> {
  const response = await shop.stream('GET', 'products/export', {
    query: { format: 'csv', fields: ['name', 'price'], sort: ['name'] },
  });
  return response.blob();
}

/** Each record as it arrives, so that a list of any length needs no memory. */
export async function valueOfStock(): Promise<number> {
  let value = 0;
  const products = shop.lines('GET', 'products/export', { query: { format: 'ndjson', fields: ['price', 'stock'] } });
  for await (const { price, stock } of products) value += price * stock;
  return value;
}

/** Has no types: the document of this server does not describe the pictures. */
export const client = createClient(shop.url);

/** Creates the record first, so that its rules decide; then uploads the file beside it. */
export async function createPicture(title: string, file: Blob): Promise<number> {
  const { data } = await client.request<{ data: { id: number } }>('POST', 'pictures', { json: { title } });
  const headers = { 'Content-Type': file.type };
  await client.request('PUT', 'pictures/:id/file', { params: { id: data.id }, headers, body: file });
  return data.id;
}
