// GET /generations/{id}/deliveries. Contract: docs/contract.md#generations.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ask, askFor } from '../../support/requests/admin.js';
import type { TestApp } from '../../support/app/app.js';
import { askAs, createPerson } from '../../support/app/people.js';
import type { TestPerson } from '../../support/app/people.js';
import {
  createDeliveryApp,
  createDestination,
  recordGenerations,
  untilDelivered,
} from '../../support/deliveries/deliveries.js';
import { expectError } from '../../support/requests/error-shape.js';
import { eventually } from '../../support/eventually.js';
import { startReceiver } from '../../support/receivers/receiver.js';
import type { RunningReceiver } from '../../support/receivers/receiver.js';
import { traceCollector } from '../../support/deliveries/trace-collector.js';

type Delivery = Readonly<Record<string, unknown>>;

let app: TestApp;
let receiver: RunningReceiver;
beforeAll(async () => {
  app = await createDeliveryApp();
  // Expiry and leases are the database's time.
  app.clock.set(new Date().toISOString());
  receiver = await startReceiver(traceCollector);
});
afterAll(async () => {
  await app.close();
  await receiver.close();
});

const deliveriesOf = async (id: string | undefined): Promise<readonly Delivery[]> =>
  (await askFor<{ data: Delivery[] }>(200, app, 'get', `/generations/${id}/deliveries`)).data;
const nowhere = { url: 'http://127.0.0.1:1/' };

it('states what became of a call at each destination', async () => {
  const [before] = await recordGenerations(app, 1);
  const taken = await createDestination(app, { url: receiver.origin }, { name: 'Takes it', kind: 'webhook' });
  await createDestination(app, nowhere, { name: 'Unreachable' });
  await createDestination(app, nowhere, {
    name: 'Other region',
    kind: 'otel-collector',
    type: 'otel-collector',
    regions: ['europe'],
  });
  await createDestination(app, nowhere, { name: 'Other key', apiKeyHashes: ['a'.repeat(64)] });
  await createDestination(app, nowhere, {
    name: 'Filtered',
    kind: 'otel-collector',
    type: 'otel-collector',
    filterRules: {
      enabled: true,
      groups: [{ logic: 'and', rules: [{ field: 'model', operator: 'equals', value: 'another' }] }],
    },
  });
  const [id] = await recordGenerations(app, 1);
  await untilDelivered(app, taken.id, 1);
  const found = await eventually(
    () => deliveriesOf(id),
    (deliveries) => deliveries.some(({ state }) => state === 'retrying'),
  );
  const stateOf = (name: string): unknown => found.find((delivery) => delivery['name'] === name);
  expect(stateOf('Takes it')).toEqual({
    destination_id: taken.id,
    name: 'Takes it',
    type: 'webhook',
    state: 'delivered',
    reason: null,
    delivered_before: expect.any(String),
    next_attempt_at: null,
    last_error: null,
    rules_changed: false,
  });
  expect(stateOf('Unreachable')).toMatchObject({
    state: 'retrying',
    delivered_before: null,
    last_error: { class: 'retry', status: null },
  });
  expect(stateOf('Other region')).toMatchObject({ state: 'not_selected', reason: 'region' });
  expect(stateOf('Other key')).toMatchObject({ state: 'not_selected', reason: 'api_key' });
  expect(stateOf('Filtered')).toMatchObject({ state: 'not_selected', reason: 'filter' });
  for (const delivery of await deliveriesOf(before))
    expect(delivery).toMatchObject({ state: 'not_selected', reason: 'before_start' });
});

it('states dead letters, and marks a destination that was changed after the call', async () => {
  const { id: destination } = await createDestination(app, nowhere, { name: 'Rejects', kind: 'webhook' });
  const [id] = await recordGenerations(app, 1);
  await app.sql(
    `INSERT INTO dead_letters (workspace_id, destination_id, generation_id, generation_created_at, reason, message)
     VALUES ($1, $2, $3, now(), 'refused', 'HTTP 400')`,
    [app.workspaceId, destination, id],
  );
  app.clock.advance(1_000);
  await askFor(200, app, 'patch', `/observability/destinations/${destination}`, {
    body: { name: 'Renamed' },
  });
  const found = (await deliveriesOf(id)).find(({ destination_id: one }) => one === destination);
  expect(found).toMatchObject({ state: 'dead_letter', reason: 'refused', rules_changed: true });
});

it('states the switches that stop a waiting call', async () => {
  await askFor(200, app, 'patch', `/workspaces/${app.workspaceId}`, {
    body: { is_observability_broadcast_enabled: false },
  });
  const { id: off } = await createDestination(app, nowhere, { name: 'Off', kind: 'webhook', enabled: false });
  const [id] = await recordGenerations(app, 1);
  const found = await deliveriesOf(id);
  const states = found.filter(({ reason }) => reason === 'disabled' || reason === 'workspace_disabled');
  expect(states.length).toBeGreaterThan(1);
  expect(found.find(({ destination_id: one }) => one === off)).toMatchObject({ reason: 'disabled' });
});

describe('errors', () => {
  it('returns 404 for an unknown id and for a call of another account', async () => {
    const [id] = await recordGenerations(app, 1);
    const stranger = await app.createAccount();
    for (const [path, key] of [
      ['019a960b-d800-7000-8000-000000000000', app.managementKey],
      ['none', app.managementKey],
      [String(id), stranger.managementKey],
    ] as const)
      expectError(
        await ask(app, 'get', `/generations/${path}/deliveries`, { key }),
        404,
        /no generation has this id/,
      );
  });

  it('returns 403 for an inference key and 401 without one', async () => {
    const [id] = await recordGenerations(app, 1);
    expectError(await ask(app, 'get', `/generations/${id}/deliveries`, { key: app.apiKey }), 403);
    expectError(await app.http.get(`/api/v1/generations/${id}/deliveries`), 401);
  });
});

it('shows the words of a platform to people who manage its destination alone (R8)', async () => {
  const { data: workspace } = await askFor<{ data: { id: string } }>(201, app, 'post', '/workspaces', {
    body: { name: 'Quoted', slug: 'quoted' },
  });
  const workspaceId = workspace.id;
  const readers = {
    admin: await createPerson(app, { workspaces: { [workspaceId]: 'admin' } }),
    viewer: await createPerson(app, { account: 'viewer' }),
    member: await createPerson(app, { workspaces: { [workspaceId]: 'member' } }),
  };
  const { record } = await app.createKey({ workspaceId, creatorUserId: readers.member.id });
  await createDestination(app, nowhere, { name: 'Unreachable', workspaceId });
  const [id] = await recordGenerations(app, 1, { workspaceId }, undefined, record);
  const messageOf = (deliveries: readonly Delivery[]): unknown =>
    (deliveries[0]?.['last_error'] as { message: string } | null)?.message;
  const words = messageOf(
    await eventually(
      () => deliveriesOf(id),
      ([delivery]) => delivery?.['state'] === 'retrying',
    ),
  );
  expect(words).toMatch(/./);
  const seenBy = async (person: TestPerson): Promise<unknown> => {
    const { body } = await askAs(person, app, 'get', `/generations/${id}/deliveries`);
    return messageOf((body as { data: Delivery[] }).data);
  };
  expect(await seenBy(readers.admin)).toBe(words);
  expect([await seenBy(readers.viewer), await seenBy(readers.member)]).toEqual(['', '']);
});
