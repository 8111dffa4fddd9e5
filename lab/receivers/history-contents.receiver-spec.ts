// Contents in the history of a real ClickHouse: copied before they are removed, and answered unchanged after that.
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import * as fc from '../../test/support/fast-check.js';
import pg from 'pg';
import type { Response } from 'supertest';
import { Metrics } from '../../src/config/metrics.js';
import { ContentSweeper } from '../../src/upkeep/content-sweeper.js';
import { GenerationPublisher } from '../../src/deliveries/generation-publisher.js';
import type { ChatContent } from '../../src/domain/generations/chat-content.js';
import type { Generation } from '../../src/domain/generations/generation.js';
import type { GenerationContent } from '../../src/domain/generations/generation-content.js';
import type { ApiKey } from '../../src/domain/keys/api-key.js';
import { GenerationContents } from '../../src/persistence/contents/generation-contents.js';
import { GenerationLog } from '../../src/persistence/generations/generation-log.js';
import { HistoryCopyRepository } from '../../src/persistence/history/history-copy.repository.js';
import { ask } from '../../test/support/requests/admin.js';
import type { TestAccount } from '../../test/support/app/app.js';
import { createChatFacts } from '../../test/support/generations/chat-generation.js';
import { createDestination } from '../../test/support/deliveries/deliveries.js';
import { expectError } from '../../test/support/requests/error-shape.js';
import { eventually } from '../../test/support/eventually.js';
import { contentOfText, createGeneration } from '../../test/support/generations/generation.js';
import { planOf, scansOf } from '../../test/support/database/plans.js';
import { recordStatements } from '../../test/support/database/statements.js';
import { CONTENTS, createHistoryService, TABLE } from './history-app.js';
import type { HistoryService } from './history-app.js';

const HOUR = 3_600_000;
// Slices of one or two contents, in steps that end inside blocks.
const SMALL = { workspaces: 500, rows: 3, contentBytes: 400 };

let history: HistoryService;
beforeAll(async () => {
  history = await createHistoryService({ HISTORY_CONTENTS: 'true' });
});
afterAll(() => history.close());
afterEach(async () => {
  jest.restoreAllMocks();
  history.server.always(null);
  await history.copyAll();
});

const log = (): GenerationLog => history.app.application.get(GenerationLog);
const contents = (): GenerationContents => history.app.application.get(GenerationContents);

/** Appends calls of the account with these contents, together. */
async function append(
  of: readonly (GenerationContent | null)[],
  overrides: Partial<Generation> = {},
  { key }: { readonly key: ApiKey } = history.app,
): Promise<readonly Generation[]> {
  const generations = of.map((content) =>
    createGeneration(key, {
      createdAt: history.app.clock.now(),
      ...(content?.chat === undefined ? {} : { operation: 'chat', chat: createChatFacts() }),
      ...overrides,
    }),
  );
  await Promise.all(generations.map((generation, index) => log().append(generation, [], of[index] ?? null)));
  return generations;
}

const read = ({ id }: Generation, key = history.app.apiKey): Promise<Response> =>
  ask(history.app, 'get', `/generation/content?id=${id}`, { key });

async function readAll(generations: readonly Generation[], key?: string): Promise<string[]> {
  const texts: string[] = [];
  for (const generation of generations) {
    const { status, text } = await read(generation, key);
    expect({ status, text }).toEqual({ status: 200, text });
    texts.push(text);
  }
  return texts;
}

const stored = async ({ workspaceId }: { readonly workspaceId: string } = history.app): Promise<number> =>
  (
    await history.app.sql('SELECT generation_id FROM generation_contents WHERE workspace_id = $1', [
      workspaceId,
    ])
  ).length;
const rows = (from: string): number =>
  Number(history.front.query(`SELECT count() AS rows FROM ${from}`)[0]!['rows']);
const idsIn = (generations: readonly Generation[]): readonly string[] => {
  const ids = generations.map(({ id }) => `'${id}'`).join(',');
  return history.front
    .query(`SELECT DISTINCT toString(id) AS id FROM ${CONTENTS} WHERE id IN (${ids})`)
    .map(({ id }) => String(id));
};
const removed = (of: { readonly workspaceId: string } = history.app): Promise<void> =>
  contents().removePassed([of.workspaceId]);

/** The first step that has stored rows ends before its cursor moves. */
function killOnce(): void {
  const copies = history.app.application.get(HistoryCopyRepository);
  const move = copies.move.bind(copies);
  let isKilled = false;
  jest.spyOn(copies, 'move').mockImplementation((owner, cursor, step) => {
    if (isKilled || step.count === 0) return move(owner, cursor, step);
    isKilled = true;
    return Promise.reject(new Error('killed'));
  });
}

async function metric(name: string): Promise<number> {
  const text = await history.app.application.get(Metrics).registry.metrics();
  const found = text.split('\n').find((line) => line.startsWith(`${name} `));
  return Number(found?.slice(name.length + 1) ?? 0);
}
const LOST = 'signalbox_history_contents_lost_total';

const HOSTILE = [
  `it's \\ "quoted" \t\r\n\u0000\u0001\u001b 🙂 {p0:String} \u2028`,
  "'; DROP TABLE generation_contents; --",
  '\ud83d alone, \udc00',
  '{"content":"\\u0000"}',
  'é e\u0301 ﷽ \u202e',
  '',
];

const chatOf = (texts: readonly string[]): GenerationContent => {
  const [first = '', second = '', third = ''] = texts;
  const chat: ChatContent = {
    messages: [
      { role: 'system', content: first },
      { role: 'user', content: [{ type: 'text', text: second }], name: 'ada' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'call_0', type: 'function', function: { name: 'look', arguments: third } }],
      },
      { role: 'tool', content: first, tool_call_id: 'call_0' },
    ],
    tools: [
      { type: 'function', function: { name: 'look', description: second, parameters: { type: 'object' } } },
    ],
    stop: [third],
    responseSchema: { type: 'object', 10: 1.5e300, 2: [null, true] },
    choices: [
      {
        index: 0,
        content: first,
        reasoning: second,
        refusal: null,
        toolCalls: [{ id: 'call_1', name: 'get_weather', arguments: third }],
        finishReason: 'tool_calls',
        nativeFinishReason: 'tool_calls',
      },
    ],
    isOutputTruncated: true,
  };
  return { items: [], isTruncated: false, errorMessage: null, chat };
};
const embeddingOf = (
  items: GenerationContent['items'],
  errorMessage: string | null = null,
): GenerationContent => ({ items, isTruncated: errorMessage !== null, errorMessage });

describe('a copied content', () => {
  it('is answered byte for byte as before its removal, whatever its text and form', async () => {
    const text = fc.oneof(fc.constantFrom(...HOSTILE), fc.string({ unit: 'binary', maxLength: 300 }));
    const content = fc.oneof(
      fc.array(text, { minLength: 3, maxLength: 3 }).map(chatOf),
      fc
        .tuple(
          fc.array(fc.oneof(text, fc.array(fc.nat(), { minLength: 1, maxLength: 20 })), {
            minLength: 1,
            maxLength: 4,
          }),
          fc.option(text),
        )
        .map(([items, error]) => embeddingOf(items, error)),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(content, { minLength: 1, maxLength: 12 }), async (of) => {
        const generations = await append(of);
        const before = await readAll(generations);
        await history.copyAll(SMALL);
        await eventually(stored, (count) => count === 0);
        expect(await readAll(generations)).toEqual(before);
      }),
      { numRuns: 8, endOnFailure: true },
    );
    const all = await append([...HOSTILE.map((one) => contentOfText(one)), chatOf(HOSTILE)]);
    const before = await readAll(all);
    await history.copyAll();
    await eventually(stored, (count) => count === 0);
    expect(await readAll(all)).toEqual(before);
    // Also after the log has dropped the calls.
    await history.dropBefore(new Date(history.app.clock.now().getTime() + HOUR));
    expect(await readAll(all)).toEqual(before);
    expect(await readAll(all, history.app.managementKey)).toEqual(before);
    await history.app.sql('UPDATE log_begin SET dropped_before = NULL');
  });

  it('is large: a slice never has more than its bytes, whatever the step has', async () => {
    const large = Array.from({ length: 5 }, (_one, index) => contentOfText(String(index).repeat(200_000)));
    const generations = await append(large);
    const before = await readAll(generations);
    history.server.forgetRequests();
    await history.copyAll({ contentBytes: 450_000 });
    const inserts = history.server.requests.filter(({ path }) =>
      new URLSearchParams(path.slice(2)).get('query')?.includes('generation_contents'),
    );
    expect(inserts.map(({ bytes }) => Math.floor(bytes.length / 200_000))).toEqual([2, 2, 1]);
    await removed();
    expect(await readAll(generations)).toEqual(before);
  });

  it('is of its account and its key alone', async () => {
    const { app } = history;
    const [generation] = await append([contentOfText('of one key')]);
    await history.copyAll();
    await removed();
    const other: TestAccount = await app.createAccount();
    const { secret } = await app.createKey();
    for (const key of [other.managementKey, other.apiKey, secret])
      expect(expectError(await read(generation!, key), 404)).toContain('no generation has this id');
    expect((await read(generation!, app.managementKey)).status).toBe(200);
    history.front.query(
      `ALTER TABLE ${CONTENTS} UPDATE account_id = '${other.accountId}' WHERE id = '${generation!.id}' SETTINGS mutations_sync = 1`,
    );
    expect(expectError(await read(generation!), 404)).toContain('neither the log nor the history has it');
  });

  it('is erased by one statement for an end user', async () => {
    const { app } = history;
    const erased = await append([contentOfText('one'), chatOf(HOSTILE)], { userId: 'user_1' });
    const kept = await append([contentOfText('two')], { userId: "user_2'" });
    await history.copyAll();
    await removed();
    history.front.query(
      `ALTER TABLE ${CONTENTS} DELETE WHERE account_id = '${app.accountId}' AND user_id = 'user_1' SETTINGS mutations_sync = 1`,
    );
    for (const one of erased) expectError(await read(one), 404);
    await readAll(kept);
  });
});

describe('the contents of a deleted workspace', () => {
  it('are erased an hour after the deletion, and those of others stay', async () => {
    const deleted: TestAccount = await history.app.createAccount();
    const [erased] = await append([contentOfText('erased')], {}, deleted);
    const [kept] = await append([contentOfText('kept')]);
    await history.copyAll();
    await history.app.sql(
      "UPDATE workspaces SET slug = NULL, deleted_at = now() - interval '2 hours' WHERE id = $1",
      [deleted.workspaceId],
    );
    await history.copy();
    // The engine erases in the background.
    const left = await eventually(
      async () => idsIn([erased!, kept!]),
      (ids) => ids.length < 2,
    );
    expect(left).toEqual([kept!.id]);
  });
});

describe('an interrupted copy', () => {
  it('copies contents again that it had stored before its cursor moved, and doubles none', async () => {
    const generations = await append(Array.from({ length: 7 }, (_one, index) => contentOfText(`${index}`)));
    const before = await readAll(generations);
    history.front.query(`SYSTEM STOP MERGES ${CONTENTS}`);
    killOnce();
    await expect(history.copyAll({ ...SMALL, rows: 5 })).rejects.toThrow('killed');
    expect(idsIn(generations)).toHaveLength(5);
    // Other blocks than before: no token of a block prevents duplicates.
    await history.copyAll({ ...SMALL, contentBytes: 1_000_000 });
    expect([...idsIn(generations)].toSorted()).toEqual(generations.map(({ id }) => id).toSorted());
    expect(rows(CONTENTS)).toBeGreaterThan(rows(`${CONTENTS} FINAL`));
    await removed();
    expect(await readAll(generations)).toEqual(before);
    history.front.query(`SYSTEM START MERGES ${CONTENTS}`);
    history.front.query(`OPTIMIZE TABLE ${CONTENTS} FINAL`);
    expect(rows(CONTENTS)).toBe(rows(`(SELECT DISTINCT id FROM ${CONTENTS})`));
  });

  it('keeps contents while ClickHouse fails between the rows and their contents', async () => {
    const generations = await append([contentOfText('one'), contentOfText('two')]);
    const before = await readAll(generations);
    const inserted = rows(TABLE);
    const copies = history.app.application.get(HistoryCopyRepository);
    const claim = copies.claim.bind(copies);
    jest.spyOn(copies, 'claim').mockImplementation((owner) => {
      if (rows(TABLE) > inserted) history.server.always({ status: 503 });
      return claim(owner);
    });
    await expect(history.copyAll()).rejects.toThrow(/ClickHouse/);
    await removed();
    expect(await stored()).toBe(1);
    history.server.always(null);
    jest.restoreAllMocks();
    await history.copyAll();
    await removed();
    expect(await readAll(generations)).toEqual(before);
  });

  it('ends without its cursor moved when another process gets the lease during a step', async () => {
    const generations = await append([contentOfText('one'), contentOfText('two')]);
    const inserted = rows(TABLE);
    const copies = history.app.application.get(HistoryCopyRepository);
    jest.spyOn(copies, 'claim').mockImplementation(() => Promise.resolve(rows(TABLE) === inserted));
    await eventually(
      async () => {
        await history.copy();
        return rows(TABLE);
      },
      (count) => count > inserted,
    );
    await removed();
    expect(await stored()).toBe(1);
    expect(idsIn(generations)).toHaveLength(0);
    jest.restoreAllMocks();
    await history.copyAll();
    expect(idsIn(generations)).toHaveLength(2);
  });
});

describe('stored contents', () => {
  it('stay until the copy has passed them, and until the destinations have', async () => {
    const { app } = history;
    const account = await app.createAccount();
    const { accountId, workspaceId } = account;
    // Its name does not resolve: it never gets them.
    const unreachable = { url: 'https://unreachable.example/traces' };
    const { id } = await createDestination(app, unreachable, { accountId, workspaceId });
    const generations = await append([contentOfText('one'), contentOfText('two')], {}, account);
    await removed(account);
    expect(await stored(account)).toBe(1);
    await history.copyAll();
    await removed(account);
    expect(await stored(account)).toBe(1);
    await app.sql('UPDATE destinations SET enabled = false WHERE id = $1', [id]);
    const late = await append([contentOfText('three')], {}, account);
    await removed(account);
    expect(await stored(account)).toBe(1);
    await history.copyAll();
    await removed(account);
    expect(idsIn(late)).toHaveLength(1);
    expect(await stored(account)).toBe(0);
    expect(idsIn(generations)).toHaveLength(2);
  });

  it('stay no longer than their retention: the history then lacks them, and they are counted', async () => {
    const { app } = history;
    const account = await app.createAccount();
    const passed = await append([contentOfText('copied')], {}, account);
    await history.copyAll();
    const lost = await append([contentOfText('one'), contentOfText('two')], {}, account);
    const before = await metric(`${LOST}{reason="expired"}`);
    const moment = new Date(app.clock.now().getTime() + 1);
    expect(await contents().removeOlderThan(moment)).toBe(2);
    expect(await stored(account)).toBe(0);
    await history.copyAll();
    for (const one of lost)
      expect(expectError(await read(one, account.managementKey), 404)).toContain(
        'neither the log nor the history has it',
      );
    await readAll(passed, account.managementKey);
    expect(rows(`${TABLE} FINAL WHERE workspace_id = '${account.workspaceId}'`)).toBe(3);
    // The sweep counts what it removes.
    await append([contentOfText('three')], {}, account);
    app.clock.advance(25 * HOUR);
    await app.application.get(ContentSweeper).sweepOld();
    expect(await metric(`${LOST}{reason="expired"}`)).toBe(before + 1);
  });

  it('are skipped when they cannot be decrypted or are gone', async () => {
    const account = await history.app.createAccount();
    const generations: Generation[] = [];
    for (const text of ['readable', 'unknown key', 'changed', 'gone'])
      generations.push(...(await append([contentOfText(text)], {}, account)));
    const [readable, unknown, changed, gone] = generations.map(({ id }) => id);
    await history.app.sql(
      "UPDATE generation_contents SET encryption_key_id = 'ffffffff' WHERE generation_id = $1",
      [unknown],
    );
    await history.app.sql(
      'UPDATE generation_contents SET ciphertext = set_byte(ciphertext, 40, get_byte(ciphertext, 40) # 1) WHERE generation_id = $1',
      [changed],
    );
    await history.app.sql('DELETE FROM generation_contents WHERE generation_id = $1', [gone]);
    const before = await metric(`${LOST}{reason="unreadable"}`);
    const copied = await metric('signalbox_history_contents_copied_total');
    await history.copyAll();
    expect(idsIn(generations)).toEqual([readable]);
    expect(await metric(`${LOST}{reason="unreadable"}`)).toBe(before + 2);
    expect(await metric('signalbox_history_contents_copied_total')).toBe(copied + 1);
    await removed(account);
    expect(await stored(account)).toBe(0);
  });
});

describe('the removal of contents', () => {
  it('reads none that wait for the copy', async () => {
    const { app } = history;
    const { workspaceId } = await app.createAccount();
    await app.sql(
      `INSERT INTO generation_contents (generation_id, workspace_id, created_at, log_ordinal, ciphertext, encryption_key_id)
       SELECT gen_random_uuid(), $1, $2, n, '', '' FROM generate_series(1, 30000) AS n`,
      [workspaceId, app.clock.now()],
    );
    await app.sql('ANALYZE');
    const recording = recordStatements();
    try {
      await removed({ workspaceId });
    } finally {
      recording.stop();
    }
    const text = [...recording.statements.keys()].find((one) => one.includes('AS due (workspace_id)'));
    const client = new pg.Client({ connectionString: app.databaseUrl });
    await client.connect();
    try {
      const scans = scansOf(await planOf(client, text ?? '', [[workspaceId]]));
      expect(scans.map(({ table }) => table)).toContain('history_copy');
      expect(scans.filter(({ rows: looked }) => looked > 50)).toEqual([]);
    } finally {
      await client.end();
    }
    expect(await stored({ workspaceId })).toBe(30_000);
    await app.sql('DELETE FROM generation_contents WHERE workspace_id = $1', [workspaceId]);
  });
});

describe('the contents of a workspace', () => {
  const toStore = async (workspaceId: string): Promise<GenerationContent | null> => {
    const publisher = history.app.application.get(GenerationPublisher);
    const generation = createGeneration({ ...history.app.key, workspaceId });
    return (await publisher.toStore(generation, () => contentOfText('to store'))).content;
  };

  it('are stored and copied without any destination', async () => {
    const { app } = history;
    const response = await ask(app, 'post', '/chat/completions', {
      key: app.apiKey,
      body: { model: 'local/echo', messages: [{ role: 'user', content: 'Hello there' }] },
    });
    expect(response.status).toBe(200);
    const generation = { id: (response.body as { id: string }).id } as Generation;
    const [before] = await readAll([generation]);
    expect(before).toContain('Hello there');
    await history.copyAll();
    await eventually(stored, (count) => count === 0);
    expect(await readAll([generation])).toEqual([before]);
  });

  it('are neither stored nor copied while a destination is in privacy mode, enabled or not', async () => {
    const { app } = history;
    const account = await app.createAccount();
    const { accountId, workspaceId } = account;
    expect(await toStore(workspaceId)).not.toBeNull();
    const destination = await createDestination(
      app,
      { url: 'https://example.com/traces' },
      { accountId, workspaceId, privacyMode: true, enabled: false },
    );
    await eventually(
      () => toStore(workspaceId),
      (content) => content === null,
    );
    // Stored for a rule on inputs, or before the destination was created.
    const generations = await append([contentOfText('private')], { userId: randomUUID() }, account);
    await history.copyAll();
    expect(idsIn(generations)).toEqual([]);
    expect(rows(`${TABLE} FINAL WHERE workspace_id = '${workspaceId}'`)).toBe(1);
    await removed(account);
    expect(await stored(account)).toBe(0);
    expectError(await read(generations[0]!, account.managementKey), 404);

    // The retention does not wait for a copy of them, and counts no loss.
    await append([contentOfText('private')], {}, account);
    await removed(account);
    expect(await stored(account)).toBe(0);
    await append([contentOfText('private')], {}, account);
    expect(await contents().removeOlderThan(new Date(app.clock.now().getTime() + 1))).toBe(0);

    // Deleted after the call.
    const late = await append([contentOfText('private')], {}, account);
    app.clock.advance(1);
    await app.sql('UPDATE destinations SET slot = NULL, deleted_at = $2 WHERE id = $1', [
      destination.id,
      app.clock.now(),
    ]);
    await history.copyAll();
    expect(idsIn(late)).toEqual([]);
    await eventually(
      () => toStore(workspaceId),
      (content) => content !== null,
    );
  });
});

describe('the contents of a workspace whose privacy mode is switched off', () => {
  it('are not copied afterwards, and those of later calls are', async () => {
    const { app } = history;
    const account = await app.createAccount();
    const { accountId, workspaceId } = account;
    const destination = await createDestination(
      app,
      { url: 'https://example.com' },
      { accountId, workspaceId, privacyMode: true },
    );
    const before = await append([contentOfText('private')], {}, account);
    await app.sql('UPDATE destinations SET privacy_mode = false WHERE id = $1', [destination.id]);
    // By the clock of the database, which has the time of the change.
    app.clock.set(new Date(Date.now() + 10_000).toISOString());
    const after = await append([contentOfText('public')], {}, account);
    await history.copyAll();
    expect([idsIn(before), idsIn(after)]).toEqual([[], after.map(({ id }) => id)]);
  });

  it('are no loss when they are removed before the copy has come to them', async () => {
    const { app } = history;
    const account = await app.createAccount();
    const { accountId, workspaceId } = account;
    const destination = await createDestination(
      app,
      { url: 'https://example.com' },
      { accountId, workspaceId, privacyMode: true },
    );
    app.clock.set(new Date(Date.now() - 2 * HOUR).toISOString());
    await append([contentOfText('private')], {}, account);
    await app.sql('UPDATE destinations SET privacy_mode = false WHERE id = $1', [destination.id]);
    await app.sql("UPDATE destinations SET private_until = now() - interval '1 hour' WHERE id = $1", [
      destination.id,
    ]);
    expect(await contents().removeOlderThan(new Date(app.clock.now().getTime() + 1))).toBe(0);
    expect(await stored(account)).toBe(0);
  });
});

describe('GET /generation/content', () => {
  it('reads nothing from the history that was never stored', async () => {
    const [generation] = await append([null]);
    await history.copyAll();
    history.server.always('reset');
    expect(expectError(await read(generation!), 404)).toContain('neither the log nor the history has it');
  });

  // The last one: after a failure the history is not queried for a while.
  it('returns 503 for a removed content while the history is away or slow, and others from the log', async () => {
    const [copied] = await append([contentOfText('copied')]);
    await history.copyAll();
    await removed();
    const [fresh] = await append([contentOfText('fresh')]);
    history.server.always({
      status: 500,
      headers: { 'x-clickhouse-exception-code': '159' },
      body: 'Code: 159. DB::Exception: (TIMEOUT_EXCEEDED)',
    });
    expect(expectError(await read(copied!), 503)).toContain('the history took too long');
    history.server.always('reset');
    const away = await read(copied!);
    expect(expectError(away, 503)).toContain('the history cannot be reached');
    expect(away.headers['retry-after']).toBe('10');
    expect((await read(fresh!)).status).toBe(200);
  });
});
