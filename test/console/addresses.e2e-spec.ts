// Where browsers find the console: over plain http under a name, two installations on one host, and below a path of a reverse
// proxy. Contract: docs/contract.md#console.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { createTestApp } from '../support/app/app.js';
import type { TestApp } from '../support/app/app.js';
import {
  describeInChromium,
  expectAccessible,
  launchChromium,
  openConsole,
  signInWith,
  waitUntilLoaded,
} from '../support/app/chromium.js';
import { RunningClock } from '../support/app/running-clock.js';
import { embed, LOCAL } from '../support/requests/create-embedding.js';
import { startPathProxy } from '../support/upstreams/path-proxy.js';
import type { PathProxy } from '../support/upstreams/path-proxy.js';

const PATH = '/tools/signalbox';

async function enter(page: Page, key: string): Promise<void> {
  await page.getByLabel('Key', { exact: true }).fill(key);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

describeInChromium('the address of the console', () => {
  let browser: Browser;
  let app: TestApp;
  beforeAll(async () => {
    browser = await launchChromium('--host-resolver-rules=MAP gateway.lan 127.0.0.1');
    app = await createTestApp({ clock: new RunningClock() });
  });
  afterAll(async () => {
    await app.close();
    await browser.close();
  });

  describe('over plain http', () => {
    const HINT = /Open the console over https/;

    it('under a name says what to do before anything is typed', async () => {
      const { port } = new URL(app.origin);
      const named = { ...app, origin: `http://gateway.lan:${port}` };
      const { page, close } = await openConsole(browser, named, { key: null });
      await page.goto('/');
      await page.getByText(HINT).waitFor();
      await expectAccessible(page);
      await enter(page, app.managementKey);
      // The browser does not keep the session: the sentence says why the form is there again.
      await page.reload();
      await page.getByRole('heading', { name: 'Sign in to signalbox' }).waitFor();
      await page.getByText(HINT).waitFor();
      await close();
    });

    it('on loopback says nothing and signs in', async () => {
      const { page, complaints, close } = await openConsole(browser, app, { key: null });
      await page.goto('/sign-in');
      await page.getByRole('button', { name: 'Sign in' }).waitFor();
      expect(await page.getByText(HINT).count()).toBe(0);
      await signInWith(page, app.managementKey);
      expect(complaints).toEqual([]);
      await close();
    });
  });

  it('of another installation on the same host keeps sessions apart', async () => {
    const other = await createTestApp({ clock: new RunningClock() });
    const { page, close } = await openConsole(browser, app);
    const second = await page.context().newPage();
    await second.goto(`${other.origin}/sign-in`);
    await enter(second, other.managementKey);
    await second.getByRole('link', { name: 'Keys', exact: true }).waitFor();
    for (const [one, { origin }] of [
      [page, app],
      [second, other],
    ] as const) {
      await one.goto(`${origin}/keys`);
      await one.getByRole('heading', { level: 1, name: 'Keys' }).waitFor();
    }
    await second.getByRole('button', { name: 'Sign out' }).click();
    await second.getByRole('heading', { name: 'Sign in to signalbox' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { level: 1, name: 'Keys' }).waitFor();
    await close();
    await other.close();
  });

  describe.each(['keeps', 'strips'] as const)('below a path that the proxy %s', (mode) => {
    let below: TestApp;
    let proxy: PathProxy;
    beforeAll(async () => {
      below = await createTestApp({ clock: new RunningClock(), environment: { PUBLIC_PATH: PATH } });
      proxy = await startPathProxy(below.origin, PATH, mode);
      await embed(below, { model: LOCAL, input: 'one' }).expect(200);
    });
    afterAll(async () => {
      await proxy.close();
      await below.close();
    });

    it('works from the sign-in to the sign-out', async () => {
      const proxied = { ...below, origin: proxy.origin };
      const { page, complaints, close } = await openConsole(browser, proxied, { key: null });
      for (const start of [`${PATH}/`, PATH, `${PATH}/keys?disabled=hidden`]) {
        await page.goto(start);
        await page.getByRole('heading', { name: 'Sign in to signalbox' }).waitFor();
      }
      await enter(page, below.managementKey);
      await page.getByRole('heading', { level: 1, name: 'Keys' }).waitFor();
      expect(page.url()).toBe(`${proxy.origin}${PATH}/keys?disabled=hidden`);
      await page.getByRole('link', { name: 'Test key' }).first().click();
      await waitUntilLoaded(page);
      expect(new URL(page.url()).pathname).toBe(`${PATH}/keys/${below.key.hash}`);
      await page.reload();
      await page.getByRole('heading', { level: 1, name: 'Test key' }).waitFor();
      await page.getByRole('link', { name: 'Generations', exact: true }).click();
      await page.getByRole('heading', { level: 1, name: 'Generations' }).waitFor();
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'CSV' }).click(),
      ]);
      expect(download.suggestedFilename()).toMatch(/\.csv$/);
      await page.getByRole('link', { name: 'Playground', exact: true }).click();
      await page.getByText(`${proxy.origin}${PATH}/api/v1/`).first().waitFor();
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByRole('heading', { name: 'Sign in to signalbox' }).waitFor();
      expect(complaints).toEqual([]);
      expect(proxy.strays).toEqual([]);
      await close();
    });

    it('has its API, its documentation and the links of lists there', async () => {
      const page = await browser.newPage();
      const failed: string[] = [];
      page.on('response', (response) => {
        if (response.status() >= 400) failed.push(`${response.status()} ${response.url()}`);
      });
      await page.goto(`${proxy.origin}${PATH}/docs`);
      expect(await page.evaluate('typeof SwaggerUIBundle')).toBe('function');
      expect(failed).toEqual([]);
      await page.close();
      const read = async (path: string, headers: Record<string, string> = {}): Promise<Response> =>
        fetch(`${proxy.origin}${PATH}${path}`, { headers });
      const { servers } = (await (await read('/api/v1/openapi.json')).json()) as { servers: unknown };
      expect(servers).toEqual([expect.objectContaining({ url: PATH })]);
      const authorization = `Bearer ${below.managementKey}`;
      const list = await read('/api/v1/keys?limit=1', { authorization, accept: 'text/csv' });
      expect([list.status, list.headers.get('link')]).toEqual([
        200,
        `<${PATH}/api/v1/keys?limit=1&offset=1>; rel="next"`,
      ]);
      expect(await (await read('/')).json()).toMatchObject({ data: { docs: `${PATH}/docs` } });
      expect((await read('/health')).status).toBe(200);
      // Probes and other replicas need no path.
      expect((await fetch(`${below.origin}/ready`)).status).toBe(200);
    });
  });
});
