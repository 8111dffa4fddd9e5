// The form of a key in the console: what it sends, and what it leaves alone.
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { describeInChromium, openConsole, visit } from '../support/app/chromium.js';
import type { OpenConsole } from '../support/app/chromium.js';
import { askFor } from '../support/requests/admin.js';
import { startConsole } from '../support/app/console-app.js';
import type { ConsoleSetup } from '../support/app/console-app.js';

interface Key {
  readonly hash: string;
  readonly limit: number | null;
  readonly expires_at: string | null;
}

const NO_AMOUNTS = ['1,000', '$50', '0,5'];

describeInChromium('the form of a key', () => {
  let setup: ConsoleSetup;
  let session: OpenConsole;
  let page: Page;
  beforeAll(async () => {
    setup = await startConsole();
    session = await openConsole(setup.browser, setup.app);
    page = session.page;
  });
  afterAll(() => setup.close());
  beforeEach(() => session.expectStatus(400));

  const dialog = () => page.getByRole('dialog');
  const limit = () => page.getByLabel('Spend limit');
  const invalidLimit = () => page.locator('input[name="limit"][aria-invalid="true"]');
  const named = async (name: string) =>
    (await askFor<{ data: readonly Key[] }>(200, setup.app, 'get', `/keys?q=${encodeURIComponent(name)}`))
      .data;
  const createKey = async (body: object) =>
    (await askFor<{ data: Key }>(201, setup.app, 'post', '/keys', { body })).data;
  async function choose(name: string, action: string): Promise<void> {
    await page.getByRole('button', { name: `Actions for ${name}` }).click();
    await page.getByRole('menuitem', { name: action }).click();
  }

  it.each(NO_AMOUNTS)(
    'creates no key with the limit "%s", and one with the limit corrected',
    async (text) => {
      const name = `Limit ${text}`;
      await visit(page, '/keys', 'Keys');
      await page.getByRole('button', { name: 'Create key' }).first().click();
      await page.getByLabel('Name').fill(name);
      await limit().fill(text);
      await dialog().getByRole('button', { name: 'Create key' }).click();
      await invalidLimit().waitFor();
      expect(await named(name)).toHaveLength(0);
      await limit().fill('1000');
      await dialog().getByRole('button', { name: 'Create key' }).click();
      await page.getByTestId('secret').waitFor();
      expect(await named(name)).toMatchObject([{ limit: 1000 }]);
    },
  );

  it('keeps the limit of a key when the new one is no number', async () => {
    await createKey({ name: 'Bounded', limit: 7 });
    await visit(page, '/keys', 'Keys');
    await choose('Bounded', 'Edit');
    await limit().fill('1,000');
    await page.getByRole('button', { name: 'Save' }).click();
    await invalidLimit().waitFor();
    expect(await named('Bounded')).toMatchObject([{ limit: 7 }]);
  });

  it('sets, changes and removes the expiry of a key', async () => {
    await createKey({ name: 'Guest' });
    const expiry = async () => String((await named('Guest'))[0]?.expires_at);
    await visit(page, '/keys', 'Keys');
    for (const [typed, stored] of [
      ['2099-03-04T05:06', Date.parse('2099-03-04T05:06')],
      ['2099-12-31T23:59', Date.parse('2099-12-31T23:59')],
      ['', Number.NaN],
    ] as const) {
      await choose('Guest', 'Edit');
      await page.getByLabel('Expires').fill(typed);
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      expect(Date.parse(await expiry())).toBe(stored);
    }
    expect(session.complaints).toEqual([]);
  });

  it('shows the stored values, and sends only what is changed', async () => {
    const { hash } = await createKey({ name: 'Shared', limit: 7 });
    await visit(page, '/keys', 'Keys');
    const change = (body: object) => askFor(200, setup.app, 'patch', `/keys/${hash}`, { body });
    await change({ limit: 8 });
    await choose('Shared', 'Edit');
    await limit().waitFor();
    expect(await limit().inputValue()).toBe('8');
    await change({ limit: 9, embedding_cache: true });
    await page.getByLabel('Name').fill('Renamed');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('link', { name: 'Renamed' }).waitFor();
    expect(await named('Renamed')).toMatchObject([{ limit: 9, embedding_cache: true }]);
    expect(session.complaints).toEqual([]);
  });
});
