import { smallestRequests } from '../../../../lib/testing/isolation/smallest-requests.js';
import type { IsolationRequest } from '../../../../lib/testing/isolation/random-requests.js';

const request = (path: string, parts: Partial<IsolationRequest> = {}): IsolationRequest => ({
  operation: `GET ${path}`,
  method: 'GET',
  path,
  query: [],
  headers: {},
  ...parts,
});

const NOISE = Array.from({ length: 20 }, (_, place) => request(`/noise/${place}`));
const WRITE = request('/write', { json: { items: [{ a: 1, b: 2 }, { a: 3 }], c: null } });
const LAST = request('/last', {
  query: [
    ['size', '5'],
    ['sort', 'name'],
  ],
  headers: { 'if-match': '*', 'x-test': '1' },
});

describe('smallestRequests', () => {
  it('leaves out requests, parameters, headers and parts of bodies without which the answers still differ', async () => {
    const differs = async (requests: readonly IsolationRequest[]) => {
      const written = requests.find(({ path }) => path === '/write')?.json as typeof WRITE.json & { items?: object[] };
      const { path, query, headers } = requests.at(-1)!;
      const isLast = path === '/last' && query.some(([name]) => name === 'sort') && 'x-test' in headers;
      return isLast && written?.items?.some((item) => 'b' in item) ? { requests } : undefined;
    };
    const all = [...NOISE.slice(0, 9), WRITE, ...NOISE.slice(9), LAST];
    expect(await smallestRequests(all, differs)).toEqual({
      requests: [
        { ...WRITE, json: { items: [{ b: 2 }] } },
        { ...LAST, query: [['sort', 'name']], headers: { 'x-test': '1' } },
      ],
    });
  });

  it('sends nothing before a request that suffices', async () => {
    const sent: number[] = [];
    const differs = async (requests: readonly IsolationRequest[]) => {
      sent.push(requests.length);
      return { requests };
    };
    expect(await smallestRequests([...NOISE, WRITE], differs)).toEqual({ requests: [{ ...WRITE, json: {} }] });
    expect(Math.max(...sent)).toBe(1);
  });

  it('finds nothing where the answers do not differ again', async () => {
    expect(await smallestRequests([...NOISE, LAST], async () => undefined)).toBeUndefined();
  });
});
