import { loadSwagger } from '../../../lib/documents/describe-controller.js';

it('an older @nestjs/swagger is a warning that says what to do', async () => {
  const warnings: string[] = [];
  expect(await loadSwagger((sentence) => warnings.push(sentence), '11.2.3')).toBeUndefined();
  expect(warnings).toEqual([
    'The OpenAPI document has the routes of declarest only: it needs @nestjs/swagger 12, got 11.2.3. Run npm install @nestjs/swagger@12.',
  ]);
});
