// Models that their vendor withdraws (docs/contract.md#models).
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { ExpiringModelDto } from '../../../src/models/dto/expiring-models.dto.js';
import type { ModelDto } from '../../../src/models/dto/model.dto.js';
import { chatModel, startOperatorApps } from '../../support/catalogue/operator-apps.js';
import type { OperatorApps } from '../../support/catalogue/operator-apps.js';
import { loadUpdateScripts } from '../../support/catalogue/update-scripts.js';
import { untilSummedUp } from '../../support/database/rollups.js';
import { askFor } from '../../support/requests/admin.js';
import { postChat, streamChat } from '../../support/upstreams/chat-upstream.js';
import { sendJson } from '../../support/upstreams/stub-upstream.js';

const DAY = 86_400_000;
const [LEAVING, GONE, NEXT] = ['acme/leaving-1', 'acme/gone-1', 'acme/next-1'];

let apps: OperatorApps;
/** In 30 days. */
let end: string;
beforeAll(async () => {
  apps = await startOperatorApps();
  const dayAt = (days: number): string =>
    new Date(apps.app.clock.now().getTime() + days * DAY).toISOString().slice(0, 10);
  end = dayAt(30);
  await put(NEXT, chatModel(1, 1));
  await put(LEAVING, chatModel(1, 1, { expires_on: end, successor: NEXT }));
  await put(GONE, chatModel(1, 1, { expires_on: dayAt(-1), successor: NEXT }));
});
afterEach(() => apps.upstream.answerWith(null));
afterAll(() => apps.close());

async function put(id: string, model: object, kind: 'chat_models' | 'models' = 'chat_models'): Promise<void> {
  expect((await apps.put(id, model, { kind })).body).toMatchObject({ data: { id } });
}

const headersOf = (successor: string): Record<string, string> => ({
  deprecation: `@${Date.parse(end) / 1_000}`,
  sunset: new Date(end).toUTCString(),
  link: `</api/v1/models/${successor}>; rel="successor-version"`,
});

it.each([false, true])(
  'names the end of a chat model and its successor in the headers of an answer (stream: %s) (G50)',
  async (isStreamed) => {
    const { status, headers } = isStreamed
      ? await streamChat(apps.app, { model: LEAVING })
      : await postChat(apps.app, { model: LEAVING });
    expect(status).toBe(200);
    expect(Object.fromEntries(headers)).toMatchObject(headersOf(NEXT));
  },
);

it('names the end of the model that answers, and of no other one of the request', async () => {
  const { headers } = await postChat(apps.app, { models: [NEXT, LEAVING], model: NEXT });
  expect(headers.get('sunset')).toBeNull();
});

it('names the end of an embedding model in the headers of an answer', async () => {
  await put('local/hashing', { expires_on: end, successor: 'acme/embed-2' }, 'models');
  const { status, headers } = await apps.app.http
    .post('/api/v1/embeddings')
    .set('authorization', `Bearer ${apps.app.apiKey}`)
    .send({ model: 'local/hashing', input: 'hi' });
  expect(status).toBe(200);
  expect(headers).toMatchObject(headersOf('acme/embed-2'));
});

it('lists the day of the end of a model', async () => {
  const { data } = await askFor<{ data: ModelDto[] }>(200, apps.app, 'get', '/models', {
    key: apps.operatorKey,
  });
  const dayOf = (id: string) => data.find((model) => model.id === id)?.expiration_date;
  expect([dayOf(LEAVING), dayOf(NEXT)]).toEqual([end, undefined]);
});

it('answers 404 with the successor when a model past its day is gone at its provider', async () => {
  apps.upstream.answerWith((_request, response) =>
    sendJson(response, 404, { error: { message: 'The model new-1 is gone', code: 'model_not_found' } }),
  );
  const gone = await postChat(apps.app, { model: GONE });
  expect(gone.status).toBe(404);
  expect(JSON.stringify(await gone.json())).toContain(`${GONE} has been withdrawn; successor: ${NEXT}`);
  expect(gone.headers.get('link')).toContain(NEXT);
  // Before its day the failure is one of the provider.
  const leaving = await postChat(apps.app, { model: LEAVING });
  expect(leaving.status).toBe(502);
});

it('serves a model past its day as long as its provider does', async () => {
  expect((await postChat(apps.app, { model: GONE })).status).toBe(200);
});

describe('GET /catalogue/expiring', () => {
  const expiring = async (key = apps.app.managementKey): Promise<ExpiringModelDto[]> => {
    const path = '/catalogue/expiring';
    const { data } = await askFor<{ data: ExpiringModelDto[] }>(200, apps.app, 'get', path, { key });
    return data.filter(({ id }) => [LEAVING, GONE, NEXT].includes(id));
  };

  it('names the keys of the account that have used the model within 7 days, by the sums of the log', async () => {
    const key = await apps.app.createKey({ name: 'Still here' });
    for (const model of [LEAVING, LEAVING, NEXT])
      expect((await postChat(apps.app, { model }, { key: key.secret })).status).toBe(200);
    await untilSummedUp(apps.app);
    const found = await expiring();
    expect(found.map(({ id }) => id)).toEqual([GONE, LEAVING]);
    const { keys, ...leaving } = found[1]!;
    expect(leaving).toEqual({
      kind: 'chat_models',
      id: LEAVING,
      name: LEAVING,
      expires_on: end,
      successor: NEXT,
    });
    expect(keys.find(({ hash }) => hash === key.record.hash)).toEqual({
      hash: key.record.hash,
      name: 'Still here',
      label: key.record.label,
      workspace_id: apps.app.workspaceId,
      requests: 2,
      last_used_at: apps.app.clock.now().toISOString(),
    });
    // Those of other accounts are theirs.
    expect((await expiring(apps.operatorKey)).flatMap((model) => model.keys)).toEqual([]);
  });

  it('is printed by the command of maintainers', async () => {
    const scripts = await loadUpdateScripts();
    const service = { url: apps.app.origin, key: apps.app.managementKey };
    const printed = await scripts.readExpiring(service);
    expect(printed).toContain(`${LEAVING} ends on ${end}; successor: ${NEXT}`);
    expect(printed).toMatch(/"Still here" sk-\S+: 2 calls in 7 days, the last at 2026-11-18T/);
    expect(await scripts.readExpiring({ ...service, key: apps.operatorKey })).toBe('');
  });

  it('leaves out keys that have not used the model for 7 days', async () => {
    const start = apps.app.clock.now().toISOString();
    apps.app.clock.advance(6 * DAY);
    expect((await expiring()).flatMap(({ keys }) => keys)).not.toEqual([]);
    apps.app.clock.advance(DAY);
    expect((await expiring()).flatMap(({ keys }) => keys)).toEqual([]);
    apps.app.clock.set(start);
  });
});
