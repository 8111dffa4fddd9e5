// fast-check for the tests: 25 runs of every property in `npm test`, as many as the test asks for in `npm run test:all`.
// oxlint-disable-next-line no-restricted-imports -- The one place.
import * as fc from 'fast-check';
import { isEverything } from './extent.js';

// oxlint-disable-next-line no-restricted-imports -- As above.
export * from 'fast-check';

const RUNS_BY_DEFAULT = 100;
const MAX_RUNS = isEverything ? Infinity : 25;

const limit = (parameters: fc.Parameters<unknown> = {}): fc.Parameters<unknown> => ({
  ...parameters,
  numRuns: Math.min(parameters.numRuns ?? RUNS_BY_DEFAULT, MAX_RUNS),
});

export const assert = ((property: fc.IRawProperty<unknown>, parameters?: fc.Parameters<unknown>) =>
  fc.assert(property, limit(parameters))) as typeof fc.assert;

export const check = ((property: fc.IRawProperty<unknown>, parameters?: fc.Parameters<unknown>) =>
  fc.check(property, limit(parameters))) as typeof fc.check;
