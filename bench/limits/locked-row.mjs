/** Forty writers of a row that another client holds locked, and nine writers of other rows. */
import { Client } from 'pg';
import { openSessions } from './client.mjs';

const WRITERS = 40;
const OTHER_WRITERS = 9;

export async function measureLockedRow({ send, database }) {
  const [session] = await openSessions(send, 1, 1);
  const ids = [];
  for (let number = 0; number <= OTHER_WRITERS; number += 1) {
    const { text } = await send('POST', '/api/orders', {
      ...session,
      json: { product: 'Lamp', amount: 1 },
      status: 201,
    });
    ids.push(JSON.parse(text).data.id);
  }
  const [locked, ...others] = ids;
  const client = new Client({ connectionString: database });
  await client.connect();
  await client.query('BEGIN');
  await client.query('SELECT * FROM orders WHERE id = $1 FOR UPDATE', [locked]);
  const patch = async (id) =>
    (await send('PATCH', `/api/orders/${id}`, { ...session, json: { amount: 2 }, status: [200, 503] })).status;
  const answers = await Promise.all([
    Promise.all(Array.from({ length: WRITERS }, () => patch(locked))),
    Promise.all(others.map(patch)),
  ]);
  await client.end();
  const [ofLocked, ofOthers] = answers.map((statuses) =>
    [200, 503].map((status) => statuses.filter((each) => each === status).length),
  );
  return [
    { title: `${WRITERS} writers 200/503`, value: ofLocked },
    { title: `${OTHER_WRITERS} others 200/503`, value: ofOthers },
  ];
}
