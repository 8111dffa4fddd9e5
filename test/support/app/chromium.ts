// The browser of the tests of the console: the machine's own Chromium, with the console open in it.
import { existsSync } from 'node:fs';
import { AxeBuilder } from '@axe-core/playwright';
import { describe, expect } from '@jest/globals';
import { chromium } from 'playwright-core';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { deferred } from '../deferred.js';
import type { TestApp } from './app.js';
import { eventually } from '../eventually.js';

const PATHS = [process.env['CHROMIUM_PATH'], '/usr/bin/chromium', '/usr/bin/google-chrome'];
const EXECUTABLE = PATHS.find((path) => path !== undefined && existsSync(path));

/** A block of tests that need a browser. Without one it is skipped, and a line says so. */
export function describeInChromium(name: string, tests: () => void): void {
  if (EXECUTABLE !== undefined) {
    describe(name, tests);
    return;
  }
  process.stderr.write(`skipped "${name}": no Chromium. Install it, or set CHROMIUM_PATH.\n`);
  describe.skip(name, tests);
}

export const THEMES = ['light', 'dark'] as const;
export const WIDTHS = [1280, 390] as const;
const HEIGHT = 860;

export interface OpenOptions {
  readonly theme?: (typeof THEMES)[number];
  readonly width?: (typeof WIDTHS)[number];
  /** Signs in with this key; null: does not sign in. By default the management key of the app. */
  readonly key?: string | null;
}

export interface OpenConsole {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Errors and warnings of the browser, and requests outside the page's origin. */
  readonly complaints: readonly string[];
  /** Answers of these statuses are part of the test, and no complaint. */
  readonly expectStatus: (status: number) => void;
  readonly close: () => Promise<void>;
}

export function launchChromium(...args: readonly string[]): Promise<Browser> {
  // Root has no sandbox in a container.
  return chromium.launch({
    executablePath: EXECUTABLE ?? '',
    args: ['--no-sandbox', '--disable-dev-shm-usage', ...args],
  });
}

export async function openConsole(
  browser: Browser,
  app: Pick<TestApp, 'origin' | 'managementKey'>,
  { theme = 'light', width = 1280, key = app.managementKey }: OpenOptions = {},
): Promise<OpenConsole> {
  const context = await browser.newContext({
    baseURL: app.origin,
    colorScheme: theme,
    viewport: { width, height: HEIGHT },
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  const page = await context.newPage();
  const complaints: string[] = [];
  const expected = new Set<number>();
  page.on('console', (message) => {
    if (message.type() !== 'error' && message.type() !== 'warning') return;
    const status = /status of (\d+)/.exec(message.text())?.[1];
    if (status === undefined || !expected.has(Number(status))) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('dialog', (dialog) => {
    // A test that leaves a page means it.
    if (dialog.type() === 'beforeunload') return void dialog.accept();
    complaints.push(`a script opened a dialog: ${dialog.message()}`);
    return void dialog.dismiss();
  });
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.origin !== app.origin && url.protocol !== 'data:') complaints.push(`request to ${url.origin}`);
  });
  // The session of a browser that has not signed in yet.
  expected.add(401);
  if (key !== null) await signInWith(page, key);
  return {
    page,
    context,
    complaints,
    expectStatus: (status) => expected.add(status),
    close: () => context.close(),
  };
}

export async function signInWith(page: Page, key: string): Promise<void> {
  if (!page.url().includes('/sign-in')) await page.goto('/sign-in');
  await page.getByLabel('Key', { exact: true }).fill(key);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL((url) => url.pathname !== '/sign-in');
}

/** Loads a page and waits until nothing of it loads any more. */
export async function visit(page: Page, path: string, heading: string | RegExp): Promise<void> {
  await page.goto(path);
  await page.getByRole('heading', { level: 1, name: heading }).waitFor();
  await waitUntilLoaded(page);
}

export async function waitUntilLoaded(page: Page): Promise<void> {
  await page.waitForSelector('[aria-busy="true"], [role="status"][aria-label="Loading"]', {
    state: 'detached',
  });
}

/** Names a model in the playground. Its example has to be there: coming between the selection and the text, it would stay. */
export async function fillModel(page: Page, model: string): Promise<void> {
  const field = page.getByLabel('Model', { exact: true });
  await eventually(
    () => field.inputValue(),
    (value) => value !== '',
  );
  await field.fill(model);
}

/** Holds the requests to an address, those of a method if it is given, until the returned function is called. */
export async function holdRequests(page: Page, address: string, method?: string): Promise<() => void> {
  const { resolve, promise } = deferred();
  await page.route(address, async (route) => {
    if (method === undefined || route.request().method() === method) await promise;
    await route.continue();
  });
  return resolve;
}

/** The user comes back to the page when its data are old: they are loaded again, behind whatever is open. */
export async function returnLater(page: Page): Promise<void> {
  await page.evaluate(
    `{ const now = Date.now(); Date.now = () => now + 60_000; dispatchEvent(new Event('visibilitychange')); }`,
  );
}

/** In both themes and widths, without loading the page again: its colours follow the media, its layout the window. */
export async function expectAccessibleEverywhere(page: Page): Promise<void> {
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: HEIGHT });
    for (const theme of THEMES) {
      await page.emulateMedia({ colorScheme: theme });
      await expectAccessible(page);
    }
  }
}

/** Rules of WCAG and best practice; and a page must not be wider than its window. */
export async function expectAccessible(page: Page): Promise<void> {
  // Its other mode opens a page of its own to join the results of frames, and the console has none.
  const { violations } = await new AxeBuilder({ page }).setLegacyMode().analyze();
  const found = violations.map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`,
  );
  expect(found).toEqual([]);
  const root = page.locator('html');
  const overflow = await root.evaluate(
    ({ scrollWidth, clientWidth }: Readonly<Record<'scrollWidth' | 'clientWidth', number>>) =>
      scrollWidth - clientWidth,
  );
  expect(overflow).toBeLessThanOrEqual(0);
}
