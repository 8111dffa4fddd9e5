// The layers of the catalogue: the operator's file over stored rows, and rows that a process cannot read.
import { writeFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { CatalogueRevisionsRepository } from '../../../src/persistence/catalogue/catalogue-revisions.repository.js';
import { Notifications } from '../../../src/persistence/database/notifications.js';
import { CatalogueSource } from '../../../src/routing/catalogue-source.js';
import { StoredCatalogue } from '../../../src/routing/stored-catalogue.js';
import type { CatalogueModelDto } from '../../../src/models/dto/catalogue-model.dto.js';
import type { TestApp } from '../../support/app/app.js';
import { withCatalogueFile } from '../../support/catalogue/catalogue-file.js';
import { chatModel, priceRow, startOperatorApps } from '../../support/catalogue/operator-apps.js';
import type { OperatorApps } from '../../support/catalogue/operator-apps.js';
import { eventually } from '../../support/eventually.js';
import { askFor } from '../../support/requests/admin.js';
import { chatOf, postChat } from '../../support/upstreams/chat-upstream.js';

interface State {
  readonly version: number;
  readonly newest_version: number;
  readonly unread_revisions: readonly { readonly id: string; readonly problem: string }[];
}

const FILE = 'chat_models:\n  - { id: openai/gpt-4.1-mini, name: Of the file }\n';

let apps: OperatorApps;
let file: string;
let release: () => void;
beforeAll(async () => {
  await new Promise<void>((isStarted, reject) => {
    withCatalogueFile(FILE, async (path) => {
      file = path;
      apps = await startOperatorApps({ CATALOGUE_FILE: path });
      const released = new Promise<void>((resolve) => {
        release = resolve;
      });
      isStarted();
      await released;
    }).catch(reject);
  });
});
afterEach(() => {
  jest.restoreAllMocks();
});
afterAll(async () => {
  await apps.close();
  release();
});

async function stateOf(app: TestApp): Promise<State> {
  const { data } = await askFor<{ data: { catalogue: State } }>(200, app, 'get', '/system');
  return data.catalogue;
}

async function metricsOf(app: TestApp): Promise<string> {
  return (await app.http.get('/metrics')).text;
}

/** As a process of a later release stores it. */
async function store(kind: string, id: string, document: object): Promise<void> {
  await apps.app.sql(
    `INSERT INTO catalogue_revisions (version, scope, rank, kind, entry_id, document, actor, created_at)
     SELECT coalesce(max(version), 0) + 1, 'operator', 'operator', $1, $2, $3, 'sk-sb-v1-abc...xyz', now()
     FROM catalogue_revisions`,
    [kind, id, JSON.stringify({ id, ...document })],
  );
}

async function statusOf(app: TestApp, model: string): Promise<number> {
  const response = await postChat(app, { model });
  await response.text();
  return response.status;
}

const nameOf = (app: TestApp, id: string): string | undefined =>
  app.application.get(CatalogueSource).chatCatalogue.find(id)?.model.name;

describe('a model of CATALOGUE_FILE', () => {
  it('is changed by no operation (G10)', async () => {
    const answer = await apps.put('openai/gpt-4.1-mini', { name: 'Of the operator' });
    expect(answer.status).toBe(409);
    expect(JSON.stringify(answer.body)).toContain('CATALOGUE_FILE defines openai/gpt-4.1-mini');
  });

  it('keeps its members above a stored row, whose other members hold', async () => {
    const id = 'openai/gpt-4.1';
    await apps.put(id, { name: 'Of the operator', description: 'Stored' });
    const shown = () => {
      const { name, description } =
        apps.app.application.get(CatalogueSource).chatCatalogue.find(id)?.model ?? {};
      return { name, description };
    };
    expect(shown()).toEqual({ name: 'Of the operator', description: 'Stored' });
    await writeFile(file, `${FILE}  - { id: ${id}, name: Of the file }\n`);
    await apps.app.application.get(CatalogueSource).reload();
    expect(shown()).toEqual({ name: 'Of the file', description: 'Stored' });
    await writeFile(file, FILE);
    await apps.app.application.get(CatalogueSource).reload();
    expect(shown()).toEqual({ name: 'Of the operator', description: 'Stored' });
  });
});

describe('a row that a process cannot read', () => {
  it('leaves its model as it was, and the others apply (G12)', async () => {
    await apps.put('acme/kept', chatModel(1, 1, { name: 'Readable' }));
    await store('chat_models', 'acme/kept', { name: 'Unreadable', member_of_a_later_release: 1 });
    await store('songs', 'acme/song', { name: 'Unknown kind' });
    await store('chat_models', 'acme/after', chatModel(1, 1));
    for (const app of [apps.app, apps.replica]) {
      await app.application.get(StoredCatalogue).load();
      expect(nameOf(app, 'acme/kept')).toBe('Readable');
      expect(await statusOf(app, 'acme/after')).toBe(200);
      expect((await stateOf(app)).unread_revisions).toEqual([
        expect.objectContaining({
          id: 'acme/kept',
          problem: expect.stringMatching(/^member_of_a_later_release: is not known here/),
        }),
        expect.objectContaining({ id: 'acme/song', problem: 'this release knows no songs' }),
      ]);
      expect(await metricsOf(app)).toContain('signalbox_catalogue_stale 1');
    }
  });

  it('does not stop a start', async () => {
    const started = await apps.app.startReplica();
    try {
      expect(await statusOf(started, 'acme/after')).toBe(200);
      expect(await statusOf(started, 'acme/kept')).toBe(404);
      const { version, newest_version } = await stateOf(started);
      expect(version).toBe(newest_version);
    } finally {
      await started.close();
    }
  });

  it('ends to be stale with a revision that can be read', async () => {
    const { data } = await askFor<{ data: CatalogueModelDto }>(
      200,
      apps.app,
      'get',
      '/catalogue/models/acme/kept',
      {
        key: apps.operatorKey,
      },
    );
    expect(data.problem).toContain('member_of_a_later_release');
    await apps.put('acme/kept', chatModel(1, 1, { name: 'Repaired' }));
    await apps.app.sql("UPDATE catalogue_revisions SET kind = 'chat_models' WHERE kind = 'songs'");
    await store('chat_models', 'acme/song', chatModel(1, 1));
    await apps.app.application.get(StoredCatalogue).load();
    expect(nameOf(apps.app, 'acme/kept')).toBe('Repaired');
  });
});

describe('a process without notifications', () => {
  it('finds a change by its comparison, and shows until then that it lags (G5)', async () => {
    const revisions = apps.replica.application.get(CatalogueRevisionsRepository);
    // The notification comes, and nothing is read for it.
    const missed = jest.spyOn(revisions, 'changedAfter').mockRejectedValue(new Error('not now'));
    jest.spyOn(Logger.prototype, 'warn').mockReturnValue();
    await apps.put('acme/late', chatModel(1, 1));
    await apps.replica.application.get(Notifications).catchUp();
    expect(await statusOf(apps.replica, 'acme/late')).toBe(404);
    const { version, newest_version } = await stateOf(apps.replica);
    expect(version).toBeLessThan(newest_version);
    missed.mockRestore();
    await apps.replica.application.get(StoredCatalogue).load();
    expect(await statusOf(apps.replica, 'acme/late')).toBe(200);
  });
});

describe('a price', () => {
  it('of tomorrow holds from 00:00 UTC on (G14)', async () => {
    const { clock } = apps.app;
    const today = clock.now().toISOString().slice(0, 10);
    const midnight = Date.parse(`${today}T00:00:00Z`) + 86_400_000;
    const tomorrow = new Date(midnight).toISOString().slice(0, 10);
    const [endpoint] = (chatModel(1, 1) as { endpoints: object[] }).endpoints;
    const prices = [priceRow(1, 1), priceRow(9, 9, tomorrow)];
    await apps.put('acme/dearer', chatModel(1, 1, { endpoints: [{ ...endpoint, prices }] }));
    const costNow = async (): Promise<number> => {
      const { usage } = (await (await postChat(apps.app, { model: 'acme/dearer' })).json()) as {
        usage: { cost: number };
      };
      return usage.cost;
    };
    clock.advance(midnight - 1_000 - clock.now().getTime());
    expect(await costNow()).toBeCloseTo(12e-6, 12);
    clock.advance(2_000);
    expect(await costNow()).toBeCloseTo(108e-6, 12);
  });

  it('refuses a key under a limit where it is missing, and serves it at 0 (G15)', async () => {
    const [endpoint] = (chatModel(1, 1) as { endpoints: object[] }).endpoints;
    await apps.put('acme/unpriced', chatModel(1, 1, { endpoints: [{ ...endpoint, prices: [] }] }));
    await apps.put('acme/free', chatModel(0, 0));
    const poor = await apps.app.createKey({ limit: 1n });
    const statusFor = async (model: string): Promise<number> =>
      (await postChat(apps.app, { model }, { key: poor.secret })).status;
    expect(await statusFor('acme/unpriced')).toBe(404);
    expect(await statusFor('acme/free')).toBe(200);
  });

  it('of 0 is served to a key that is over its limit: nothing is to be reserved (G17)', async () => {
    await apps.put('acme/gratis', chatModel(0, 0));
    await apps.put('acme/priced', chatModel(1, 1));
    const { secret, record } = await apps.app.createKey();
    const statusFor = async (model: string): Promise<number> => {
      const response = await postChat(apps.app, { model }, { key: secret });
      await response.text();
      return response.status;
    };
    expect(await statusFor('acme/priced')).toBe(200);
    // 12 tokens of 1 USD a million are spent.
    expect((await chatOf(apps.app, record.id)).cost).toBe(12_000_000n);
    const path = `/keys/${record.hash}`;
    const changed = await askFor(200, apps.app, 'patch', path, { body: { limit: 0.000001 } });
    expect(changed).toMatchObject({ data: { limit_remaining: 0 } });
    await eventually(
      () => statusFor('acme/priced'),
      (status) => status === 402,
    );
    expect(await statusFor('acme/gratis')).toBe(200);
  });
});
