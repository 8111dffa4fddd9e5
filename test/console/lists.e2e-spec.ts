// Lists of the console: saved as files, longer than any page, and what their rows can do.
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { askFor } from '../support/requests/admin.js';
import { withCatalogueFile } from '../support/catalogue/catalogue-file.js';
import {
  describeInChromium,
  expectAccessible,
  fillModel,
  holdRequests,
  openConsole,
  visit,
} from '../support/app/chromium.js';
import type { OpenConsole } from '../support/app/chromium.js';
import { startConsole } from '../support/app/console-app.js';
import type { ConsoleSetup } from '../support/app/console-app.js';
import { embed, LOCAL } from '../support/requests/create-embedding.js';
import { DELIVERY_ENVIRONMENT, recordGenerations } from '../support/deliveries/deliveries.js';
import { eventually } from '../support/eventually.js';
import { startReceiver } from '../support/receivers/receiver.js';
import type { RunningReceiver } from '../support/receivers/receiver.js';
import { generationsIn, traceCollector } from '../support/deliveries/trace-collector.js';

const KEYS = 10_000;
const MODELS = 5_000;
const GENERATIONS = 250;
const DAY_MS = 86_400_000;
const CATALOGUE = `models:\n${Array.from({ length: MODELS }, (_model, index) => modelOf(index)).join('')}`;

function modelOf(index: number): string {
  const endpoint =
    '{ provider: openai, upstream_model: text-embedding-3-small, max_inputs_per_call: 100, max_tokens_per_input: 1000, ' +
    'prices: [{ effective_from: 2026-01-02, usd_per_million_tokens: 0.01, source: a test }], ' +
    'data_policy: { retains_prompts: false, trains: false } }';
  return `  - { id: acme/model-${index}, created_at: 2026-01-02, native_dimensions: 1536, context_length: 8192, endpoints: [${endpoint}] }\n`;
}

describeInChromium('lists of the console', () => {
  let setup: ConsoleSetup;
  let session: OpenConsole;
  let page: Page;
  let receiver: RunningReceiver;
  beforeAll(async () => {
    receiver = await startReceiver(traceCollector);
    setup = await withCatalogueFile(CATALOGUE, (file) =>
      startConsole({ ...DELIVERY_ENVIRONMENT, CATALOGUE_FILE: file }),
    );
    const { app } = setup;
    await app.sql(
      `INSERT INTO api_keys (id, account_id, workspace_id, hash, kind, name, label, created_at)
       SELECT gen_random_uuid(), $1, $2, encode(sha256(('many' || n)::bytea), 'hex'), 'inference', 'Key ' || n, 'l',
         now() - n * interval '1 second' FROM generate_series(1, ${KEYS}) AS n`,
      [app.accountId, app.workspaceId],
    );
    session = await openConsole(setup.browser, app);
    page = session.page;
  });
  afterAll(async () => {
    await setup.close();
    await receiver.close();
  });

  const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
  const rows = () => page.getByRole('row').count();
  /** Bytes of all answers of the API since the page was loaded. */
  const loadedBytes = () =>
    page.evaluate<number>(
      `performance.getEntriesByType('resource').filter(({ name }) => name.includes('/api/'))
         .reduce((sum, { decodedBodySize }) => sum + decodedBodySize, 0)`,
    );
  const elements = () => page.locator('*').count();

  describe('with 10,000 keys', () => {
    it('load by pages', async () => {
      await visit(page, '/keys', 'Keys');
      await page.getByText('Keys shown: 100').waitFor();
      expect(await rows()).toBe(101);
      await press('Load more');
      // A further page repeats one row.
      await page.getByText('Keys shown: 199').waitFor();
      expect(await rows()).toBe(200);
      expect(await elements()).toBeLessThan(10_000);
    });

    it('are found by a part of their name, which the address keeps', async () => {
      await visit(page, '/keys', 'Keys');
      const field = page.getByRole('searchbox', { name: 'Search keys' });
      await field.fill('KEY 7777');
      await page.getByText('Keys shown: 1, no more').waitFor();
      await page.getByRole('link', { name: 'Key 7777', exact: true }).waitFor();
      expect(new URL(page.url()).searchParams.get('q')).toBe('KEY 7777');
      await page.reload();
      await page.getByText('Keys shown: 1, no more').waitFor();
      expect(await field.inputValue()).toBe('KEY 7777');
      await field.fill('no such key');
      await field.press('Enter');
      await page.getByText('No key matches').waitFor();
      await page.getByText('contains “no such key”').waitFor();
      // The page with keys is examined everywhere among all pages.
      await page.setViewportSize({ width: 390, height: 860 });
      await expectAccessible(page);
      await press('Clear the search');
      await page.getByText('Keys shown: 100').waitFor();
      expect(await field.inputValue()).toBe('');
      expect(new URL(page.url()).searchParams.has('q')).toBe(false);
      await page.setViewportSize({ width: 1280, height: 860 });
    });

    it('are offered a bounded number to choose from', async () => {
      await visit(page, '/generations', 'Generations');
      const choices = page.getByRole('combobox', { name: 'Key', exact: true }).locator('option');
      await choices.nth(1).waitFor({ state: 'attached' });
      expect(await choices.count()).toBeLessThanOrEqual(101);
      await visit(page, '/playground', 'Playground');
      expect(await page.getByLabel('Key to charge').locator('option').count()).toBeLessThanOrEqual(100);
    });
  });

  describe('with 5,000 models', () => {
    it('load by pages, and are found by a part of their name', async () => {
      await visit(page, '/models', 'Models and providers');
      await page.getByText('Models shown: 50').waitFor();
      expect(await loadedBytes()).toBeLessThan(500_000);
      const painted = await page.waitForFunction<number>(
        "performance.getEntriesByName('first-contentful-paint')[0]?.startTime",
      );
      expect(await painted.jsonValue()).toBeLessThan(30_000);
      await press('Load more');
      await page.getByText('Models shown: 99').waitFor();
      expect(await elements()).toBeLessThan(5_000);
      await page.getByLabel('Search models').fill('acme/model-4999');
      await page.getByText('Models shown: 1, no more').waitFor();
      await page.getByRole('link', { name: 'acme/model-4999' }).waitFor();
    });

    it.each([
      ['/playground', 'Playground'],
      ['/generations', 'Generations'],
    ])('are offered at %s by a part of their name', async (path, heading) => {
      await visit(page, path, heading);
      const field = page.getByLabel('Model', { exact: true });
      await (path === '/playground' ? fillModel(page, 'acme/model-4321') : field.fill('acme/model-4321'));
      await page.locator('option[value="acme/model-4321"]').waitFor({ state: 'attached' });
      expect(await page.locator('datalist option').count()).toBeLessThanOrEqual(60);
      expect(await loadedBytes()).toBeLessThan(500_000);
    });
  });

  describe('a list as a file', () => {
    const save = async (): Promise<readonly string[]> => {
      const [download] = await Promise.all([page.waitForEvent('download'), press('Download CSV')]);
      return (await readFile(await download.path(), 'utf8')).trim().split('\r\n');
    };

    let other: string;
    beforeAll(async () => {
      const { app } = setup;
      const { data } = await askFor<{ data: { id: string } }>(201, app, 'post', '/workspaces', {
        body: { name: 'Other', slug: 'other' },
      });
      other = data.id;
      await app.createKey({ workspaceId: other });
      await askFor(201, app, 'post', '/keys', { body: { name: 'Audited' } });
      const createdAt = new Date(Date.now() - 2 * DAY_MS);
      await recordGenerations(app, GENERATIONS, { createdAt }, null);
    });

    it.each([
      ['/?range=week', 'Overview', 'model,request_count,', 1],
      ['/audit', 'Audit log', 'id,created_at,actor', 1],
      // Further ones than an answer of the API has.
      ['/generations', 'Generations', 'id,created_at,', GENERATIONS],
    ])('of %s has its names once, and all of its rows', async (path, heading, names, count) => {
      await visit(page, path, heading);
      const [first = '', ...others] = await save();
      expect(first.startsWith(names)).toBe(true);
      expect(others).toHaveLength(count);
      expect(new Set(others).size).toBe(count);
    });

    it('has the keys of the workspace that the page shows', async () => {
      await visit(page, `/keys?workspace=${other}`, 'Keys');
      const [first = '', ...others] = await save();
      expect(first.startsWith('label,limit,')).toBe(true);
      expect(others).toHaveLength(1);
    });
  });

  it('tests a provider, and shows the cost of the test', async () => {
    await visit(page, '/models', 'Models and providers');
    const provider = page
      .getByRole('row')
      .filter({ has: page.getByRole('button', { name: 'Test OpenAI', exact: true }) });
    await press('Test OpenAI');
    await provider.getByText('Works').waitFor();
    await provider.getByText(/\d+ tokens, \$0\.0+\d+/).waitFor();
    setup.upstream.answerWith((_request, response) => {
      response.writeHead(401, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { message: 'Incorrect API key provided' } }));
    });
    await press('Test OpenAI');
    await provider.getByText('HTTP 401').waitFor();
    setup.upstream.answerWith(null);
    expect(session.complaints).toEqual([]);
  });

  it('shows dead letters in the words of the platform, and replays one of them', async () => {
    const { app } = setup;
    const { data } = await askFor<{ data: { id: string } }>(201, app, 'post', '/observability/destinations', {
      body: { type: 'webhook', name: 'Strict', config: { url: `${receiver.origin}/traces` } },
    });
    receiver.always({ status: 400, body: 'this trace is malformed' });
    await visit(page, `/destinations/${data.id}`, 'Strict');
    await press('Replay');
    const choice = page.getByLabel('Send again');
    const first = await choice.inputValue();
    for (const input of ['one', 'two']) await embed(app, { model: LOCAL, input });
    await eventually(
      () => app.sql('SELECT 1 FROM dead_letters WHERE destination_id = $1', [data.id]),
      ({ length }) => length === 2,
    );
    // The page behind the dialog knows of them.
    await page.locator('dl > div', { hasText: 'Dead letters' }).getByText('2', { exact: true }).waitFor();
    expect(await choice.inputValue()).toBe(first);
    await page.keyboard.press('Escape');
    await visit(page, `/destinations/${data.id}`, 'Strict');
    const letters = page.getByRole('table', { name: 'List of dead letters' }).getByRole('row');
    await letters.filter({ hasText: 'this trace is malformed' }).nth(1).waitFor();
    await expectAccessible(page);
    await letters.nth(1).getByRole('checkbox').check();
    await press('Replay 1 chosen');
    await letters.nth(1).getByText('Rejected again').waitFor();
    receiver.always(null);
    const before = receiver.requests.length;
    const release = await holdRequests(page, '**/replay');
    await letters.nth(1).getByRole('checkbox').check();
    await press('Replay 1 chosen');
    // Chosen in the meantime, and not sent.
    await letters.nth(2).getByRole('checkbox').check();
    release();
    await letters.nth(1).getByText('Delivered after replay').waitFor();
    await page.getByRole('button', { name: 'Replay 1 chosen' }).waitFor();
    await eventually(
      () => Promise.resolve(receiver.requests.slice(before).flatMap(generationsIn)),
      ({ length }) => length === 1,
    );
    await eventually(
      () => app.sql('SELECT 1 FROM dead_letters WHERE destination_id = $1 AND NOT is_delivered', [data.id]),
      ({ length }) => length === 1,
    );
    expect(session.complaints).toEqual([]);
  });
});
