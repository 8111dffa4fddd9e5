// Fields of the console as a user types into them, key by key.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { describeInChromium, openConsole, visit } from '../support/app/chromium.js';
import type { OpenConsole } from '../support/app/chromium.js';
import { startConsole } from '../support/app/console-app.js';
import type { ConsoleSetup } from '../support/app/console-app.js';

describeInChromium('a typed field', () => {
  let setup: ConsoleSetup;
  let session: OpenConsole;
  let page: Page;
  beforeAll(async () => {
    setup = await startConsole();
    session = await openConsole(setup.browser, setup.app);
    page = session.page;
  });
  afterAll(async () => {
    await session?.close();
    await setup?.close();
  });

  const untilAddressHas = (name: string, value: string) =>
    page.waitForURL((url) => url.searchParams.get(name)?.startsWith(value) === true);

  it.each([
    ['/audit', 'Audit log', 'From', 'from', '01152026', '2026-01-15'],
    ['/audit', 'Audit log', 'To', 'to', '02282026', '2026-02-28'],
    ['/generations', 'Generations', 'From', 'from', '01152026\t1200PM', '2026-01-15'],
  ])('of %s keeps the digits of a date: %s %s', async (path, heading, label, name, keys, day) => {
    await visit(page, path, heading);
    if (path === '/generations')
      await page.getByRole('combobox', { name: 'Time', exact: true }).selectOption('From and until');
    const field = page.getByLabel(label, { exact: true });
    await field.focus();
    await page.keyboard.type(keys);
    await field.press('Enter');
    await untilAddressHas(name, day);
    expect(await field.inputValue()).toContain(day);
    expect(session.complaints).toEqual([]);
  });

  it.each([
    ['/audit', 'Audit log', 'Id of the object', 'object'],
    ['/generations', 'Generations', 'Session', 'session'],
  ])('of %s applies on Enter and keeps the focus: %s %s', async (path, heading, label, name) => {
    await visit(page, path, heading);
    const field = page.getByLabel(label, { exact: true });
    await field.focus();
    await page.keyboard.type('one');
    await page.keyboard.press('Enter');
    await untilAddressHas(name, 'one');
    await page.keyboard.type(' more');
    await page.keyboard.press('Enter');
    await untilAddressHas(name, 'one more');
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.waitForURL((url) => !url.searchParams.has(name));
    expect(await field.inputValue()).toBe('');
  });

  it('with a year of five digits is refused beside the field', async () => {
    await visit(page, '/keys', 'Keys');
    await page.getByRole('button', { name: 'Create key' }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Of the far future');
    await dialog.getByLabel('Expires').fill('20260-01-15T12:00');
    await dialog.getByRole('button', { name: 'Create key' }).click();
    await dialog.locator('[name=expires_at][aria-invalid=true]').waitFor();
    expect(session.complaints).toEqual([]);
  });
});
