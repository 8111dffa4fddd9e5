// The search over the whole account: by keyboard, from any page, to whatever an id names.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { generationHeaderId } from '../../src/domain/identifiers.js';
import {
  describeInChromium,
  expectAccessibleEverywhere,
  holdRequests,
  openConsole,
  visit,
} from '../support/app/chromium.js';
import type { OpenConsole } from '../support/app/chromium.js';
import { startConsole } from '../support/app/console-app.js';
import type { ConsoleSetup } from '../support/app/console-app.js';
import { recordGenerations } from '../support/deliveries/deliveries.js';
import { embed, SMALL } from '../support/requests/create-embedding.js';
import { recordRefusals } from '../support/requests/refusals.js';

const SEARCH = '**/api/v1/search?*';

describeInChromium('the search of the console', () => {
  let setup: ConsoleSetup;
  let session: OpenConsole;
  let page: Page;
  let id: string;
  let hash: string;
  let otherWorkspace: string;
  beforeAll(async () => {
    setup = await startConsole();
    const { app } = setup;
    const facts = { requestId: 'request-of-ada', upstreamId: 'upstream-1', sessionId: 'trip', userId: 'ada' };
    const [recorded] = await recordGenerations(app, 1, facts);
    id = generationHeaderId(recorded ?? '');
    const { body } = await app.http
      .post('/api/v1/workspaces')
      .set('authorization', `Bearer ${app.managementKey}`)
      .send({ name: 'Research', slug: 'research' })
      .expect(201);
    otherWorkspace = body.data.id;
    const key = await app.http
      .post('/api/v1/keys')
      .set('authorization', `Bearer ${app.managementKey}`)
      .send({ name: 'Crawler of papers', workspace_id: otherWorkspace })
      .expect(201);
    hash = key.body.data.hash;
    session = await openConsole(setup.browser, app);
    page = session.page;
  });
  afterAll(() => setup.close());

  const field = () => page.getByRole('searchbox', { name: 'Id, key, session or user' });
  const found = () => page.getByRole('list', { name: 'Found' });
  async function open(path = '/audit', heading = 'Audit log'): Promise<void> {
    await page.setViewportSize({ width: 1280, height: 860 });
    await visit(page, path, heading);
    await page.keyboard.press('Control+k');
    await field().and(page.locator(':focus')).waitFor();
  }

  it.each([
    ['the id of a generation', () => id],
    ['a request id', () => 'request-of-ada'],
    ["the provider's id", () => 'upstream-1'],
  ])('leads from %s to the call in three steps', async (_what, textOf) => {
    await open();
    await page.keyboard.insertText(` ${textOf()} `);
    // Before the answer has come.
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Generation' }).and(page.locator(':focus')).waitFor();
    expect(new URL(page.url()).pathname).toBe(`/generations/${id}`);
  });

  it('leads to the calls of a session and of a user', async () => {
    for (const [text, member] of [
      ['trip', 'session'],
      ['ada', 'user'],
    ] as const) {
      await open();
      await field().fill(text);
      await found().getByRole('link', { name: text }).click();
      await page.getByRole('heading', { level: 1, name: 'Generations' }).waitFor();
      expect(new URL(page.url()).searchParams.get(member)).toBe(text);
      await page.getByText('Calls shown: 1').waitFor();
    }
  });

  it('finds a key of another workspace by a part of its name, and sets the workspace', async () => {
    await open();
    await field().fill('of papers');
    await found().getByText('Research').waitFor();
    await expectAccessibleEverywhere(page);
    await page.setViewportSize({ width: 1280, height: 860 });
    await page.keyboard.press('ArrowDown');
    await found().getByRole('link').and(page.locator(':focus')).waitFor();
    await page.keyboard.press('ArrowUp');
    await field().and(page.locator(':focus')).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Crawler of papers' }).waitFor();
    const { pathname, searchParams } = new URL(page.url());
    expect([pathname, searchParams.get('workspace')]).toEqual([`/keys/${hash}`, otherWorkspace]);
    expect(await page.getByRole('combobox', { name: 'Workspace' }).inputValue()).toBe(otherWorkspace);
  });

  it('leads from the request id of an error to the refused call', async () => {
    const { secret } = await setup.app.createKey({ name: 'Stopped', limit: 0n });
    const refused = await embed(setup.app, { model: SMALL, input: 'a' }, secret);
    expect(refused.status).toBe(402);
    await recordRefusals(setup.app);
    const requestId = String(refused.headers['x-request-id']);
    await open();
    await field().fill(requestId);
    await found().getByText('Refused calls').waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Refused calls' }).waitFor();
    await page.getByRole('cell', { name: requestId }).waitFor();
    expect(await page.getByRole('table', { name: 'Newest refused calls' }).getByRole('row').count()).toBe(2);
    await page.getByRole('link', { name: 'All of this workspace' }).click();
    await page.waitForURL((url) => !url.searchParams.has('request'));
  });

  it('says what is searched, and that nothing was found', async () => {
    await open();
    await page.getByText('Keys are found by a part of their name or label.').waitFor();
    await expectAccessibleEverywhere(page);
    await page.setViewportSize({ width: 1280, height: 860 });
    await field().fill('no-such-id');
    await page.getByText('Nothing found').waitFor();
    await page.getByText(/all calls that are kept/).waitFor();
    await expectAccessibleEverywhere(page);
    expect(session.complaints).toEqual([]);
  });

  it('gives the focus back when it is closed, and opens from its button as well', async () => {
    await page.setViewportSize({ width: 1280, height: 860 });
    await visit(page, '/keys', 'Keys');
    const button = page.getByRole('button', { name: 'Find anything' });
    await button.click();
    await field().and(page.locator(':focus')).waitFor();
    await page.keyboard.press('Escape');
    await button.and(page.locator(':focus')).waitFor();
    const create = page.getByRole('button', { name: 'Create key' }).first();
    await create.focus();
    await page.keyboard.press('Control+k');
    await field().waitFor();
    await page.keyboard.press('Escape');
    await create.and(page.locator(':focus')).waitFor();
  });

  it('leaves an open dialog as it is', async () => {
    await visit(page, '/keys', 'Keys');
    await page.getByRole('button', { name: 'Create key' }).first().click();
    await page.getByRole('dialog', { name: 'Create key' }).waitFor();
    await page.keyboard.press('Control+k');
    expect(await field().count()).toBe(0);
    await page.keyboard.press('Escape');
  });

  it('shows a failure, and tries again', async () => {
    session.expectStatus(500);
    await page.route(SEARCH, (route) =>
      route.fulfill({ status: 500, json: { error: { message: 'out of order' } } }),
    );
    await open();
    await field().fill('trip');
    await page.getByText('out of order').waitFor();
    await page.unroute(SEARCH);
    const release = await holdRequests(page, SEARCH);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('Searching').waitFor();
    release();
    await found().getByRole('link', { name: 'trip' }).waitFor();
    expect(session.complaints).toEqual([]);
  });
});
