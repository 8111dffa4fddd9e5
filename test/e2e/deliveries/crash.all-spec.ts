// Processes that are killed while they deliver: every generation that a client saw is delivered, and almost none
// twice.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { webhook } from '../../../src/destination-kinds/webhook.js';
import type { TestApp } from '../../support/app/app.js';
import {
  DELIVERY_ENVIRONMENT,
  createDeliveryApp,
  createDestination,
  readCursor,
} from '../../support/deliveries/deliveries.js';
import { eventually } from '../../support/eventually.js';
import { startReceiver } from '../../support/receivers/receiver.js';
import type { RunningReceiver } from '../../support/receivers/receiver.js';
import { startServiceProcess } from '../../support/app/service-process.js';
import { untilNoneRuns } from '../../support/database/waiting-statements.js';
import { traceCollector } from '../../support/deliveries/trace-collector.js';

const ROUNDS = 3;
const CLIENTS = 8;
const REQUESTS_IN_FLIGHT = 4;

let app: TestApp;
let healthy: RunningReceiver;
let dead: RunningReceiver;
beforeAll(async () => {
  app = await createDeliveryApp();
  healthy = await startReceiver(traceCollector);
  dead = await startReceiver(traceCollector);
  dead.always('hang');
});
afterAll(async () => {
  await app.close();
  await healthy.close();
  await dead.close();
});

/** Calls until the service is gone; returns the ids of complete responses. */
async function callUntilGone(baseUrl: string, seen: string[], onAnswer: () => void): Promise<void> {
  const headers = { authorization: `Bearer ${app.apiKey}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ model: 'local/hashing', input: 'hello', dimensions: 8 });
  for (;;) {
    try {
      const answer = await fetch(`${baseUrl}/embeddings`, { method: 'POST', headers, body });
      await answer.json();
      if (answer.status !== 200) throw new Error(`status ${answer.status}`);
      seen.push(String(answer.headers.get('x-generation-id')));
      onAnswer();
    } catch {
      return;
    }
  }
}

describe('a process that is killed while it delivers', () => {
  it('loses no generation that a client saw, beside a destination that hangs', async () => {
    const { id } = await createDestination(app, { url: healthy.origin });
    const { id: deadId } = await createDestination(app, { url: dead.origin });
    const seen: string[] = [];
    for (let round = 1; round <= ROUNDS; round++) {
      const service = await startServiceProcess({
        ...DELIVERY_ENVIRONMENT,
        DATABASE_URL: app.databaseUrl,
        DELIVERY_PROCESS: 'own',
        RATE_LIMIT_INFERENCE_PER_MINUTE: '0',
      });
      const enough = seen.length + 150 + round * 37;
      await new Promise<void>((resolve) => {
        const onAnswer = (): void => {
          if (seen.length === enough) void service.kill().then(resolve);
        };
        for (let client = 0; client < CLIENTS; client++) void callUntilGone(service.baseUrl, seen, onAnswer);
      });
    }
    // The last generations may be committed after the death of their process.
    await untilNoneRuns(app);
    const recorded = await app.sql<{ id: string }>('SELECT id FROM generations WHERE workspace_id = $1', [
      app.workspaceId,
    ]);
    const ids = new Set(recorded.map((row) => row.id));
    const known = new Set([...ids].map((generation) => `gen-${generation.replaceAll('-', '')}`));
    expect(seen.filter((generation) => !known.has(generation))).toEqual([]);
    await eventually(
      async () => new Set(healthy.stored),
      (stored) => stored.size === ids.size,
    );
    expect(new Set(healthy.stored)).toEqual(ids);
    // A batch is sent again when its process died between the platform's answer and the move of the cursor. In a backlog
    // it has several requests.
    const repeated = healthy.stored.length - ids.size;
    expect(repeated).toBeLessThanOrEqual(ROUNDS * REQUESTS_IN_FLIGHT * webhook.delivery.limits.maxTraces);
    await eventually(
      () => readCursor(app, id),
      ({ delivered }) => Number(delivered) === ids.size,
    );
    expect(await readCursor(app, deadId)).toMatchObject({ delivered: '0', dropped: {} });
  });
});
