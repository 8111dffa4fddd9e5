// The rotation of encryption keys on a real PostgreSQL: afterwards no row needs the old key.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { readAppConfig } from '../../src/config/app-config.js';
import { ConfigCipher } from '../../src/persistence/encryption/config-cipher.js';
import { Database } from '../../src/persistence/database/database.js';
import { DestinationsRepository } from '../../src/persistence/destinations/destinations.repository.js';
import { GenerationReader } from '../../src/persistence/generations/generation-reader.js';
import { rotateEncryption } from '../../src/upkeep/encryption-rotation.js';
import type { RotationProgress } from '../../src/upkeep/encryption-rotation.js';
import { askFor } from '../support/requests/admin.js';
import { TEST_ENCRYPTION_KEY } from '../support/app/app.js';
import type { TestApp } from '../support/app/app.js';
import { contentOfText } from '../support/generations/generation.js';
import { createDeliveryApp, createDestination, recordGenerations } from '../support/deliveries/deliveries.js';
import { eventually } from '../support/eventually.js';
import { createNotification } from '../support/deliveries/notifications.js';

const NEW_KEY = Buffer.alloc(32, 9).toString('base64');
const cipherWith = (keys: string): ConfigCipher =>
  new ConfigCipher(readAppConfig({ DATABASE_URL: app.databaseUrl, ENCRYPTION_KEYS: keys }, []));

let app: TestApp;
beforeAll(async () => {
  app = await createDeliveryApp();
});
afterAll(() => app.close());

it('re-encrypts all rows in steps, is recorded, and finds nothing in a second run', async () => {
  const { id } = await createDestination(app, { url: 'http://127.0.0.1:1', headers: { 'X-Secret': 'kept' } });
  // Large contents have their own row; small ones share a few.
  await recordGenerations(app, 449, {}, contentOfText('x'.repeat(9_000)));
  await recordGenerations(app, 20);
  // Deleted rows: one has no secret any more, and the key of the other may be lost.
  const body = { provider: 'openai', key: 'sk-own-0123456789-abcd' };
  const { data } = await askFor<{ data: { id: string } }>(201, app, 'post', '/byok', { body });
  await askFor(200, app, 'delete', `/byok/${data.id}`);
  await askFor(201, app, 'post', '/byok', { body });
  const { id: deleted } = await createDestination(app, { url: 'http://127.0.0.1:1' });
  await app.sql(
    `UPDATE destinations SET deleted_at = now(), slot = NULL, config_encryption_key_id = 'lost' WHERE id = $1`,
    [deleted],
  );
  // Disabled, so that no delivery changes its cursor.
  const { id: paused } = await createDestination(app, { url: 'http://127.0.0.1:1' }, { enabled: false });
  await app.sql('UPDATE delivery_cursors SET failures = 7, paused_at = now() WHERE destination_id = $1', [
    paused,
  ]);
  await createNotification(app, 'http://127.0.0.1:1');
  // Of another account, which has nothing else that is encrypted.
  const other = await app.createAccount();
  await createNotification(app, 'http://127.0.0.1:1', {}, other.managementKey);
  const database = app.application.get(Database);
  const rotate = async (): Promise<RotationProgress[]> => {
    const reports: RotationProgress[] = [];
    await rotateEncryption(database, cipherWith(`${NEW_KEY},${TEST_ENCRYPTION_KEY}`), (progress) => {
      reports.push(progress);
    });
    return reports;
  };
  const totals = (reports: RotationProgress[]) =>
    Object.fromEntries(reports.map(({ table, rotated }) => [table, rotated]));
  // Texts of platforms as well, which deliveries still write with the old key here.
  expect(totals(await rotate())).toEqual({
    dead_letters: 0,
    delivery_cursors: expect.any(Number),
    destinations: 2,
    notification_rules: 2,
    provider_credentials: 1,
    generation_contents: 450,
  });
  const [cursor] = await app.sql(
    'SELECT failures, paused_at FROM delivery_cursors WHERE destination_id = $1',
    [paused],
  );
  expect(cursor).toEqual({ failures: 7, paused_at: expect.any(Date) });
  const entries = () =>
    app.sql<{ account_id: string; after: object }>(
      "SELECT account_id, after FROM audit_log WHERE object_type = 'encryption_key' AND action = 'rotate'",
    );
  const after = { key_ids: [cipherWith(NEW_KEY).currentKeyId] };
  const recorded = [app.accountId, other.accountId].map((accountId) => ({ account_id: accountId, after }));
  expect(await entries()).toEqual(expect.arrayContaining(recorded));
  expect(totals(await rotate())).toMatchObject({
    destinations: 0,
    notification_rules: 0,
    provider_credentials: 0,
    generation_contents: 0,
  });
  expect(await entries()).toHaveLength(2);
  expect(await askFor(200, app, 'get', '/audit?object_type=encryption_key')).toMatchObject({
    data: [{ action: 'rotate', actor: { key_label: 'operator' } }],
  });
  const [row] = await app.sql<{ config_ciphertext: Buffer; config_encryption_key_id: string }>(
    'SELECT config_ciphertext, config_encryption_key_id FROM destinations WHERE id = $1',
    [id],
  );
  const encrypted = {
    ciphertext: row?.config_ciphertext ?? Buffer.alloc(0),
    encryptionKeyId: row?.config_encryption_key_id ?? '',
  };
  expect(cipherWith(NEW_KEY).decrypt(encrypted, id)).toMatchObject({ headers: { 'X-Secret': 'kept' } });
  // A service with the old key only returns an error for them, and keeps running.
  await expect(app.application.get(DestinationsRepository).find(app.accountId, id)).rejects.toThrow(
    /lacks the key/,
  );
  // Unreadable contents may come from a replica that received the new key first.
  const reader = app.application.get(GenerationReader);
  // A transaction of another database of the server delays what is read.
  const { entries: logged } = await eventually(
    () => reader.readAfter(app.key.workspaceId, { transaction: 0n, ordinal: 0 }, new Date(0), 10),
    (page) => page.entries.length === 10,
  );
  await expect(reader.readContents(app.key.workspaceId, logged)).rejects.toMatchObject({
    code: 'unavailable',
  });
  app.clock.advance(15 * 60_000);
  expect(await reader.readContents(app.key.workspaceId, logged)).toEqual(new Map());
});

it('names unreadable rows, re-encrypts all others, and fails at the end', async () => {
  const body = { provider: 'openai', key: 'sk-own-0123456789-abcd' };
  const create = async () =>
    (await askFor<{ data: { id: string } }>(201, app, 'post', '/byok', { body })).data.id;
  const [copied, unreadable, readable] = [await create(), await create(), await create()];
  await app.sql(
    `UPDATE provider_credentials SET ciphertext = (SELECT ciphertext FROM provider_credentials WHERE id = $2)
     WHERE id = $1`,
    [unreadable, copied],
  );
  const named: string[] = [];
  const rotation = rotateEncryption(
    app.application.get(Database),
    cipherWith(`${NEW_KEY},${TEST_ENCRYPTION_KEY}`),
    (progress) => named.push(...progress.unreadable),
  );
  await expect(rotation).rejects.toThrow(/^1 row could not be decrypted/);
  expect(named).toEqual([unreadable]);
  const keyIdOf = async (id: string) =>
    (await app.sql('SELECT encryption_key_id FROM provider_credentials WHERE id = $1', [id]))[0];
  const rotated = { encryption_key_id: cipherWith(NEW_KEY).currentKeyId };
  expect([await keyIdOf(copied), await keyIdOf(unreadable), await keyIdOf(readable)]).toEqual([
    rotated,
    { encryption_key_id: cipherWith(TEST_ENCRYPTION_KEY).currentKeyId },
    rotated,
  ]);
});
