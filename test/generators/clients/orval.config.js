const input = 'generated/openapi.json';

export default {
  fetch: { input, output: { target: 'generated/orval/service.ts', client: 'fetch' } },
  zod: { input, output: { target: 'generated/orval/zod.ts', client: 'zod' } },
};
