// The copy of the log in a real ClickHouse: every generation once, whatever interrupts it.
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { HistoryCopier } from '../../src/history/history-copier.js';
import { GenerationPublisher } from '../../src/deliveries/generation-publisher.js';
import { ActivityRollup } from '../../src/upkeep/activity-rollup.js';
import { Metrics } from '../../src/config/metrics.js';
import { GenerationContents } from '../../src/persistence/contents/generation-contents.js';
import { GenerationLog } from '../../src/persistence/generations/generation-log.js';
import { HistoryCopyRepository } from '../../src/persistence/history/history-copy.repository.js';
import { HISTORY_COLUMNS } from '../../src/persistence/history/history-columns.js';
import { ask } from '../../test/support/requests/admin.js';
import { createChatFacts } from '../../test/support/generations/chat-generation.js';
import { expectError } from '../../test/support/requests/error-shape.js';
import { contentOfText, createGeneration } from '../../test/support/generations/generation.js';
import { untilSummedUp } from '../../test/support/database/rollups.js';
import { CONTENTS, createHistoryApp, DATABASE, TABLE } from './history-app.js';
import type { HistoryApp } from './history-app.js';

const USD = 1_000_000_000_000n;

let history: HistoryApp;
beforeAll(async () => {
  history = await createHistoryApp();
});
afterAll(() => history.close());
afterEach(() => {
  history.server.always(null);
  jest.restoreAllMocks();
});

const countOf = (from: string): number =>
  Number(history.front.query(`SELECT count() AS rows FROM ${from}`)[0]!['rows']);
const idsOf = (): string[] =>
  history.front
    .query(`SELECT toString(id) AS id FROM ${TABLE} FINAL ORDER BY id`)
    .map(({ id }) => String(id));
const logged = async (): Promise<string[]> =>
  (await history.app.sql<{ id: string }>('SELECT id FROM generations')).map(({ id }) => id);
async function metric(name: string): Promise<number> {
  const text = await history.app.application.get(Metrics).registry.metrics();
  return Number(new RegExp(`^${name} ([\\d.e+-]+)$`, 'm').exec(text)?.[1]);
}

describe('a copied generation', () => {
  it('has every column of the log, with exact amounts, and unusual texts unchanged', async () => {
    const hostile = `it's \\ "quoted" \t\n\u0001 🙂 {p0:String} \u2028`;
    await history.append([
      createGeneration(history.app.key, {
        createdAt: new Date('2026-11-17T23:59:59.999Z'),
        operation: 'chat',
        chat: createChatFacts(),
        cost: 123_456_789_012n * USD - 1n,
        upstreamCost: 1n,
        isByok: true,
        userId: hostile,
        sessionId: 'session',
        trace: { name: hostile, nested: { numbers: [1, 1.5, 1e21] } },
        attempts: [],
      }),
      createGeneration(history.app.key, {
        endpoint: null,
        provider: null,
        errorType: 'provider_error',
        status: 502,
        cost: null,
        upstreamCost: null,
      }),
    ]);
    await history.copyAll();
    const columns = Object.keys(HISTORY_COLUMNS);
    const textOf = (column: string): string => {
      if (column === 'created_at') return "to_char(created_at, 'YYYY-MM-DD HH24:MI:SS.MS')";
      return column.endsWith('cost') ? `trim_scale(${column})::text` : `${column}::text`;
    };
    const ofLog = await history.app.sql(
      `SELECT ${columns.map((column) => `${textOf(column)} AS ${column}`).join(', ')} FROM generations ORDER BY generations.id`,
    );
    const ofHistory = history.front.query(
      `SELECT ${columns.map((column) => `toString(${column}) AS ${column}`).join(', ')} FROM ${TABLE} FINAL ORDER BY toString(${TABLE}.id)`,
    );
    expect(ofHistory).toEqual(ofLog);
    expect(ofHistory).toHaveLength(2);
  });

  it('is counted, and the lag of the copy is known', async () => {
    const before = await metric('signalbox_history_copied_total');
    await history.append([createGeneration(history.app.key)]);
    await history.copyAll();
    expect((await metric('signalbox_history_copied_total')) - before).toBe(1);
    await history.app.sql("UPDATE history_copy SET copied_until = now() - interval '1 hour'");
    const copies = history.app.application.get(HistoryCopyRepository);
    expect((await copies.readState()).lag).toBeGreaterThanOrEqual(3_600);
  });
});

describe('an interrupted copy', () => {
  it('copies again what it had stored before its cursor moved, and doubles nothing', async () => {
    await history.append(Array.from({ length: 7 }, () => createGeneration(history.app.key)));
    history.front.query(`SYSTEM STOP MERGES ${TABLE}`);
    const copies = history.app.application.get(HistoryCopyRepository);
    jest.spyOn(copies, 'move').mockRejectedValueOnce(new Error('killed'));
    await expect(history.copyAll({ workspaces: 500, rows: 5 })).rejects.toThrow('killed');
    // Other blocks than before: no token of a block prevents duplicates.
    await history.copyAll({ workspaces: 500, rows: 3 });
    expect(idsOf().toSorted()).toEqual((await logged()).toSorted());
    expect(countOf(TABLE)).toBeGreaterThan(countOf(`${TABLE} FINAL`));
    history.front.query(`SYSTEM START MERGES ${TABLE}`);
    history.front.query(`OPTIMIZE TABLE ${TABLE} FINAL`);
    expect(countOf(TABLE)).toBe((await logged()).length);
  });

  it('stores a repeated block once', async () => {
    await history.append(Array.from({ length: 4 }, () => createGeneration(history.app.key)));
    const copies = history.app.application.get(HistoryCopyRepository);
    jest.spyOn(copies, 'move').mockRejectedValueOnce(new Error('killed'));
    await expect(history.copyAll()).rejects.toThrow('killed');
    await history.copyAll();
    expect(countOf(TABLE)).toBe((await logged()).length);
  });

  it('waits while ClickHouse is away, and continues', async () => {
    await history.append([createGeneration(history.app.key)]);
    for (const script of [
      { status: 500, body: 'Code: 242. DB::Exception (TABLE_IS_READ_ONLY)' },
      'reset',
    ] as const) {
      history.server.always(script);
      await expect(history.copy()).rejects.toThrow(/ClickHouse/);
      history.server.always(null);
    }
    expect(idsOf()).toHaveLength((await logged()).length - 1);
    await history.copyAll();
    expect(idsOf()).toHaveLength((await logged()).length);
  });

  it('notes its lag when a pass begins, and when it fails', async () => {
    await history.copyAll();
    const lagFor = (hours: number) =>
      history.app.sql(
        `UPDATE history_copy SET copied_until = now() - interval '${hours} hours', marked_at = now() - interval '${hours} hours'`,
      );
    const { application } = history.app;
    const copy = () => application.get(HistoryCopier).copyPending();
    history.server.always('reset');
    await lagFor(2);
    await expect(copy()).rejects.toThrow(/ClickHouse/);
    expect(await metric('signalbox_history_lag_seconds')).toBeGreaterThanOrEqual(2 * 3_600);
    history.server.always(null);
    jest.spyOn(application.get(HistoryCopyRepository), 'beginPass').mockImplementationOnce(async () => {
      await lagFor(3);
      throw new Error('killed');
    });
    await expect(copy()).rejects.toThrow('killed');
    expect(await metric('signalbox_history_lag_seconds')).toBeGreaterThanOrEqual(3 * 3_600);
    await history.copyAll();
    expect(await metric('signalbox_history_lag_seconds')).toBeLessThan(60);
  });

  it('notes the lag of a copy that never succeeded since its first attempt', async () => {
    await history.app.sql(
      `UPDATE history_copy SET copied_until = NULL, marked_at = NULL, mark_transaction = DEFAULT,
         begun_at = now() - interval '2 hours'`,
    );
    history.server.always('reset');
    await expect(history.app.application.get(HistoryCopier).copyPending()).rejects.toThrow(/ClickHouse/);
    expect(await metric('signalbox_history_lag_seconds')).toBeGreaterThanOrEqual(2 * 3_600);
    history.server.always(null);
    await history.copyAll();
    expect(await metric('signalbox_history_lag_seconds')).toBeLessThan(60);
  });

  it('holds the retention of the log back, as other readers do', async () => {
    await history.append([createGeneration(history.app.key)]);
    const reader = async (): Promise<string | null | undefined> => {
      await history.app.application.get(ActivityRollup).catchUp(0);
      const [row] = await history.app.sql<{ reader: string | null }>(
        "SELECT time_partition_reader('generations_2026_11_18') AS reader",
      );
      return row?.reader;
    };
    expect(['activity', 'history']).toContain(await reader());
    await untilSummedUp(history.app);
    // The copy has not read it.
    expect(await reader()).toBe('history');
    await history.copyAll();
    expect(await reader()).toBeNull();
  });
});

describe('without HISTORY_CONTENTS', () => {
  it('no content is copied, kept for the copy, or read from the history', async () => {
    const { application, workspaceId, key, clock, apiKey } = history.app;
    const content = contentOfText('stays here');
    const publisher = application.get(GenerationPublisher);
    const generation = createGeneration(key, { createdAt: clock.now() });
    expect(await publisher.toStore(generation, () => content)).toEqual({ generation, content: null });
    await application.get(GenerationLog).append(generation, [], content);
    const path = `/generation/content?id=${generation.id}`;
    expect((await ask(history.app, 'get', path, { key: apiKey })).text).toContain('stays here');
    await application.get(GenerationContents).removePassed([workspaceId]);
    expect(await history.app.sql('SELECT FROM generation_contents')).toEqual([]);
    await history.copyAll();
    expect(countOf(CONTENTS)).toBe(0);
    history.server.forgetRequests();
    expect(expectError(await ask(history.app, 'get', path, { key: apiKey }), 404)).toContain(
      'it is kept only until all destinations that need it have it, and for a day at most',
    );
    expect(history.server.requests).toEqual([]);
  });
});

describe('several processes', () => {
  it('copy one at a time, and another continues when the lease ends', async () => {
    await history.append([createGeneration(history.app.key)]);
    const copies = history.app.application.get(HistoryCopyRepository);
    await history.app.sql(
      "UPDATE history_copy SET owner = 'other', leased_until = now() + interval '1 minute'",
    );
    const copied = idsOf().length;
    await history.app.application.get(HistoryCopier).copyPending();
    expect(idsOf()).toHaveLength(copied);
    expect(await copies.claim('third')).toBe(false);
    await history.app.sql('UPDATE history_copy SET leased_until = now()');
    await history.copyAll();
    expect(idsOf()).toHaveLength(copied + 1);
  });
});

describe('the tables', () => {
  it('are filled again from the log after they were lost', async () => {
    history.front.query(`DROP DATABASE ${DATABASE}`);
    await history.copyAll();
    expect(idsOf().toSorted()).toEqual((await logged()).toSorted());
  });

  it('stay as they are at later starts', async () => {
    const read = () => history.front.query(`SELECT * FROM ${DATABASE}.history_versions ORDER BY version`);
    const before = read();
    await history.copy();
    expect(read()).toEqual(before);
    expect(before).toHaveLength(3);
  });

  it('of an earlier version get the later ones, and are not filled again', async () => {
    const versions = `${DATABASE}.history_versions`;
    const later = (): unknown[] => [
      ...history.front.query(`SELECT version, identity FROM ${versions} WHERE version > 1 ORDER BY version`),
    ];
    const known = later();
    history.front.query(`ALTER TABLE ${versions} DELETE WHERE version > 1 SETTINGS mutations_sync = 1`);
    history.front.query(`DROP TABLE ${CONTENTS}`);
    const before = await metric('signalbox_history_copied_total');
    await history.copyAll();
    expect(later()).toEqual(known);
    expect(countOf(CONTENTS)).toBe(0);
    expect(await metric('signalbox_history_copied_total')).toBe(before);
  });
});
