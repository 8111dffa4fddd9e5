// The playground on a slow network: no call can be sent before the keys that may pay have loaded.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { describeInChromium, fillModel, holdRequests, openConsole, visit } from '../support/app/chromium.js';
import { startConsole } from '../support/app/console-app.js';
import type { ConsoleSetup } from '../support/app/console-app.js';
import { HELLO, MODEL, streamOf } from '../support/upstreams/chat-upstream.js';

const KEYS = '**/api/v1/keys?**';

describeInChromium('the playground before the keys have loaded', () => {
  let setup: ConsoleSetup;
  beforeAll(async () => {
    setup = await startConsole();
  });
  afterAll(() => setup.close());

  it.each([
    { path: '/playground?operation=chat', title: 'Chat', action: 'Send', answer: 'Hello' },
    { path: '/playground', title: 'Embeddings', action: 'Embed 3 texts', answer: 'Cosine similarity' },
  ])('offers "$action" when they have, and charges one of them', async ({ path, title, action, answer }) => {
    const { page, complaints, close } = await openConsole(setup.browser, setup.app);
    setup.upstream.answerWith(action === 'Send' ? streamOf(...HELLO) : null);
    const release = await holdRequests(page, KEYS);
    await page.goto(path);
    await page.getByRole('heading', { level: 2, name: title, exact: true }).waitFor();
    await page.getByRole('status', { name: 'Loading' }).waitFor();
    expect(await page.getByRole('button', { name: action, exact: true }).count()).toBe(0);
    release();
    if (action === 'Send') await fillModel(page, MODEL);
    await page.getByRole('button', { name: action, exact: true }).click();
    await page.getByText(answer, { exact: true }).first().waitFor();
    expect(complaints).toEqual([]);
    await close();
  });

  it('charges the same one when they load again, also when they are none', async () => {
    const { page, complaints, close } = await openConsole(setup.browser, setup.app);
    await visit(page, '/playground', 'Playground');
    await page.getByLabel('Texts').fill('Kept');
    // They load again when the window is shown after a while.
    const loadAgain = () =>
      page.evaluate(
        "{ const now = Date.now; Date.now = () => now() + 60_000; document.dispatchEvent(new Event('visibilitychange', { bubbles: true })) }",
      );
    const newer = page.getByLabel('Key to charge').locator('option', { hasText: 'Newer key' });
    await setup.app.createKey({ name: 'Newer key' });
    await loadAgain();
    await newer.waitFor({ state: 'attached' });
    await page.route(KEYS, (route) => route.fulfill({ json: { data: [] } }));
    await loadAgain();
    await newer.waitFor({ state: 'detached' });
    const [request] = await Promise.all([
      page.waitForRequest('**/console/playground/**'),
      page.getByRole('button', { name: 'Embed 1 text' }).click(),
    ]);
    expect(request.url()).toContain(setup.app.key.hash);
    expect(complaints).toEqual([]);
    await close();
  });

  it('says that they could not be loaded, and loads them again', async () => {
    const { page, expectStatus, close } = await openConsole(setup.browser, setup.app);
    expectStatus(500);
    await page.route(KEYS, (route) =>
      route.fulfill({ status: 500, json: { error: { code: 500, message: 'Broken' } } }),
    );
    await page.goto('/playground');
    await page.getByText('This could not be loaded').waitFor();
    await page.unroute(KEYS);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('button', { name: 'Embed 3 texts' }).waitFor();
    await close();
  });
});
