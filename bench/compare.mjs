/** Nobody is timed for another answer: before each operation everybody's status and body are held against the first one's. */
import { isDeepStrictEqual } from 'node:util';

export async function compareAnswers(servers, operation) {
  const answers = [];
  for (const server of servers) answers.push(await answerOf(server, operation));
  const expected = answers.find(({ contestant }) => !contestant.dataOf);
  for (const { contestant, status, body } of answers) {
    const difference = (got, wanted) =>
      new Error(`${operation.title}: ${contestant.name} answered\n${got}\nand should have answered\n${wanted}`);
    if (status !== operation.status) throw difference(`${status}: ${JSON.stringify(body)}`, operation.status);
    // A peer with an envelope of its own is held to the records, where there are any.
    const [got, wanted] = contestant.dataOf
      ? [{ data: contestant.dataOf(body) }, expected && { data: expected.body.data }]
      : [body, expected.body];
    if (contestant.dataOf && (operation.status >= 400 || !wanted?.data)) continue;
    for (const answer of [got, wanted]) for (const field of operation.generated ?? []) delete answer.data[field];
    if (!isDeepStrictEqual(got, wanted)) throw difference(JSON.stringify(got), JSON.stringify(wanted));
  }
}

async function answerOf({ origin, contestant }, operation) {
  const [{ method, path, headers, body }] = operation.requests(contestant.routes, 1);
  const response = await fetch(origin + path, { method, headers, body: body ?? null });
  const text = await response.text();
  const answer = text ? JSON.parse(text) : {};
  delete answer.timestamp;
  return { contestant, status: response.status, body: answer };
}
