// Load shedding by the delay of the event loop, in the built service: a process that has more to compute than it can.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createTestApp } from '../../support/app/app.js';
import type { TestApp } from '../../support/app/app.js';
import { startServiceProcess } from '../../support/app/service-process.js';
import type { ServiceProcess } from '../../support/app/service-process.js';
import { EMBEDDINGS, LOCAL } from '../../support/requests/create-embedding.js';
import { eventually } from '../../support/eventually.js';

const CEILING = 1_024;
const CLIENTS = 40;
// Milliseconds. A machine with other work may be late itself.
const WARM_UP = 10_000;
const RECOVERY = 10_000;

let app: TestApp;
let service: ServiceProcess;
beforeAll(async () => {
  app = await createTestApp();
  service = await startServiceProcess({
    DATABASE_URL: app.databaseUrl,
    MAX_EVENT_LOOP_DELAY_MS: '10',
    RATE_LIMIT_INFERENCE_PER_MINUTE: '0',
    EMBEDDING_CACHE_BYTES: '0',
  });
});
afterAll(async () => {
  await service.kill();
  await app.close();
});

async function call(inputs: number): Promise<number> {
  const response = await fetch(new URL(EMBEDDINGS, service.baseUrl), {
    method: 'POST',
    headers: { authorization: `Bearer ${app.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: LOCAL, dimensions: 1_024, input: Array.from({ length: inputs }, String) }),
  });
  await response.arrayBuffer();
  return response.status;
}

async function currentLimit(): Promise<number> {
  const response = await fetch(new URL('/metrics', service.baseUrl));
  return Number(/^signalbox_http_in_flight_limit (\d+)$/m.exec(await response.text())?.[1]);
}

it('rejects calls after ten seconds at the earliest, and recovers when the load ends', async () => {
  const begunAt = performance.now();
  let rejectedAt: number | null = null;
  const load = { isOver: false };
  const clients = Array.from({ length: CLIENTS }, async () => {
    while (!load.isOver) {
      const status = await call(200);
      if (status === 503) rejectedAt ??= performance.now();
      else expect(status).toBe(200);
    }
  });
  try {
    await eventually(
      async () => rejectedAt,
      (at) => at !== null,
    );
    expect(await currentLimit()).toBeLessThan(CLIENTS);
  } finally {
    load.isOver = true;
    await Promise.all(clients);
  }
  const endedAt = performance.now();
  expect((rejectedAt ?? 0) - begunAt).toBeGreaterThan(WARM_UP);
  await eventually(currentLimit, (limit) => limit === CEILING);
  expect(performance.now() - endedAt).toBeLessThan(RECOVERY);
  expect(await call(1)).toBe(200);
});
