// Why a call failed yesterday: the answer in the list, and the whole of it on the page of the call.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import {
  describeInChromium,
  expectAccessibleEverywhere,
  openConsole,
  visit,
} from '../support/app/chromium.js';
import type { OpenConsole } from '../support/app/chromium.js';
import { startConsole } from '../support/app/console-app.js';
import type { ConsoleSetup } from '../support/app/console-app.js';
import { recordGenerations } from '../support/deliveries/deliveries.js';
import { embed, rejectWith, SMALL } from '../support/requests/create-embedding.js';

const DAY_MS = 86_400_000;
const WORDS = "This model's maximum context length is 8192 tokens, your input has 9001.";
const HTML = '<img src=x onerror="alert(1)">';

describeInChromium('a failed call', () => {
  let setup: ConsoleSetup;
  let session: OpenConsole;
  let page: Page;
  beforeAll(async () => {
    setup = await startConsole();
    session = await openConsole(setup.browser, setup.app);
    page = session.page;
  });
  afterAll(() => setup.close());
  const inDesktop = () => page.setViewportSize({ width: 1280, height: 860 });

  it('of yesterday is found in three steps, and the list says why it failed', async () => {
    const createdAt = new Date(Date.now() - DAY_MS);
    await recordGenerations(setup.app, 1, { createdAt });
    await recordGenerations(setup.app, 1, {
      createdAt,
      status: 400,
      errorType: 'context_length_exceeded',
      errorMessage: WORDS,
    });
    await recordGenerations(setup.app, 1, { status: 502, errorType: 'provider_unavailable' });
    await visit(page, '/', 'Overview');
    await page.getByRole('link', { name: 'Generations', exact: true }).click();
    await page.getByRole('combobox', { name: 'Time' }).selectOption('Yesterday');
    await page.getByRole('combobox', { name: 'Status' }).selectOption('Failed');
    await page.getByText('Calls shown: 1').waitFor();
    const row = page.getByRole('row').nth(1);
    await row.getByText('Prompt too long').waitFor();
    await row.getByText(WORDS).waitFor();
    await expectAccessibleEverywhere(page);
    await inDesktop();
    await row.getByRole('link').first().click();
    const banner = page.getByRole('alert');
    await banner.getByText('400, Prompt too long. The prompt is longer than the model takes.').waitFor();
    await banner.getByText(WORDS).waitFor();
    await expectAccessibleEverywhere(page);
    await inDesktop();
    expect(session.complaints).toEqual([]);
  });

  it('is filtered by its error, and shows the words of the provider as text', async () => {
    setup.upstream.answerWith(rejectWith(400, { error: { message: `unknown member ${HTML}` } }));
    const failed = await embed(setup.app, { model: SMALL, input: 'a' });
    setup.upstream.answerWith(null);
    expect(failed.status).toBe(400);
    await visit(page, '/generations', 'Generations');
    await page.getByRole('combobox', { name: 'Error' }).selectOption('Wrong request');
    await page.waitForURL((url) => url.searchParams.get('error') === 'invalid_request');
    await page.getByText('Calls shown: 1').waitFor();
    await page.getByRole('row').nth(1).getByRole('link').first().click();
    const banner = page.getByRole('alert');
    await banner.getByText('400, Wrong request. OpenAI refused the request.').waitFor();
    await banner.getByText(`unknown member ${HTML}`).waitFor();
    expect(session.complaints).toEqual([]);
  });
});
