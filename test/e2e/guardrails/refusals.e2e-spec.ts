// Refusals of content filters are no way to try patterns out.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createTestApp } from '../../support/app/app.js';
import type { TestApp } from '../../support/app/app.js';
import { createGovernedKey, postAs } from '../../support/guardrails/governed.js';

const LIMIT = 20;

let app: TestApp;
beforeAll(async () => {
  app = await createTestApp({ environment: { RATE_LIMIT_INFERENCE_PER_MINUTE: String(LIMIT) } });
});
afterAll(() => app?.close());

it('blocked calls count toward the rate limit of their key, whatever they try', async () => {
  const key = await createGovernedKey(app, {
    content_filters: [{ pattern: 'sesame-[0-9]+', action: 'block' }],
  });
  app.clock.advance(60_000);
  const statuses: number[] = [];
  for (let guess = 0; guess <= LIMIT; guess++)
    statuses.push(
      (await postAs(app, key, 'embeddings', { model: 'local/hashing', input: `sesame-${guess}` })).status,
    );
  expect(statuses).toEqual([...Array.from({ length: LIMIT }, () => 403), 429]);
});
