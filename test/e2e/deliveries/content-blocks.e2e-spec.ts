// Contents that share a block: each call is delivered with its own, and a block stays while one of its calls needs it.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { ConfigCipher } from '../../../src/persistence/encryption/config-cipher.js';
import { GenerationContents } from '../../../src/persistence/contents/generation-contents.js';
import { GenerationLog } from '../../../src/persistence/generations/generation-log.js';
import type { TestApp } from '../../support/app/app.js';
import {
  createDeliveryApp,
  createDestination,
  readCursor,
  untilDelivered,
} from '../../support/deliveries/deliveries.js';
import { deleteAllDestinations } from '../../support/requests/create-destination.js';
import { eventually } from '../../support/eventually.js';
import { contentOfText, createGeneration } from '../../support/generations/generation.js';
import { startReceiver } from '../../support/receivers/receiver.js';
import type { ReceivedDelivery, RunningReceiver } from '../../support/receivers/receiver.js';
import { generationsIn, spansIn, traceCollector } from '../../support/deliveries/trace-collector.js';

let app: TestApp;
let receiver: RunningReceiver;
let poison: string | undefined;
beforeAll(async () => {
  app = await createDeliveryApp();
});
beforeEach(async () => {
  poison = undefined;
  receiver = await startReceiver({
    check: (request) =>
      poison !== undefined && generationsIn(request).includes(poison)
        ? { reply: { status: 422, body: 'no' }, stored: [] }
        : traceCollector.check(request),
  });
});
afterEach(async () => {
  await deleteAllDestinations(app);
  await app.sql('DELETE FROM generation_contents');
  await receiver.close();
});
afterAll(() => app.close());

/** Appends one generation for each text in one batch, and returns their ids. */
async function appendTogether(texts: readonly string[]): Promise<string[]> {
  const log = app.application.get(GenerationLog);
  const generations = texts.map(() => createGeneration(app.key, { createdAt: app.clock.now() }));
  await Promise.all(
    generations.map((generation, index) => log.append(generation, [], contentOfText(texts[index]!))),
  );
  return generations.map(({ id }) => id);
}

const blocks = () =>
  app.sql<{ generation_id: string; generation_ids: string[] | null }>('SELECT * FROM generation_contents');

/** The text of each span by the generation's id, from its last request. */
function textsIn(requests: readonly ReceivedDelivery[]): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const request of requests) {
    const spans = spansIn(request);
    for (const [index, id] of generationsIn(request).entries())
      texts[id] = /text \d+ of many/.exec(JSON.stringify(spans[index]))?.[0] ?? 'none';
  }
  return texts;
}

const TEXTS = Array.from({ length: 30 }, (_value, index) => `text ${index} of many`);
const textsBy = (ids: readonly string[]) =>
  Object.fromEntries(ids.map((id, index) => [id, TEXTS[index]] as const));

describe('contents appended together', () => {
  it('share a row, are delivered with their own calls, and are removed when the last has passed', async () => {
    receiver.always({ status: 503 });
    const { id } = await createDestination(app, { url: receiver.origin });
    const ids = await appendTogether(TEXTS);
    const stored = await blocks();
    expect(stored.length).toBeLessThan(5);
    expect(stored.flatMap((block) => block.generation_ids ?? [block.generation_id]).toSorted()).toEqual(
      ids.toSorted(),
    );
    receiver.always(null);
    await untilDelivered(app, id, TEXTS.length);
    expect(textsIn(receiver.requests)).toEqual(textsBy(ids));
    await eventually(blocks, ({ length }) => length === 0);
  });

  it('stay while a dead letter of one of them may be replayed', async () => {
    receiver.always({ status: 503 });
    const { id } = await createDestination(app, { url: receiver.origin });
    const ids = await appendTogether(TEXTS);
    const [first] = ids;
    poison = first;
    receiver.always(null);
    await eventually(
      () => readCursor(app, id),
      ({ dropped, delivered }) => dropped['refused'] === 1 && Number(delivered) === TEXTS.length - 1,
    );
    const contents = app.application.get(GenerationContents);
    await contents.removePassed([app.workspaceId]);
    const kept = await blocks();
    expect(kept.flatMap((block) => block.generation_ids ?? [block.generation_id])).toContain(first);

    poison = undefined;
    const replay = { dead_letters: 'all' };
    await app.http
      .post(`/api/v1/observability/destinations/${id}/replay`)
      .set('authorization', `Bearer ${app.managementKey}`)
      .send(replay)
      .expect(202);
    await untilDelivered(app, id, TEXTS.length);
    expect(textsIn(receiver.requests)).toEqual(textsBy(ids));
    await eventually(
      async () => {
        await contents.removePassed([app.workspaceId]);
        return blocks();
      },
      ({ length }) => length === 0,
    );
  });

  it('are found by any reader of one of them', async () => {
    receiver.always({ status: 503 });
    await createDestination(app, { url: receiver.origin });
    const ids = await appendTogether(TEXTS);
    for (const index of [0, 17, 29]) {
      const { body } = await app.http
        .get(`/api/v1/generation/content?id=${ids[index]}`)
        .set('authorization', `Bearer ${app.managementKey}`);
      expect(JSON.stringify(body)).toContain(`"${TEXTS[index]}"`);
    }
  });
});

describe('contents of an earlier version', () => {
  it('delivers contents of an earlier version, each in its own row', async () => {
    const { id } = await createDestination(app, { url: receiver.origin });
    // No reader passes the oldest open transaction: none sees the rows before they are those of an earlier version.
    const transaction = new pg.Client(app.databaseUrl);
    await transaction.connect();
    await transaction.query('BEGIN');
    await transaction.query('SELECT pg_current_xact_id()');
    const ids = await appendTogether(TEXTS);
    const cipher = app.application.get(ConfigCipher);
    for (const [index, generationId] of ids.entries()) {
      const { ciphertext, encryptionKeyId } = cipher.encrypt(contentOfText(TEXTS[index]!), generationId);
      await app.sql(
        `INSERT INTO generation_contents (generation_id, workspace_id, created_at, log_transaction, log_ordinal, ciphertext,
           encryption_key_id)
         SELECT id, workspace_id, created_at + interval '1 ms', log_transaction, log_ordinal, $2, $3 FROM generations
         WHERE id = $1`,
        [generationId, Buffer.from(ciphertext), encryptionKeyId],
      );
    }
    await app.sql('DELETE FROM generation_contents WHERE generation_ids IS NOT NULL');
    await app.sql(
      'UPDATE generations SET content_ordinal = NULL, content_bytes = NULL WHERE id = ANY($1::uuid[])',
      [ids],
    );
    await app.sql("UPDATE generation_contents SET created_at = created_at - interval '1 ms'");
    await transaction.query('COMMIT');
    await transaction.end();
    await untilDelivered(app, id, TEXTS.length);
    expect(textsIn(receiver.requests)).toEqual(textsBy(ids));
  });
});
