import { randomUUID } from 'node:crypto';

/** The first four requests, to be pasted into a shell one after the other. Each start greets a visitor of its own, so that registering works again. */
export function welcome(address: string): string {
  const json = `-H 'Content-Type: application/json'`;
  const visitor = JSON.stringify({
    email: `visitor-${randomUUID().slice(0, 8)}@shop.example`,
    password: 'correct horse battery',
  });
  const product = JSON.stringify({ name: 'Milk jug', description: 'Stoneware', price: 18.5, stock: 6, categoryId: 1 });
  return `
The shop is up at ${address} (Ctrl-C ends it). Try:

curl ${address}/api/products
curl ${address}/api/auth/register ${json} -d '${visitor}'
TOKEN=$(curl -s ${address}/api/auth/login ${json} -d '${visitor}' | sed 's/.*"token":"\\([^"]*\\)".*/\\1/') && echo "$TOKEN"
curl ${address}/api/products ${json} -H "Authorization: Bearer $TOKEN" -d '${product}'
`;
}
