const input = '../../sample-app/dist/openapi.json';

export default {
  fetch: {
    input,
    output: {
      target: 'generated/orval/shop.ts',
      client: 'fetch',
      mode: 'split',
      mock: { generators: [{ type: 'faker' }] },
    },
  },
  zod: { input, output: { target: 'generated/orval/zod.ts', client: 'zod' } },
};
