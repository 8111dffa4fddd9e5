// From the first start to the first vector, and from a failed call to its attempts.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { describeInChromium, expectAccessible, openConsole, visit } from '../support/app/chromium.js';
import { startConsole } from '../support/app/console-app.js';
import type { ConsoleSetup } from '../support/app/console-app.js';
import { embed, rejectWith, SMALL } from '../support/requests/create-embedding.js';
import { recordRefusals } from '../support/requests/refusals.js';

// So many calls tell the overview whether it shows the guide.
const NEWEST = 20;

describeInChromium('the first call', () => {
  let setup: ConsoleSetup;
  beforeAll(async () => {
    setup = await startConsole();
  });
  afterAll(async () => {
    await setup.close();
  });

  it('is watched by the guide, which reports why one failed and shows one that succeeds', async () => {
    const { app, upstream, browser } = setup;
    const { page, complaints, close } = await openConsole(browser, app);
    await visit(page, '/', 'Overview');
    await page.getByText('Waiting for the first call').waitFor();
    await expectAccessible(page);
    const sample = (await page.getByRole('tabpanel').textContent()) ?? '';
    expect(sample).toContain(`${app.origin}/api/v1/embeddings`);
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByLabel('Name').fill('First application');
    await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click();
    const secret = (await page.getByTestId('secret').textContent()) ?? '';
    await page.getByRole('button', { name: 'Done' }).click();

    expect((await embed(app, { model: 'openai/unknown', input: 'Hello, world' }, secret)).status).toBe(404);
    await recordRefusals(app);
    await page.getByText(/^The last call was refused\. Wrong request: “.*openai\/unknown/).waitFor();
    await expectAccessible(page);

    upstream.answerWith(rejectWith(500, { error: { message: 'out of order' } }));
    expect((await embed(app, { model: SMALL, input: 'Hello, world' }, secret)).status).toBe(502);
    await page.getByText('The last call failed with status 502.').waitFor();
    upstream.answerWith(null);
    expect((await embed(app, { model: SMALL, input: 'Hello, world' }, secret)).status).toBe(200);
    await page.getByText('The first call has arrived').waitFor();
    await page.getByRole('link', { name: 'See what happened' }).click();
    await page.getByRole('heading', { level: 1, name: 'Generation' }).waitFor();
    await page
      .getByRole('table', { name: 'Parts of the cost' })
      .getByRole('rowheader', { name: 'Input' })
      .waitFor();
    expect(complaints).toEqual([]);
    await close();
  });

  it('is found by its status when it failed, with its attempts and the cause', async () => {
    const { app, upstream, browser } = setup;
    upstream.answerWith(rejectWith(500, { error: { message: 'out of order' } }));
    await embed(app, { model: SMALL, input: 'a', session_id: 'lost' });
    upstream.answerWith(null);
    const { page, complaints, close } = await openConsole(browser, app);
    await visit(page, '/generations', 'Generations');
    await page.getByLabel('Status').selectOption({ label: 'Failed' });
    await page.getByLabel('Session').fill('lost');
    await page.getByLabel('Session').press('Enter');
    await page.waitForURL((url) => url.search === '?status=error&session=lost');
    await page.getByText('Calls shown: 1').waitFor();
    await page.getByRole('row').nth(1).getByRole('link').click();
    await page.getByText('OpenAI failed with status 500.').waitFor();
    expect(await page.getByRole('listitem').filter({ hasText: '500' }).count()).toBeGreaterThan(1);
    // The way back keeps the filters.
    await page.goBack();
    await page.getByText('Calls shown: 1').waitFor();
    expect(complaints).toEqual([]);
    await close();
  });

  it('is counted beside the list, which holds still', async () => {
    const { app, browser } = setup;
    const { page, close } = await openConsole(browser, app);
    await visit(page, '/generations', 'Generations');
    const rows = await page.getByRole('row').count();
    await embed(app, { model: SMALL, input: 'new' });
    await page.getByRole('button', { name: '1 new' }).waitFor();
    expect(await page.getByRole('row').count()).toBe(rows);
    await page.getByRole('button', { name: '1 new' }).click();
    await page.getByRole('row').nth(rows).waitFor();
    await close();
  });

  it('is not awaited again where only the newest calls have failed', async () => {
    const { app, upstream, browser } = setup;
    upstream.answerWith(rejectWith(400, { error: { message: 'not like this' } }));
    for (let call = 0; call < NEWEST; call += 1) {
      expect((await embed(app, { model: SMALL, input: 'a' })).status).toBeGreaterThanOrEqual(400);
    }
    upstream.answerWith(null);
    const { page, close } = await openConsole(browser, app);
    await visit(page, '/', 'Overview');
    await page.getByRole('region', { name: 'Over time' }).waitFor();
    expect(await page.getByRole('region', { name: 'Set up' }).count()).toBe(0);
    await close();
  });
});
