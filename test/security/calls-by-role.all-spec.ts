// Reads of calls by people of every role, as the console sends them: lists, single calls, contents, refusals and the search have
// the calls within reach alone, by every filter, as CSV, and over every cursor.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Response } from 'supertest';
import { writeCursor } from '../../src/http/dto/page-query.dto.js';
import { askAs, createPerson } from '../support/app/people.js';
import {
  ALL_KEYS,
  CallsByRole,
  CONTENTS,
  messageOf,
  QUOTED,
  READS,
  reads,
  ROLES,
  SHARED,
  UNKNOWN_HASH,
  UNKNOWN_ID,
} from '../support/generations/calls-by-role.js';
import type { Listed, Page } from '../support/generations/calls-by-role.js';
import { ask } from '../support/requests/admin.js';
import { expectError } from '../support/requests/error-shape.js';

let setup: CallsByRole;
beforeAll(async () => {
  setup = await CallsByRole.create();
});
afterAll(() => setup.app.close());

const idsOf = (rows: readonly { readonly id: string }[]): readonly string[] => rows.map(({ id }) => id);

describe.each(ROLES)('the role %s', (name) => {
  beforeAll(async () => {
    await setup.giveOwnKeysTo(name);
  });

  if (name === 'idle') {
    it('reads no calls without a role: 403 for every read', async () => {
      for (const path of [
        '/generations',
        `/generation?id=${UNKNOWN_ID}`,
        `/generation/content?id=${UNKNOWN_ID}`,
        `/generations/${UNKNOWN_ID}/deliveries`,
        '/activity',
        '/analytics/meta',
        '/refusals',
        '/search?q=called',
      ])
        expectError(await setup.get(name, path), 403, /^Your role does not allow this operation/);
      const query = { body: { metrics: ['request_count'] } };
      expectError(await askAs(setup.people[name], setup.app, 'post', '/analytics/query', query), 403);
    });
    return;
  }

  it('lists its calls over every page, in one workspace and in all of them (T14)', async () => {
    const expected = setup.callsOf(name);
    const inOrder = (await setup.listAsKey()).filter(({ id }) => expected.some((call) => call.id === id));
    expect(idsOf(await setup.listAll(name, 'all_workspaces=true'))).toEqual(idsOf(inOrder));
    for (const workspaceId of new Set(expected.map(({ key }) => setup.workspaceOf(key)))) {
      const listed = idsOf(await setup.listAll(name, `workspace_id=${workspaceId}`));
      const inWorkspace = expected.filter(({ key }) => setup.workspaceOf(key) === workspaceId);
      expect(listed.toSorted()).toEqual(idsOf(inWorkspace).toSorted());
    }
    // A cursor that names a call out of reach is a position in time, as one that names no call.
    for (const { id, uuid } of setup.calls) {
      const all = await setup.listAsKey();
      const at = all.findIndex((call) => call.id === id);
      const cursor = writeCursor({ createdAt: new Date(all[at]?.created_at ?? 0), id: uuid });
      const response = await setup.get(name, `/generations?all_workspaces=true&limit=100&cursor=${cursor}`);
      setup.expectWithin(name, response.text);
      const later = all.slice(at + 1).filter((call) => expected.some((one) => one.id === call.id));
      expect(idsOf((response.body as Page).data)).toEqual(idsOf(later));
    }
    // By default the calls of the account's default workspace, or of one that the person knows.
    setup.expectWithin(name, (await setup.get(name, '/generations')).text);
  });

  it('finds by each filter its own calls alone', async () => {
    const ofCalls = setup.calls.flatMap((call) => [
      `request_id=${call.requestId}`,
      `session_id=${call.sessionId}`,
    ]);
    const filters = [
      'user_id=user-shared',
      'status=error',
      'status=200',
      'model=vendor/one',
      'provider=jina',
      'error_type=provider_unavailable',
      'api_type=embeddings',
      ...new Set(ofCalls),
    ];
    const own = new Set(idsOf(setup.callsOf(name)));
    for (const filter of filters) {
      const listed = await setup.listAll(name, `all_workspaces=true&${filter}`);
      const ofKey = (await setup.listAsKey(filter)).filter(({ id }) => own.has(id));
      expect([filter, idsOf(listed)]).toEqual([filter, idsOf(ofKey)]);
    }
    const unknown = await shownOf(setup.get(name, `/generations?api_key_hash=${UNKNOWN_HASH}`));
    for (const key of ALL_KEYS) {
      const response = await setup.get(name, `/generations?api_key_hash=${setup.hashOf(key)}`);
      if (READS[name].includes(key)) expect((response.body as Page).data).toHaveLength(4);
      else expect([response.status, messageOf(response)]).toEqual(unknown);
    }
  });

  it('answers a call out of reach as one that does not exist (V61)', async () => {
    const unknown = await shownOf(setup.get(name, `/generation?id=${UNKNOWN_ID}`));
    for (const call of setup.calls) {
      for (const id of [call.id, call.uuid, ...(call.isMessage ? [call.upstreamId] : [])]) {
        const response = await setup.get(name, `/generation?id=${id}`);
        if (reads(name, call)) expect([id, response.status]).toEqual([id, 200]);
        else expect([response.status, messageOf(response)]).toEqual(unknown);
      }
      const deliveries = await setup.get(name, `/generations/${call.id}/deliveries`);
      expect(deliveries.status).toBe(reads(name, call) ? 200 : 404);
    }
    const known = new Set(READS[name].map((key) => setup.workspaceOf(key)));
    const isOfAccount = ['owner', 'admin', 'viewer', 'developer'].includes(name);
    for (const key of ALL_KEYS) {
      const workspaceId = setup.workspaceOf(key);
      const isKnown = known.has(workspaceId) || isOfAccount;
      for (const path of ['/generations', '/activity', '/refusals']) {
        const response = await setup.get(name, `${path}?workspace_id=${workspaceId}`);
        if (isKnown) expect(response.status).toBe(200);
        else
          expect([response.status, messageOf(response)]).toEqual(
            await shownOf(setup.get(name, `${path}?workspace_id=${randomUUID()}`)),
          );
      }
    }
  });

  it('reads contents and messages of errors where its role lets it (V61)', async () => {
    const readsSome = CONTENTS[name].length > 0;
    for (const call of setup.calls) {
      const response = await setup.get(name, `/generation/content?id=${call.id}`);
      const isReadable = CONTENTS[name].includes(call.key);
      expect([call.key, response.status]).toEqual([call.key, isReadable ? 200 : readsSome ? 404 : 403]);
      if (isReadable) expect(response.text).toContain(`input of ${call.key}`);
      else if (readsSome)
        expect(messageOf(response)).toBe(
          messageOf(await setup.get(name, `/generation/content?id=${UNKNOWN_ID}`)),
        );
    }
    for (const listed of await setup.listAll(name, 'all_workspaces=true&status=error')) {
      const call = setup.calls.find(({ id }) => id === listed.id);
      const isReadable = call !== undefined && CONTENTS[name].includes(call.key);
      expect([call?.key, listed.error_message]).toEqual([call?.key, isReadable ? QUOTED : null]);
      const { error_message: message } = await setup.dataOf<Listed>(name, `/generation?id=${listed.id}`);
      expect(message).toBe(listed.error_message);
      const [found] = await setup.dataOf<{ message: string | null }[]>(name, `/search?q=${listed.id}`);
      expect(found?.message).toBe(listed.error_message);
    }
    const table = (await setup.csv(name, '/generations?all_workspaces=true&status=error&limit=100')).text;
    expect(table.split(QUOTED).length - 1).toBe(CONTENTS[name].length);
  });

  it('has as CSV the same calls on the same pages', async () => {
    let path: string | null = '/generations?all_workspaces=true&limit=3';
    let lines = 0;
    while (path !== null) {
      const response: Response = await setup.csv(name, path);
      expect(response.status).toBe(200);
      setup.expectWithin(name, response.text);
      lines += response.text.trim().split('\r\n').length - 1;
      const next: string | undefined = /<\/api\/v1(.*?)>/.exec(response.headers['link'] ?? '')?.[1];
      path = next ?? null;
    }
    expect(lines).toBe(setup.callsOf(name).length);
    setup.expectWithin(name, (await setup.csv(name, '/activity')).text);
  });

  it('lists the refused calls of its keys', async () => {
    const listed = await setup.dataOf<{ api_key_hash: string }[]>(name, '/refusals');
    const own = await setup.dataOf<{ api_key_hash: string }[]>(
      name,
      `/refusals?workspace_id=${READS[name].length === 7 ? setup.first : setup.second}`,
    );
    expect(listed.map(({ api_key_hash: hash }) => hash).toSorted()).toEqual(
      READS[name].map(setup.hashOf).toSorted(),
    );
    expect(own.length).toBeGreaterThan(0);
    for (const key of ALL_KEYS)
      expect((await setup.get(name, `/refusals?api_key_hash=${setup.hashOf(key)}`)).status).toBe(
        READS[name].includes(key) ? 200 : 404,
      );
  });

  it('searches its calls and keys', async () => {
    for (const call of setup.calls) {
      for (const text of [
        call.id,
        call.uuid,
        call.upstreamId,
        call.requestId,
        call.sessionId,
        setup.hashOf(call.key),
      ]) {
        const found = await setup.dataOf<{ type: string; newest_generation_id: string | null }[]>(
          name,
          `/search?q=${text}`,
        );
        const isShared = text.endsWith('-shared');
        const isGone = text === setup.hashOf('secondGone');
        if (!isShared && !isGone) expect([text, found.length]).toEqual([text, reads(name, call) ? 1 : 0]);
      }
    }
    const shared = await setup.dataOf<{ type: string }[]>(name, `/search?q=${SHARED.requestId}`);
    expect(shared).toHaveLength(setup.callsOf(name).length / 4);
    const sessions = await setup.dataOf<{ workspace_id: string; newest_generation_id: string }[]>(
      name,
      `/search?q=${SHARED.sessionId}`,
    );
    const users = await setup.dataOf<object[]>(name, `/search?q=${SHARED.userId}`);
    const workspaces = new Set(READS[name].map((key) => setup.workspaceOf(key)));
    expect([sessions.length, users.length]).toEqual([workspaces.size, workspaces.size]);
    const named = await setup.dataOf<{ api_key_hash: string }[]>(name, '/search?q=called');
    const kept = READS[name].filter((key) => key !== 'secondGone');
    expect(named.map(({ api_key_hash: hash }) => hash).toSorted()).toEqual(kept.map(setup.hashOf).toSorted());
  });
});

async function shownOf(asked: Promise<Response>): Promise<[number, string]> {
  const response = await asked;
  return [response.status, messageOf(response)];
}

it('a change of a role is in force at the next request', async () => {
  await setup.giveOwnKeysTo('developer');
  const person = await createPerson(setup.app, { account: 'viewer' });
  const path = `/generation?id=${setup.calls.find(({ key }) => key === 'third')?.id}`;
  expect((await askAs(person, setup.app, 'get', path)).status).toBe(200);
  await setup.app.sql("UPDATE persons SET hand_role = 'developer' WHERE id = $1", [person.id]);
  expect((await askAs(person, setup.app, 'get', path)).status).toBe(404);
  await setup.app.sql('UPDATE persons SET hand_role = NULL WHERE id = $1', [person.id]);
  expect((await askAs(person, setup.app, 'get', path)).status).toBe(403);
  expect((await ask(setup.app, 'get', path)).status).toBe(200);
});
