// Texts of platforms about a failure may repeat sent data: where they are stored, for how long, and to whom they are
// shown.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import type { Destination } from '../../../src/domain/destinations/destination.js';
import { AppConfig } from '../../../src/config/app-config.js';
import { ConfigCipher } from '../../../src/persistence/encryption/config-cipher.js';
import { Database } from '../../../src/persistence/database/database.js';
import { DeadLettersRepository } from '../../../src/persistence/deliveries/dead-letters.repository.js';
import { rotateEncryption } from '../../../src/upkeep/encryption-rotation.js';
import type { TestApp } from '../../support/app/app.js';
import {
  createDeliveryApp,
  createDestination,
  readCursor,
  recordGenerations,
} from '../../support/deliveries/deliveries.js';
import { DESTINATIONS, deleteAllDestinations } from '../../support/requests/create-destination.js';
import { eventually } from '../../support/eventually.js';
import { contentOfText } from '../../support/generations/generation.js';
import { startReceiver } from '../../support/receivers/receiver.js';
import type { RunningReceiver } from '../../support/receivers/receiver.js';
import { traceCollector } from '../../support/deliveries/trace-collector.js';

const MIGRATION = new URL(
  '../../../prisma/migrations/20261126130000_receivers/migration.sql',
  import.meta.url,
);
const INPUT = 'the-patient-is-called-canary';
const DAY = 24 * 3_600_000;

let app: TestApp;
let receiver: RunningReceiver;
beforeAll(async () => {
  app = await createDeliveryApp();
});
beforeEach(async () => {
  receiver = await startReceiver(traceCollector);
});
afterEach(async () => {
  await deleteAllDestinations(app);
  await receiver.close();
});
afterAll(() => app.close());

const get = async (id: string, path: string) =>
  (await app.http.get(`${DESTINATIONS}/${id}/${path}`).set('authorization', `Bearer ${app.managementKey}`))
    .body.data;
const dump = (id: string) =>
  app.sql(
    `SELECT row_to_json(c)::text AS cursor, (SELECT json_agg(d)::text FROM dead_letters AS d WHERE d.destination_id = $1) AS letters
     FROM delivery_cursors AS c WHERE destination_id = $1`,
    [id],
  );

/** A destination whose platform failed once, then rejected the generation, and repeated its input both times. */
async function fail(overrides: Partial<Destination> = {}): Promise<string> {
  const { id } = await createDestination(app, { url: receiver.origin }, overrides);
  receiver.always({ status: 503, body: `busy with ${INPUT}` });
  await recordGenerations(app, 1, {}, contentOfText(INPUT));
  const failed = await eventually(
    () => readCursor(app, id),
    ({ failures }) => failures > 0,
  );
  expect(failed.last_error_message).toBe(
    overrides.privacyMode === true ? 'HTTP 503' : `HTTP 503: busy with ${INPUT}`,
  );
  receiver.always({ status: 422, body: `cannot take ${INPUT}` });
  await eventually(
    () => readCursor(app, id),
    ({ dropped }) => dropped['refused'] === 1,
  );
  return id;
}

describe('the text of a platform', () => {
  it('is shown to operators and stored encrypted, beside the status in clear', async () => {
    const id = await fail();
    expect((await get(id, 'deliveries')).last_error.message).toBe(`HTTP 422: cannot take ${INPUT}`);
    expect((await get(id, 'dead-letters'))[0].message).toBe(`HTTP 422: cannot take ${INPUT}`);
    const stored = JSON.stringify(await dump(id));
    expect(stored).not.toContain('canary');
    expect(stored).toContain('HTTP 422');
    const bytes = await app.sql<{ message_ciphertext: Buffer }>(
      'SELECT message_ciphertext FROM dead_letters',
    );
    for (const row of bytes) expect(row.message_ciphertext.includes('canary')).toBe(false);
  });

  it('is removed with the contents after 24 hours; the status stays', async () => {
    const id = await fail();
    const letters = app.application.get(DeadLettersRepository);
    await letters.removeTexts(new Date(app.clock.now().getTime() - DAY));
    expect((await get(id, 'dead-letters'))[0].message).toContain(INPUT);
    const [later] = await app.sql<{ at: Date }>(
      `SELECT greatest(last_error_at, $2) + interval '1 second' AS at FROM delivery_cursors WHERE destination_id = $1`,
      [id, app.clock.now()],
    );
    await letters.removeTexts(later!.at);
    expect((await get(id, 'deliveries')).last_error.message).toBe('HTTP 422');
    expect((await get(id, 'dead-letters'))[0].message).toBe('HTTP 422');
    const rows = await app.sql(
      `SELECT 1 FROM dead_letters WHERE message_ciphertext IS NOT NULL AND destination_id = $1
       UNION ALL SELECT 1 FROM delivery_cursors WHERE last_error_ciphertext IS NOT NULL AND destination_id = $1`,
      [id],
    );
    expect(rows).toEqual([]);
  });

  it('is removed by the migration where earlier versions stored it in clear', async () => {
    const { id } = await createDestination(app, { url: receiver.origin }, { enabled: false });
    await app.sql(
      `INSERT INTO dead_letters (workspace_id, destination_id, generation_id, generation_created_at, reason, message)
       SELECT workspace_id, id, gen_random_uuid(), now(), 'refused', text FROM destinations,
         unnest(ARRAY['given up after 11 attempts: HTTP 500: canary', 'canary']) AS text WHERE id = $1`,
      [id],
    );
    await app.sql(
      `UPDATE delivery_cursors SET last_error_message = 'HTTP 503: canary' WHERE destination_id = $1`,
      [id],
    );
    await app.sql(await readFile(MIGRATION, 'utf8'));
    const letters = await app.sql<{ message: string }>(
      'SELECT message FROM dead_letters WHERE destination_id = $1 ORDER BY message',
      [id],
    );
    expect(letters).toEqual([{ message: '' }, { message: 'HTTP 500' }]);
    expect((await readCursor(app, id)).last_error_message).toBe('HTTP 503');
  });

  it('is reduced to the status in privacy mode before it is stored', async () => {
    const id = await fail({ privacyMode: true });
    expect((await get(id, 'deliveries')).last_error.message).toBe('HTTP 422');
    expect((await get(id, 'dead-letters'))[0].message).toBe('HTTP 422');
    expect(
      await app.sql('SELECT message_ciphertext FROM dead_letters WHERE destination_id = $1', [id]),
    ).toEqual([{ message_ciphertext: null }]);
  });

  it('is hidden as soon as privacy mode is on', async () => {
    const id = await fail();
    await app.http
      .patch(`${DESTINATIONS}/${id}`)
      .set('authorization', `Bearer ${app.managementKey}`)
      .send({ privacy_mode: true })
      .expect(200);
    expect((await get(id, 'deliveries')).last_error.message).toBe('HTTP 422');
    expect((await get(id, 'dead-letters'))[0].message).toBe('HTTP 422');
  });

  it('cannot be decrypted from the ciphertext of another row', async () => {
    const id = await fail();
    await app.sql(
      `UPDATE delivery_cursors SET last_error_ciphertext = config_ciphertext,
         last_error_encryption_key_id = config_encryption_key_id
       FROM destinations WHERE destinations.id = destination_id AND destination_id = $1`,
      [id],
    );
    expect((await get(id, 'deliveries')).last_error.message).toBe('HTTP 422');
    await app.sql('UPDATE delivery_cursors SET last_error_ciphertext = NULL WHERE destination_id = $1', [id]);
  });

  it('is re-encrypted by a rotation', async () => {
    const id = await fail();
    const keys = [...app.application.get(AppConfig).encryptionKeys];
    const rotated = new ConfigCipher({
      encryptionKeys: [{ id: 'next', bytes: Buffer.alloc(32, 7) }, ...keys],
    });
    const database = app.application.get(Database, { strict: false });
    await rotateEncryption(database, rotated, () => undefined);
    const ref = { workspaceId: app.workspaceId, destinationId: id };
    const letters = new DeadLettersRepository(database, rotated);
    const page = { offset: 0, limit: 10 };
    expect((await letters.list(ref, page)).letters[0]?.message).toBe(`HTTP 422: cannot take ${INPUT}`);
    const used = await app.sql(
      `SELECT message_encryption_key_id AS id FROM dead_letters WHERE destination_id = $1
       UNION ALL SELECT last_error_encryption_key_id FROM delivery_cursors WHERE destination_id = $1`,
      [id],
    );
    expect(used).toEqual([{ id: 'next' }, { id: 'next' }]);
    // A missing key costs only the text.
    const { letters: shown } = await app.application.get(DeadLettersRepository).list(ref, page);
    expect(shown[0]?.message).toBe('HTTP 422');
  });
});

it('masks an address that a receiver repeats in its text', async () => {
  const secret = '/hooks/T0001/s3cret-path-token?key=s3cret-query';
  const { id } = await createDestination(app, { url: `${receiver.origin}${secret}` });
  receiver.always({ status: 404, body: `Cannot POST ${secret} (s3cret-path-token)` });
  await recordGenerations(app, 1);
  await eventually(
    () => readCursor(app, id),
    ({ failures }) => failures > 0,
  );
  expect((await get(id, 'deliveries')).last_error.message).toBe('HTTP 404: Cannot POST **** (****)');
  const { body } = await app.http
    .post(`${DESTINATIONS}/${id}/test`)
    .set('authorization', `Bearer ${app.managementKey}`);
  expect(body.data.reason).toBe('HTTP 404: Cannot POST **** (****)');
});
