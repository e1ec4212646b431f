/**
 * How swc compiles the sources: decorators as tsc compiles them in the release (legacy, with metadata).
 * Plain JavaScript, because the configuration of Vitest reads it too.
 * @type {import('@swc/core').Options}
 */
export const SWC_OPTIONS = {
  jsc: {
    parser: { syntax: 'typescript', decorators: true },
    transform: { legacyDecorator: true, decoratorMetadata: true, verbatimModuleSyntax: true },
    target: 'es2022',
    keepClassNames: true,
  },
  module: { type: 'es6' },
  sourceMaps: 'inline',
};
