// The reason of a failed call on every platform whose address can be set: the provider's words, and none in privacy mode.
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { rejectWith } from '../../support/requests/create-embedding.js';
import { deleteAllDestinations } from '../../support/requests/create-destination.js';
import type { TestApp } from '../../support/app/app.js';
import { createDeliveryApp, createDestination, untilDelivered } from '../../support/deliveries/deliveries.js';
import { DESTINATION_RECEIVERS } from '../../support/receivers/index.js';
import { startReceiver } from '../../support/receivers/receiver.js';
import type { RunningReceiver } from '../../support/receivers/receiver.js';
import { startStubUpstream } from '../../support/upstreams/stub-upstream.js';
import type { StubUpstream } from '../../support/upstreams/stub-upstream.js';

const WORDS = 'the model is being replaced until noon';
const KINDS = DESTINATION_RECEIVERS.filter((receiver) => receiver.configFor('http://127.0.0.1:1') !== null);

let app: TestApp;
let upstream: StubUpstream;
let running: RunningReceiver[] = [];
beforeAll(async () => {
  upstream = await startStubUpstream();
  upstream.answerWith(rejectWith(410, { error: { message: `${WORDS} ${'x'.repeat(5_000)}` } }));
  const environment = {
    OPENAI_API_KEY: 'key',
    OPENAI_BASE_URL: `${upstream.origin}/v1`,
    PROVIDER_RETRIES: '0',
  };
  app = await createDeliveryApp({ environment });
});
afterEach(async () => {
  await deleteAllDestinations(app);
  await Promise.all(running.splice(0).map((receiver) => receiver.close()));
});
afterAll(async () => {
  await app.close();
  await upstream.close();
});

/** The bodies that each kind receives after one failed call. */
async function deliveredBodies(
  privacyMode: boolean,
): Promise<readonly (readonly [type: string, body: string])[]> {
  const destinations = await Promise.all(
    KINDS.map(async (kind) => {
      const receiver = await startReceiver(kind);
      running.push(receiver);
      const config = kind.configFor(receiver.origin) ?? {};
      const { id } = await createDestination(app, config, { kind: kind.type, type: kind.type, privacyMode });
      return { id, type: kind.type, receiver };
    }),
  );
  const response = await app.http
    .post('/api/v1/embeddings')
    .set('authorization', `Bearer ${app.apiKey}`)
    .send({ model: 'openai/text-embedding-3-small', input: 'a text' });
  expect(response.status).toBe(502);
  for (const { id } of destinations) await untilDelivered(app, id, 1);
  return destinations.map(({ type, receiver }) => [
    type,
    receiver.requests.map(({ bytes }) => bytes.toString('utf8')).join('\n'),
  ]);
}

it("shows the provider's words, within bounds, at every kind", async () => {
  const bodies = await deliveredBodies(false);
  expect(bodies.filter(([, body]) => !body.includes(WORDS)).map(([type]) => type)).toEqual([]);
  expect(bodies.filter(([, body]) => body.includes('x'.repeat(1_001))).map(([type]) => type)).toEqual([]);
});

it('shows only the type of the failure in privacy mode', async () => {
  const bodies = await deliveredBodies(true);
  expect(bodies.filter(([, body]) => body.includes(WORDS)).map(([type]) => type)).toEqual([]);
  expect(bodies.filter(([, body]) => !body.includes('provider_')).map(([type]) => type)).toEqual([]);
});
