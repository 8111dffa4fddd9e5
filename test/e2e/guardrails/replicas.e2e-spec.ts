// Guardrails on several replicas: each caches guardrails and callers.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createTestApp } from '../../support/app/app.js';
import type { TestApp } from '../../support/app/app.js';
import { eventually } from '../../support/eventually.js';
import { askFor } from '../../support/requests/admin.js';
import { postChat } from '../../support/upstreams/chat-upstream.js';

let app: TestApp;
let replica: TestApp;
beforeAll(async () => {
  app = await createTestApp();
  replica = await app.startReplica();
});
afterAll(async () => {
  await replica?.close();
  await app?.close();
});

const MODEL = { model: 'local/echo' };

it('an assignment and a change of a guardrail are in force at a replica that has cached the caller', async () => {
  const { secret, record } = await app.createKey();
  const statusAtReplica = async () => (await postChat(replica, MODEL, { key: secret })).status;
  const until = (wanted: number) => eventually(statusAtReplica, (status) => status === wanted);
  expect(await statusAtReplica()).toBe(200);
  const { data } = await askFor<{ data: { id: string } }>(201, app, 'post', '/guardrails', {
    body: { name: 'Strict', ignored_models: ['local/echo'] },
  });
  const assignments = `/guardrails/${data.id}/assignments/keys`;
  await askFor(200, app, 'post', assignments, { body: { key_hashes: [record.hash] } });
  await until(404);
  await askFor(200, app, 'patch', `/guardrails/${data.id}`, { body: { ignored_models: null } });
  await until(200);
  await askFor(200, app, 'patch', `/guardrails/${data.id}`, { body: { ignored_providers: ['local'] } });
  await until(404);
  await askFor(200, app, 'post', `${assignments}/remove`, { body: { key_hashes: [record.hash] } });
  await until(200);
});
