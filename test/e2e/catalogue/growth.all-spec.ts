// A stored catalogue of 5,000 models with four endpoints each. Times are printed: a busy machine stretches them.
import { expect, it } from '@jest/globals';
import { growthOf } from '../../support/catalogue/growth.js';

it('loads 5,000 stored models within 40 MiB, finds each within microseconds, and lists them', async () => {
  const figures = await growthOf(5_000);
  console.log(JSON.stringify(figures));
  expect(figures.listed).toBeGreaterThanOrEqual(5_000);
  expect(figures.memory).toBeLessThan(40);
  // Microseconds; ten times the target, as the look-up is measured among other tests.
  expect(figures.lookUp).toBeLessThan(10);
});
