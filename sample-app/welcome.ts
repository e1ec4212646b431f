import { randomUUID } from 'node:crypto';

export interface Administrator {
  readonly email: string;
  readonly password: string;
}

/** A command that prints one value of the JSON that it reads. */
const pick = (name: string, value: string): string => `sed 's/.*"${name}":${value}.*/\\1/'`;

/**
 * The text that a start prints last: requests to paste into a shell, with a new account for each start, and the
 * administrator whose password was generated.
 */
export function welcome(address: string, administrator?: Administrator): string {
  const json = `-H 'Content-Type: application/json'`;
  const authorized = `${json} -H "Authorization: Bearer $TOKEN"`;
  const visitor = JSON.stringify({
    email: `visitor-${randomUUID().slice(0, 8)}@shop.example`,
    password: 'correct horse battery',
  });
  const login = administrator
    ? `
Administrator: ${administrator.email}
Password:      ${administrator.password} (generated; it is not shown again)
`
    : '';
  return `
The shop is up at ${address} (press Ctrl-C to stop it). Try:

curl -g '${address}/api/products?filter[category.name]=Kitchen&filter[price][between]=20,32&sort=-price'
TOKEN=$(curl -s ${address}/api/auth/register ${json} -d '${visitor}' | ${pick('token', '"\\([^"]*\\)"')}) && echo "$TOKEN"
REVIEW=$(curl -s ${address}/api/products/1/reviews ${authorized} -d '{"stars":3,"text":"It drips"}' | ${pick('id', '\\([0-9]*\\)')}) && echo "$REVIEW"
curl -X PATCH ${address}/api/products/1/reviews/$REVIEW ${authorized} -d '{"stars":4}'
curl '${address}/api/products/1?include=category,reviews'
${login}`;
}
