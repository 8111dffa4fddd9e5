// Guardrails in the console: added with filters that were tried, assigned, seen to match, set for a workspace, deleted.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { DailyHits } from '../../src/routing/guardrails/daily-hits.js';
import type { TestKey } from '../support/app/app.js';
import {
  describeInChromium,
  expectAccessible,
  expectAccessibleEverywhere,
  openConsole,
  visit,
} from '../support/app/chromium.js';
import type { OpenConsole } from '../support/app/chromium.js';
import { startConsole } from '../support/app/console-app.js';
import type { ConsoleSetup } from '../support/app/console-app.js';
import { eventually } from '../support/eventually.js';
import { askFor } from '../support/requests/admin.js';

describeInChromium('guardrails in the console', () => {
  let setup: ConsoleSetup;
  let session: OpenConsole;
  let page: Page;
  let key: TestKey;
  beforeAll(async () => {
    setup = await startConsole();
    key = await setup.app.createKey({ name: 'Support bot' });
    await askFor(200, setup.app, 'post', `/workspaces/${setup.app.workspaceId}/members/add`, {
      body: { user_ids: ['user_ann'] },
    });
    session = await openConsole(setup.browser, setup.app);
    page = session.page;
  });
  afterAll(() => setup.close());

  const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
  const fill = (label: string, text: string) => page.getByLabel(label, { exact: true }).fill(text);
  const guardrailId = () => String(new URL(page.url()).pathname.split('/').at(-1));

  it('says which steps come next when there is none', async () => {
    await visit(page, '/guardrails', 'Guardrails');
    await page.getByText('No guardrail yet').waitFor();
    await page.getByText('No guardrail governs every key of this workspace.').waitFor();
    await expectAccessibleEverywhere(page);
  });

  it('tries filters on a text before they are saved, and says why a pattern cannot work', async () => {
    await page.getByRole('link', { name: 'Add guardrail' }).first().click();
    await page.getByRole('heading', { name: 'Add a guardrail' }).waitFor();
    await page.getByLabel('Action for E-mail addresses').selectOption('redact');
    await press('Add pattern');
    await fill('Pattern 1', '(?<=a)b');
    await fill('Try the filters', 'Write to ann@example.com about PROJ-7');
    session.expectStatus(400);
    await press('Try');
    await page.getByText(/content_filters\[0\]\.pattern/).waitFor();
    await fill('Pattern 1', 'PROJ-[0-9]+');
    await fill('Label of pattern 1', 'PROJECT');
    await press('Try');
    await page.getByText('2 matches: E-mail addresses, PROJECT.').waitFor();
    await page.getByText('Write to [EMAIL] about [PROJECT]').waitFor();
    await page.getByLabel('Action of pattern 1').selectOption('block');
    await press('Try');
    await page.getByText('A call with this text is refused.').waitFor();
    await page.getByLabel('Action of pattern 1').selectOption('flag');
    await expectAccessibleEverywhere(page);
  });

  it('creates the guardrail with models, data policy and a limit, and shows its rules', async () => {
    await fill('Name', 'Customer support');
    await fill('Never these models', 'no/such-model');
    await fill('Limit', '5');
    session.expectStatus(400);
    await press('Create guardrail');
    await page.getByText('Entry 1 is no name of a model that GET /models lists').waitFor();
    await fill('Never these models', '');
    await fill('Only these models', 'local/hashing\nlocal/echo');
    await page.getByRole('switch', { name: 'Anthropic' }).click();
    await press('Create guardrail');
    await page.getByRole('heading', { name: 'Customer support' }).waitFor();
    await page.getByText('local/hashing', { exact: true }).waitFor();
    await page.getByText('PROJECT: Count').waitFor();
    await page.getByText(/\$5\.00 a day, for each key/).waitFor();
    const { data } = await askFor<{ data: Record<string, unknown> }>(
      200,
      setup.app,
      'get',
      `/guardrails/${guardrailId()}`,
    );
    expect(data).toMatchObject({
      allowed_models: ['local/hashing', 'local/echo'],
      enforce_zdr_anthropic: true,
      enforce_zdr_openai: null,
      limit_usd: 5,
      reset_interval: 'daily',
      content_filters: [{ pattern: 'PROJ-[0-9]+', action: 'flag', label: 'PROJECT' }],
    });
  });

  it('assigns it to a key and to a member, and says why it cannot', async () => {
    await press('Assign keys');
    await page.getByLabel('Support bot').check();
    await press('Assign');
    await page.getByRole('link', { name: 'Support bot' }).waitFor();
    await press('Assign members');
    await fill('User ids', 'user_bob');
    session.expectStatus(400);
    await press('Assign');
    await page
      .getByText(/user_bob/)
      .last()
      .waitFor();
    await fill('User ids', 'user_ann');
    await press('Assign');
    await page.getByRole('button', { name: 'Release user_ann' }).waitFor();
    await expectAccessibleEverywhere(page);
  });

  it('shows the matches of calls, in the guardrail, in the list and in the call', async () => {
    const ask = () =>
      setup.app.http
        .post('/api/v1/embeddings')
        .set('authorization', `Bearer ${key.secret}`)
        .send({ model: 'local/hashing', input: 'ann@example.com and PROJ-7' });
    const answer = await eventually(ask, ({ headers }) => headers['x-guardrail'] === 'redacted');
    await setup.app.application.get(DailyHits).flush();
    await page.reload();
    await page.getByRole('row', { name: /PROJECT Count/ }).waitFor();
    await page.goto(`/generations/${answer.headers['x-generation-id']}`);
    await page.getByText('Guardrails', { exact: true }).last().waitFor();
    await page.getByText(/E-mail addresses replaced, 1 ×/).waitFor();
    await page.getByText(/PROJECT found, 1 ×/).waitFor();
    await expectAccessible(page);
  });

  it('releases a key, changes a rule and deletes the guardrail', async () => {
    await visit(page, '/guardrails', 'Guardrails');
    await page.getByRole('link', { name: 'Customer support' }).click();
    await press('Release Support bot');
    await page.getByText('A key has at most one guardrail of its own.').waitFor();
    await page.getByRole('link', { name: 'Edit' }).click();
    await fill('Limit', '');
    await press('Save');
    await page.getByRole('heading', { name: 'Customer support' }).waitFor();
    await page.getByText(/a day, for each key/).waitFor({ state: 'detached' });
    await press('Further actions for Customer support');
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await press('Delete');
    await page.getByText('No guardrail yet').waitFor();
  });

  it('sets the default of the workspace, which governs every key', async () => {
    // It does not exist before its first change.
    session.expectStatus(404);
    await page.getByRole('link', { name: 'Set the workspace default' }).click();
    await page.getByRole('heading', { name: 'Workspace default' }).waitFor();
    expect(await page.getByLabel('Limit', { exact: true }).count()).toBe(0);
    await page.getByLabel('Action for Keys and secrets').selectOption('block');
    await press('Save');
    await page.getByText('Every key of the workspace, and new ones.').waitFor();
    await visit(page, '/guardrails', 'Guardrails');
    await page.getByText('All keys', { exact: true }).waitFor();
    await expectAccessibleEverywhere(page);
    expect(session.complaints).toEqual([]);
  });
});
