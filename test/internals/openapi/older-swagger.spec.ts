import { isReadable } from '../../../lib/documents/describe-controller.js';

it('an older @nestjs/swagger is a warning that says what to do', () => {
  const warnings: string[] = [];
  expect(isReadable((sentence) => warnings.push(sentence), '11.2.3')).toBe(false);
  expect(warnings).toEqual([
    'The OpenAPI document has the routes of declarest only: it needs @nestjs/swagger 12, got 11.2.3. Run npm install @nestjs/swagger@12.',
  ]);
});
