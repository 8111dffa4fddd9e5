// The secret of a key in the console, shown once: nothing but the user's own button takes it away.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { describeInChromium, holdRequests, openConsole, visit } from '../support/app/chromium.js';
import { startConsole } from '../support/app/console-app.js';
import type { ConsoleSetup } from '../support/app/console-app.js';

describeInChromium('the secret of a key', () => {
  let setup: ConsoleSetup;
  beforeAll(async () => {
    setup = await startConsole();
    await setup.app.createKey({ name: 'Daily job' });
  });
  afterAll(() => setup.close());

  const dialogOf = (page: Page) => page.getByRole('dialog');
  const secretOf = (page: Page) => page.getByTestId('secret');
  const press = (page: Page, name: string) => dialogOf(page).getByRole('button', { name }).click();

  async function openCreate(page: Page): Promise<void> {
    await visit(page, '/keys', 'Keys');
    await page.getByRole('button', { name: 'Create key' }).first().click();
    await page.getByLabel('Name').fill('Nightly job');
  }

  async function openRotate(page: Page, name: string): Promise<void> {
    await visit(page, '/keys', 'Keys');
    await choose(page, name, 'Rotate');
    await page.getByLabel('Grace period').waitFor();
  }

  async function choose(page: Page, name: string, action: string): Promise<void> {
    await page.getByRole('button', { name: `Actions for ${name}` }).click();
    await page.getByRole('menuitem', { name: action }).click();
  }

  /** A page under load: events of the user come before the timers that the page has set. */
  async function delayTimers(page: Page): Promise<void> {
    await page.addInitScript(() => {
      const start = globalThis.setTimeout;
      globalThis.setTimeout = ((callback: () => void, wait = 0) =>
        start(callback, wait + 1000)) as typeof setTimeout;
    });
  }

  /** All the ways out of a dialog by accident. */
  async function tryToLeave(page: Page): Promise<void> {
    await page.keyboard.press('Escape');
    await page.mouse.click(2, 2);
  }

  /** A way back that the page does not let through: it returns. */
  async function goBackAndForth(page: Page): Promise<void> {
    await page.evaluate(
      `new Promise((resolve) => {
         let count = 0;
         addEventListener('popstate', () => (count += 1) === 2 && resolve());
         history.back();
       })`,
    );
    expect(new URL(page.url()).pathname).toBe('/keys');
  }

  it.each([
    { path: '**/api/v1/keys', action: 'Create key', open: openCreate },
    {
      path: '**/api/v1/keys/*/rotate',
      action: 'Rotate',
      open: (page: Page) => openRotate(page, 'Daily job'),
    },
  ])(
    'is shown though the user tried to leave while "$action" was in flight',
    async ({ path, action, open }) => {
      const { page, complaints, close } = await openConsole(setup.browser, setup.app);
      await delayTimers(page);
      await open(page);
      const release = await holdRequests(page, path, 'POST');
      await Promise.all([
        page.waitForRequest((request) => request.method() === 'POST' && request.url().includes('/keys')),
        press(page, action),
      ]);
      await tryToLeave(page);
      for (const name of ['Cancel', 'Close']) {
        // Without a wait for the button to be enabled, which it is not.
        await dialogOf(page).getByRole('button', { name }).click({ force: true });
      }
      release();
      await secretOf(page).waitFor();
      await tryToLeave(page);
      // Shows that the dialog still works, and not only that it has not gone yet.
      await press(page, 'Copy key');
      await dialogOf(page).getByRole('button', { name: 'Copied' }).waitFor();
      expect(await secretOf(page).textContent()).toMatch(/^sk-sb-v1-/);
      await press(page, 'Close');
      await dialogOf(page).waitFor({ state: 'detached' });
      expect(complaints).toEqual([]);
      await close();
    },
  );

  it('is shown though the user went back, and stays until it is done with', async () => {
    const { context, close } = await openConsole(setup.browser, setup.app);
    // A page of its own, where only the test answers questions.
    const page = await context.newPage();
    await visit(page, '/audit', 'Audit log');
    await page.getByRole('link', { name: 'Keys', exact: true }).click();
    await page.getByRole('button', { name: 'Create key' }).first().click();
    await page.getByLabel('Name').fill('Nightly job');
    const release = await holdRequests(page, '**/api/v1/keys', 'POST');
    await Promise.all([
      page.waitForRequest((request) => request.method() === 'POST' && request.url().includes('/keys')),
      press(page, 'Create key'),
    ]);
    await goBackAndForth(page);
    release();
    await secretOf(page).waitFor();
    await goBackAndForth(page);
    const [question] = await Promise.all([
      page.waitForEvent('dialog'),
      page.close({ runBeforeUnload: true }),
    ]);
    expect(question.type()).toBe('beforeunload');
    await question.dismiss();
    expect(await secretOf(page).textContent()).toMatch(/^sk-sb-v1-/);
    await press(page, 'Done');
    await dialogOf(page).waitFor({ state: 'detached' });
    await page.goBack();
    await page.getByRole('heading', { level: 1, name: 'Audit log' }).waitFor();
    await close();
  });

  it('is that of one key though the user clicks twice', async () => {
    const { page, complaints, close } = await openConsole(setup.browser, setup.app);
    await delayTimers(page);
    await openCreate(page);
    let sent = 0;
    page.on('request', (request) => {
      if (request.method() === 'POST' && new URL(request.url()).pathname === '/api/v1/keys') sent += 1;
    });
    await dialogOf(page).getByRole('button', { name: 'Create key' }).dblclick();
    await secretOf(page).waitFor();
    expect(sent).toBe(1);
    expect(complaints).toEqual([]);
    await close();
  });

  it.each([
    { where: 'the list', pathOf: () => '/keys', heading: 'Keys' },
    { where: 'its page', pathOf: (hash: string) => `/keys/${hash}`, heading: 'Paused job' },
  ])('stays on $where when a change before it is answered', async ({ pathOf, heading }) => {
    const { record } = await setup.app.createKey({ name: 'Paused job' });
    await setup.app.sql('UPDATE api_keys SET disabled = true WHERE id = $1', [record.id]);
    const { page, complaints, close } = await openConsole(setup.browser, setup.app);
    await visit(page, pathOf(record.hash), heading);
    const release = await holdRequests(page, `**/api/v1/keys/${record.hash}`, 'PATCH');
    await choose(page, 'Paused job', 'Enable');
    await choose(page, 'Paused job', 'Rotate');
    await press(page, 'Rotate');
    await secretOf(page).waitFor();
    release();
    await page.getByText('Enabled Paused job').waitFor();
    // The page behind the dialog has loaded again.
    await page.locator('main').getByText('Disabled', { exact: true }).waitFor({ state: 'detached' });
    expect(await secretOf(page).textContent()).toMatch(/^sk-sb-v1-/);
    expect(complaints).toEqual([]);
    await close();
  });

  it('stays when a search that was typed before takes its row away', async () => {
    const { page, complaints, close } = await openConsole(setup.browser, setup.app);
    // A search is sent when typing has rested for so long: here, when the test says so.
    await page.addInitScript(() => {
      const start = globalThis.setTimeout;
      globalThis.setTimeout = ((callback: () => void, wait = 0) => {
        if (wait !== 250) return start(callback, wait);
        Object.assign(globalThis, { sendSearch: callback });
        return 0;
      }) as typeof setTimeout;
    });
    await visit(page, '/keys', 'Keys');
    await page.getByRole('searchbox', { name: 'Search keys' }).fill('no such key');
    await choose(page, 'Daily job', 'Rotate');
    await press(page, 'Rotate');
    await secretOf(page).waitFor();
    await page.evaluate('sendSearch()');
    await page.getByText('No key matches').waitFor();
    expect(await secretOf(page).textContent()).toMatch(/^sk-sb-v1-/);
    expect(complaints).toEqual([]);
    await close();
  });

  it('stays when its rotation has ended the session, and the sign-in follows it', async () => {
    const { secret } = await setup.app.createKey({ kind: 'management', name: 'Own key' });
    const { page, complaints, close } = await openConsole(setup.browser, setup.app, { key: secret });
    await openRotate(page, 'Own key');
    await page.getByText('this signs you out when the grace period ends.').waitFor();
    await page.getByLabel('Grace period').selectOption({ label: 'None: the old key stops at once' });
    await page.getByText('this signs you out.').waitFor();
    const rejected = () => page.waitForResponse((response) => response.status() === 401);
    const [first] = await Promise.all([rejected(), press(page, 'Rotate')]);
    // The page has handled the first answer before it asks again.
    const second = await rejected();
    expect(second.request()).not.toBe(first.request());
    expect(await secretOf(page).textContent()).toMatch(/^sk-sb-v1-/);
    expect(new URL(page.url()).pathname).toBe('/keys');
    await press(page, 'Done');
    await page.getByRole('heading', { name: 'Sign in to signalbox' }).waitFor();
    expect(complaints).toEqual([]);
    await close();
  });
});
