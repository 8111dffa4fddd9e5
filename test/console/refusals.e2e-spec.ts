// Refused calls in the console: from the overview to the key that is refused, its remedy, and the next call that is served.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import {
  describeInChromium,
  expectAccessible,
  expectAccessibleEverywhere,
  fillModel,
  openConsole,
  visit,
  waitUntilLoaded,
} from '../support/app/chromium.js';
import type { OpenConsole } from '../support/app/chromium.js';
import type { TestKey } from '../support/app/app.js';
import { startConsole } from '../support/app/console-app.js';
import type { ConsoleSetup } from '../support/app/console-app.js';
import { askFor } from '../support/requests/admin.js';
import { embed, LOCAL, SMALL } from '../support/requests/create-embedding.js';
import { recordRefusals } from '../support/requests/refusals.js';
import { MODEL, postChat } from '../support/upstreams/chat-upstream.js';
import { parseUsd } from '../../src/domain/spend/money.js';

describeInChromium('refused calls in the console', () => {
  let setup: ConsoleSetup;
  let session: OpenConsole;
  let page: Page;
  let checkout: TestKey;
  let requestId: string;
  const call = ({ secret }: TestKey, body: object = { model: SMALL, input: 'a' }) =>
    embed(setup.app, body, secret);

  beforeAll(async () => {
    setup = await startConsole();
    const { app } = setup;
    checkout = await app.createKey({ name: 'Checkout', limit: parseUsd('0.00000001'), limitReset: 'daily' });
    for (let served = 0; served < 9; served++)
      expect((await embed(app, { model: LOCAL, input: 'one' })).status).toBe(200);
    for (let refused = 0; refused < 3; refused++) {
      const response = await call(checkout);
      expect(response.status).toBe(402);
      requestId = String(response.headers['x-request-id']);
    }
    await recordRefusals(app);
    session = await openConsole(setup.browser, app);
    page = session.page;
  });
  afterAll(async () => {
    await session.close();
    await setup.close();
  });

  const inDesktop = () => page.setViewportSize({ width: 1280, height: 860 });
  const notice = () => page.getByRole('alert').filter({ hasText: 'refused since' });

  it('show in the state of a key that its limit refuses', async () => {
    await visit(page, '/keys', 'Keys');
    const row = page.getByRole('row').filter({ hasText: 'Checkout' });
    await row.getByText('Refused', { exact: true }).waitFor();
    await expectAccessibleEverywhere(page);
    await inDesktop();
    expect(session.complaints).toEqual([]);
  });

  it('lead from the overview to the key, whose limit a button raises, and the notice goes', async () => {
    await visit(page, '/', 'Overview');
    const tile = page.locator('dl > div').filter({ hasText: 'Refused' });
    await tile.getByText('3', { exact: true }).waitFor();
    await expectAccessibleEverywhere(page);
    await inDesktop();
    await tile.getByRole('link', { name: '25% of all calls' }).click();
    await page.getByRole('heading', { level: 1, name: 'Refused calls' }).waitFor();
    await waitUntilLoaded(page);
    const reasons = page.getByRole('region', { name: 'By reason' });
    await reasons
      .getByRole('row')
      .filter({ hasText: 'Limit of the key' })
      .getByText('3', { exact: true })
      .waitFor();
    await expectAccessibleEverywhere(page);
    await inDesktop();
    await page.getByRole('region', { name: 'By key' }).getByRole('link', { name: 'Checkout' }).click();
    await page.getByRole('heading', { level: 1, name: 'Checkout' }).waitFor();
    await notice()
      .getByText(/^3 calls refused since/)
      .waitFor();
    await notice()
      .getByText(
        /^A call may cost \$0\.00000002\. Daily limit: \$0\.00000001 of \$0\.00000001 left\. It resets in/,
      )
      .waitFor();
    await expectAccessibleEverywhere(page);
    await inDesktop();
    await notice().getByRole('button', { name: 'Raise the limit' }).click();
    const limit = page.getByLabel('Spend limit a day');
    expect(await limit.inputValue()).toBe('0.0000002');
    await page.getByText('$0.00 are spent. Such a call is accepted from $0.00000002 on.').waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Raise', exact: true }).click();
    await page.getByText('Saved Checkout').waitFor();
    expect((await call(checkout)).status).toBe(200);
    await notice().waitFor({ state: 'detached' });
    expect(session.complaints).toEqual([]);
  });

  it('of a key are listed with the request id that the caller has', async () => {
    await visit(page, `/keys/${checkout.record.hash}`, 'Checkout');
    const listed = page.getByRole('region', { name: 'Newest refused calls' });
    const row = listed.getByRole('row').filter({ hasText: requestId });
    await row.getByText('Limit of the key').waitFor();
    await row.getByText('$0.00000002').waitFor();
    await row.getByRole('button', { name: 'Copy request id' }).click();
    await row.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(requestId);
    expect(session.complaints).toEqual([]);
  });

  it('of a wrong request are shown with its message, and no limit is blamed', async () => {
    const { app } = setup;
    const key = await app.createKey({ name: 'Typo' });
    expect((await call(key, { model: 'openai/unknown', input: 'a' })).status).toBe(404);
    await recordRefusals(app);
    await visit(page, `/keys/${key.record.hash}`, 'Typo');
    await page.getByText(/^1 call refused since/).waitFor();
    await page.getByText(/^Newest reason: Wrong request, “.*openai\/unknown/).waitFor();
    expect(await page.getByRole('button', { name: 'Raise the limit' }).count()).toBe(0);
    await expectAccessibleEverywhere(page);
    await inDesktop();
    expect(session.complaints).toEqual([]);
  });

  it('are counted on the list of keys, in usage by key, and not by model', async () => {
    await visit(page, '/keys', 'Keys');
    const row = page.getByRole('row').filter({ hasText: 'Checkout' });
    // Of the last hour; its raised limit refuses nothing now.
    await row.getByRole('cell').nth(1).getByText('3 refused in 1 h').waitFor();
    await row.getByText('Active', { exact: true }).waitFor();
    await expectAccessibleEverywhere(page);
    await inDesktop();
    await visit(page, '/usage?by=key', 'Usage');
    await page.getByText('0 failed, 4 refused').waitFor();
    await page.getByRole('columnheader', { name: 'Refused' }).waitFor();
    await row.getByText('3', { exact: true }).waitFor();
    await expectAccessibleEverywhere(page);
    await inDesktop();
    await visit(page, '/usage', 'Usage');
    expect(await page.getByRole('columnheader', { name: 'Refused' }).count()).toBe(0);
    expect(session.complaints).toEqual([]);
  });

  it('of a budget lead to the workspace that has it', async () => {
    const { app } = setup;
    const budgets = `/workspaces/${app.workspaceId}/budgets`;
    await askFor(200, app, 'put', `${budgets}/monthly`, { body: { limit_usd: 0.00000001 } });
    const key = await app.createKey({ name: 'Reports' });
    expect((await call(key)).status).toBe(403);
    await recordRefusals(app);
    await visit(page, `/keys/${key.record.hash}`, 'Reports');
    await notice()
      .getByText(/Monthly budget: /)
      .waitFor();
    await notice().getByRole('link', { name: 'Change the budget' }).click();
    await page.getByRole('button', { name: 'Actions for the monthly budget' }).waitFor();
    await askFor(200, app, 'delete', `${budgets}/monthly`);
    await visit(page, `/keys/${key.record.hash}`, 'Reports');
    await page.getByRole('region', { name: 'Newest refused calls' }).waitFor();
    expect(await notice().count()).toBe(0);
    expect(session.complaints).toEqual([]);
  });

  it('of chats without a token limit show as a state, with the limit to set in the key and in the playground', async () => {
    const { app } = setup;
    const key = await app.createKey({ name: 'Chats', limit: parseUsd('0.01') });
    const refused = await postChat(app, { model: MODEL }, { key: key.secret });
    expect(refused.status).toBe(402);
    await recordRefusals(app);
    await visit(page, '/keys', 'Keys');
    const row = page.getByRole('row').filter({ hasText: 'Chats' });
    await row.getByText('Refuses chats without a token limit').waitFor();
    await expectAccessibleEverywhere(page);
    // On a phone it stands below the name, once.
    expect(await row.getByText('Refuses chats without a token limit').isVisible()).toBe(true);
    await inDesktop();
    await row.getByRole('link', { name: 'Chats' }).click();
    await notice()
      .getByText(/^Chats without a token limit are refused/)
      .waitFor();
    await notice()
      .getByText(/^A chat with max_tokens of [\d,]+ or less is accepted\.$/)
      .waitFor();
    await notice().getByRole('button', { name: 'Raise the limit' }).waitFor();
    await expectAccessibleEverywhere(page);
    await inDesktop();
    await visit(page, '/playground?operation=chat', 'Playground');
    await fillModel(page, MODEL);
    session.expectStatus(402);
    await page.getByLabel('Key to charge').selectOption(key.record.hash);
    await page.getByLabel('Message', { exact: true }).press('Enter');
    await page.getByRole('link', { name: 'Raise the limit' }).waitFor();
    const set = page.getByRole('button', { name: /^Set Tokens at most to [\d,]+$/ });
    const tokens = (await set.innerText()).replaceAll(/\D/g, '');
    await set.click();
    expect(await page.getByLabel('Tokens at most').inputValue()).toBe(tokens);
    await expectAccessibleEverywhere(page);
    await inDesktop();
    expect(session.complaints).toEqual([]);
  });

  it('show on the page of the key itself, with the reason', async () => {
    const { secret } = await setup.app.createKey({ name: 'Own', limit: 0n });
    expect((await embed(setup.app, { model: SMALL, input: 'a' }, secret)).status).toBe(402);
    await recordRefusals(setup.app);
    const own = await openConsole(setup.browser, setup.app, { key: secret });
    await own.page.getByRole('heading', { level: 1, name: 'My key' }).waitFor();
    const alert = own.page.getByRole('alert').filter({ hasText: 'Limit of the key' });
    await alert.getByText('1 call refused in 24 hours').waitFor();
    await expectAccessibleEverywhere(own.page);
    expect(own.complaints).toEqual([]);
    await own.close();
  });
});
