import { randomUUID } from 'node:crypto';

export interface Administrator {
  readonly email: string;
  readonly password: string;
}

/**
 * The text that a start prints last: four requests to paste into a shell, with a new account for each start, and the
 * administrator whose password was generated.
 */
export function welcome(address: string, administrator?: Administrator): string {
  const json = `-H 'Content-Type: application/json'`;
  const visitor = JSON.stringify({
    email: `visitor-${randomUUID().slice(0, 8)}@shop.example`,
    password: 'correct horse battery',
  });
  const product = JSON.stringify({ name: 'Milk jug', description: 'Stoneware', price: 18.5, stock: 6, categoryId: 1 });
  const login = administrator
    ? `
Administrator: ${administrator.email}
Password:      ${administrator.password} (generated; it is not shown again)
`
    : '';
  return `
The shop is up at ${address} (press Ctrl-C to stop it). Try:

curl ${address}/api/products
curl ${address}/api/auth/register ${json} -d '${visitor}'
TOKEN=$(curl -s ${address}/api/auth/login ${json} -d '${visitor}' | sed 's/.*"token":"\\([^"]*\\)".*/\\1/') && echo "$TOKEN"
curl ${address}/api/products ${json} -H "Authorization: Bearer $TOKEN" -d '${product}'
${login}`;
}
