// A stored catalogue of 500 models with four endpoints each (docs/performance.md). The exhaustive test has ten times as many.
import { expect, it } from '@jest/globals';
import { growthOf } from '../../support/catalogue/growth.js';

it('loads 500 stored models, finds each, and lists them', async () => {
  const figures = await growthOf(500);
  console.log(JSON.stringify(figures));
  expect(figures.listed).toBeGreaterThanOrEqual(500);
  expect(figures.memory).toBeLessThan(16);
});
