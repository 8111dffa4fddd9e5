// Contents of deleted workspaces in the history: none is copied after the deletion, and those that were copied are erased once.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Injectable } from '@nestjs/common';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { HistoryCopier } from '../../src/history/history-copier.js';
import { GenerationLog } from '../../src/persistence/generations/generation-log.js';
import { createTestApp } from '../support/app/app.js';
import type { TestApp } from '../support/app/app.js';
import { eventually } from '../support/eventually.js';
import { contentOfText, createGeneration } from '../support/generations/generation.js';

/** Copies when a test says so, and at no other moment. */
@Injectable()
class IdleCopier extends HistoryCopier {
  override onApplicationBootstrap(): void {
    // No pass begins.
  }
}

const UUID = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g;
const IDENTITY = randomUUID();
/** Requests of the copy, each as the statement and its rows. */
const requests: string[] = [];
/** As a `Distributed` table answers. */
let refusesMutations = false;

/** Knows the statements of the copy, and stores nothing. */
const server = createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => {
    const text = `${decodeURIComponent((request.url ?? '').replaceAll('+', ' '))}\n${Buffer.concat(parts).toString()}`;
    requests.push(text);
    const isRefused = refusesMutations && text.includes(' DELETE WHERE ');
    response.writeHead(isRefused ? 501 : 200, isRefused ? { 'x-clickhouse-exception-code': '48' } : {});
    response.end(answerTo(text));
  });
});

function answerTo(text: string): string {
  if (text.includes('system.databases')) return '1\n';
  return text.includes('AS version') ? JSON.stringify({ version: 2, identity: IDENTITY, rows: '2' }) : '';
}

let app: TestApp;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  app = await createTestApp({
    environment: {
      HISTORY_CLICKHOUSE_URL: `http://user:secret@127.0.0.1:${port}/history`,
      HISTORY_CONTENTS: 'true',
      GENERATION_RETENTION_DAYS: '0',
    },
    override: (testing) => testing.overrideProvider(HistoryCopier).useClass(IdleCopier),
  });
});
afterAll(async () => {
  await app?.close();
  server.closeAllConnections();
  server.close();
});

const copy = (): Promise<boolean> => app.application.get(HistoryCopier).copyPending();
const erasures = (): string[] => requests.filter((text) => text.includes('DELETE WHERE workspace_id IN'));
/** The workspaces of a statement, in order. */
const erasedBy = (text: string): string[] =>
  (/ IN \(([^)]*)\)/.exec(text)?.[1]?.match(UUID) ?? []).toSorted();
const insertsOf = (table: string, id: string): string[] =>
  requests.filter((text) => text.includes(`.${table} FORMAT`) && text.includes(id));

/** A call of the app's workspace with a content, once it is copied. */
async function copiedCall(): Promise<string> {
  const generation = createGeneration(app.key, { createdAt: new Date() });
  await app.application.get(GenerationLog).append(generation, [], contentOfText('secret'));
  // Other transactions of the server hold a pass back.
  await eventually(
    async () => {
      await copy();
      return insertsOf('generations', generation.id);
    },
    (found) => found.length > 0,
  );
  return generation.id;
}

const deleteWorkspace = (id: string, minutesAgo: number) =>
  app.sql(
    `UPDATE workspaces SET slug = NULL, deleted_at = now() - make_interval(secs => $2 * 60.0) WHERE id = $1`,
    [id, minutesAgo],
  );

/** Returns their ids. All have one moment of deletion. */
async function addDeleted(count: number, minutesAgo: number): Promise<string[]> {
  const rows = await app.sql<{ id: string }>(
    `INSERT INTO workspaces (id, account_id, name, deleted_at)
     SELECT gen_random_uuid(), $1, 'Deleted', now() - make_interval(secs => $2 * 60.0) FROM generate_series(1, $3::integer)
     RETURNING id`,
    [app.accountId, minutesAgo, count],
  );
  return rows.map(({ id }) => id);
}

it('erases the contents of a deleted workspace once, an hour after its last one was copied', async () => {
  const living = await copiedCall();
  expect(insertsOf('generation_contents', living)).toHaveLength(1);
  await deleteWorkspace(app.workspaceId, 30);
  const afterwards = await copiedCall();
  expect(insertsOf('generation_contents', afterwards)).toEqual([]);
  expect(erasures()).toEqual([]);
  await deleteWorkspace(app.workspaceId, 61);
  await copy();
  await copy();
  expect(erasures().map(erasedBy)).toEqual([[app.workspaceId]]);
  expect(erasures()[0]).toContain('ALTER TABLE `history`.generation_contents DELETE WHERE workspace_id IN (');
});

it('erases those of many workspaces in statements of some hundreds, and leaves out none of one moment', async () => {
  requests.length = 0;
  await app.sql("UPDATE history_copy SET erased_until = now() - interval '61 minutes'");
  const many = [...(await addDeleted(300, 60.9)), ...(await addDeleted(300, 60.8))];
  const others = await addDeleted(3, 60.7);
  for (let pass = 0; pass < 3; pass++) await copy();
  expect(erasures().map(erasedBy)).toEqual([many.toSorted(), others.toSorted()]);
});

it('continues to copy while the erasure is refused, and repeats it', async () => {
  requests.length = 0;
  const [id = ''] = await addDeleted(1, 60.2);
  refusesMutations = true;
  expect(await copy()).toBe(true);
  expect(await copy()).toBe(true);
  refusesMutations = false;
  expect(await copy()).toBe(true);
  expect(await copy()).toBe(true);
  expect(erasures().filter((text) => text.includes(id))).toHaveLength(3);
});
