// Own keys in the console: an administrator sets their bounds, and a developer makes one within them.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import {
  describeInChromium,
  expectAccessibleEverywhere,
  openConsole,
  visit,
} from '../support/app/chromium.js';
import type { OpenConsole } from '../support/app/chromium.js';
import { startConsole } from '../support/app/console-app.js';
import type { ConsoleSetup } from '../support/app/console-app.js';
import { createPerson } from '../support/app/people.js';
import type { TestPerson } from '../support/app/people.js';
import { ask, askFor } from '../support/requests/admin.js';

async function openAs(setup: ConsoleSetup, { cookie }: TestPerson): Promise<OpenConsole> {
  const session = await openConsole(setup.browser, setup.app, { key: null });
  const [name = '', value = ''] = cookie.split('=');
  await session.context.addCookies([
    { name, value, url: setup.app.origin, httpOnly: true, sameSite: 'Strict' },
  ]);
  return session;
}

describeInChromium('own keys in the console', () => {
  let setup: ConsoleSetup;
  let developer: TestPerson;
  let session: OpenConsole;
  let page: Page;
  let secret = '';
  beforeAll(async () => {
    setup = await startConsole();
    developer = await createPerson(setup.app, { workspaces: { [setup.app.workspaceId]: 'member' } });
    session = await openAs(setup, developer);
    page = session.page;
  });
  afterAll(() => setup.close());

  const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
  const fill = (label: string, text: string) => page.getByLabel(label, { exact: true }).fill(text);
  const policyPath = () => `/workspaces/${setup.app.workspaceId}/own-key-policy`;

  it('says to a developer that own keys are off before there are bounds', async () => {
    await visit(page, '/my-keys', 'My keys');
    await page.getByText('Own keys are off in this workspace').waitFor();
    expect(await page.getByRole('button', { name: 'Create key' }).count()).toBe(0);
    await expectAccessibleEverywhere(page);
  });

  it('lets an administrator set the bounds on the page of the workspace, and names a bad one', async () => {
    const admin = await openConsole(setup.browser, setup.app);
    const of = admin.page;
    await visit(of, `/workspaces/${setup.app.workspaceId}`, 'Default');
    await of.getByText('Developers make no keys for themselves').waitFor();
    await of.getByRole('button', { name: 'Allow own keys' }).click();
    await of.getByLabel('Keys of one person').fill('1');
    await of.getByLabel('Highest limit').fill('20');
    await of.getByLabel('Limit of keys that name none').fill('50');
    await of.getByLabel('Days until a key expires').fill('30');
    admin.expectStatus(400);
    await of.getByRole('button', { name: 'Save' }).click();
    await of.getByText('Must be at most max_limit').waitFor();
    await expectAccessibleEverywhere(of);
    await of.getByLabel('Limit of keys that name none').fill('5');
    await of.getByRole('button', { name: 'Save' }).click();
    await of.getByText('Within 30 days').waitFor();
    await expectAccessibleEverywhere(of);
    expect(await askFor(200, setup.app, 'get', policyPath())).toMatchObject({
      data: {
        enabled: true,
        max_keys: 1,
        default_limit: 5,
        max_limit: 20,
        limit_reset: 'monthly',
        max_days: 30,
        include_byok_in_limit: false,
      },
    });
    expect(admin.complaints).toEqual([]);
    await admin.close();
  });

  it('makes a key within the bounds, and names the bound that a key would pass (V57, V58)', async () => {
    await visit(page, '/my-keys', 'My keys');
    await page.getByText(/At most 1$/).waitFor();
    await page.getByRole('button', { name: 'Create key' }).first().click();
    await fill('Name', 'Laptop');
    await fill('Spend limit', '20.01');
    session.expectStatus(403);
    await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click();
    await page.getByText(/^Must be at most 20/).waitFor();
    await expectAccessibleEverywhere(page);
    await fill('Spend limit', '20');
    await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click();
    secret = (await page.getByTestId('secret').textContent()) ?? '';
    await press('Done');
    await page.getByRole('link', { name: 'Laptop' }).waitFor();
    await page.getByText(/You have 1 of 1 keys/).waitFor();
    await page.getByText(`export ANTHROPIC_AUTH_TOKEN=${secret}`).waitFor();
    const { data } = await askFor<{ data: Record<string, unknown> }>(200, setup.app, 'get', '/key', {
      key: secret,
    });
    expect(data).toMatchObject({ limit: 20, limit_reset: 'monthly', creator_user_id: developer.id });
  });

  it('shows the own budget beside the keys, the usage, and the models that guardrails leave', async () => {
    const { data } = await askFor<{ data: { id: string } }>(201, setup.app, 'post', '/guardrails', {
      body: {
        name: 'Developers',
        allowed_models: ['local/hashing', 'local/echo'],
        limit_usd: 3,
        reset_interval: 'weekly',
      },
    });
    await ask(setup.app, 'post', `/guardrails/${data.id}/assignments/members`, {
      body: { member_user_ids: [developer.id] },
    });
    await ask(setup.app, 'post', '/embeddings', {
      key: secret,
      body: { model: 'local/hashing', input: 'one' },
    });
    await page.reload();
    await page.getByRole('meter', { name: 'Spend of all my keys' }).waitFor();
    await page.getByRole('link', { name: 'Developers' }).waitFor();
    await page.getByText('2 models', { exact: true }).waitFor();
    await page.getByRole('row', { name: /local\/hashing/ }).waitFor();
    await expectAccessibleEverywhere(page);
  });

  it('rotates the key, whose former secret ends at once without a grace period', async () => {
    await press('Actions for Laptop');
    await page.getByRole('menuitem', { name: 'Rotate' }).click();
    await page.getByLabel('Grace period of the old key').selectOption('0');
    await press('Rotate');
    const rotated = (await page.getByTestId('secret').textContent()) ?? '';
    await press('Done');
    expect((await ask(setup.app, 'get', '/key', { key: rotated })).status).toBe(200);
    expect((await ask(setup.app, 'get', '/key', { key: secret })).status).toBe(401);
    expect(session.complaints).toEqual([]);
  });

  it('consents to a key for a program within the bounds of the workspace', async () => {
    const address = new URLSearchParams({
      callback_url: 'http://127.0.0.1:9/callback',
      code_challenge: 'a'.repeat(43),
      code_challenge_method: 'S256',
      limit: '21',
    });
    await visit(page, `/auth?${address.toString()}`, 'A program asks for a key');
    await page.getByText(/^At most \$20\.00 a month/).waitFor();
    await page.getByText(/your own budget there/).waitFor();
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.getByText(/^Must be at most 20/).waitFor();
    await expectAccessibleEverywhere(page);
    expect(session.complaints).toEqual([]);
  });

  it('says to a session of a management key that the page is for people', async () => {
    const admin = await openConsole(setup.browser, setup.app);
    await visit(admin.page, '/my-keys', 'My keys');
    await admin.page.getByText('You are signed in with a key').waitFor();
    await expectAccessibleEverywhere(admin.page);
    expect(admin.complaints).toEqual([]);
    await admin.close();
  });
});
