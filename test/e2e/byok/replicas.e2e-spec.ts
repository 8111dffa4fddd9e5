// A change of an own provider key takes effect on every replica as soon as it is committed.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { TestApp } from '../../support/app/app.js';
import { embed, SMALL } from '../../support/requests/create-embedding.js';
import { eventually } from '../../support/eventually.js';
import { createCredential, SHARED_KEY, startWithKeys } from '../../support/requests/provider-credential.js';
import type { ByokSetup } from '../../support/requests/provider-credential.js';

const OWN = 'own-key-to-be-revoked';

let setup: ByokSetup;
let replica: TestApp;
beforeAll(async () => {
  setup = await startWithKeys();
  replica = await setup.app.startReplica();
});
afterAll(async () => {
  await replica.close();
  await setup.close();
});

async function keysOf(app: TestApp): Promise<string> {
  await embed(app, { model: SMALL, input: 'hello', dimensions: 2 }, setup.app.apiKey);
  return setup.takeKeys().join();
}

async function expectOnBoth(key: string): Promise<void> {
  for (const app of [setup.app, replica]) {
    await eventually(
      () => keysOf(app),
      (keys) => keys === key,
    );
    expect(await keysOf(app)).toBe(key);
  }
}

it.each([
  ['disabled', 'UPDATE provider_credentials SET disabled = true WHERE id = $1'],
  ['marked as deleted', 'UPDATE provider_credentials SET deleted_at = now() WHERE id = $1'],
  ['removed', 'DELETE FROM provider_credentials WHERE id = $1'],
])('stops serving calls on every replica when it is %s', async (_name, statement) => {
  await expectOnBoth(SHARED_KEY);
  const { id } = await createCredential(setup.app, { apiKey: OWN });
  await expectOnBoth(OWN);
  await setup.app.sql(statement, [id]);
  await expectOnBoth(SHARED_KEY);
});
