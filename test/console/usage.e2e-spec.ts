// The cost of a month in the console: by team, key and model, and as a file with the same rows.
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import {
  describeInChromium,
  expectAccessibleEverywhere,
  openConsole,
  visit,
  waitUntilLoaded,
} from '../support/app/chromium.js';
import type { OpenConsole } from '../support/app/chromium.js';
import { startConsole } from '../support/app/console-app.js';
import type { ConsoleSetup } from '../support/app/console-app.js';
import { askFor } from '../support/requests/admin.js';
import { embed, LOCAL, SMALL } from '../support/requests/create-embedding.js';

describeInChromium('usage in the console', () => {
  let setup: ConsoleSetup;
  let session: OpenConsole;
  let page: Page;
  beforeAll(async () => {
    setup = await startConsole();
    const { app } = setup;
    const search = await app.createKey({ name: 'Search, "team"' });
    const formula = await app.createKey({ name: '=HYPERLINK("x")' });
    for (const [key, model, calls] of [
      [search.secret, SMALL, 3],
      [search.secret, LOCAL, 2],
      [formula.secret, SMALL, 1],
    ] as const) {
      for (let made = 0; made < calls; made++)
        expect((await embed(app, { model, input: 'a text', user: 'user-ada' }, key)).status).toBe(200);
    }
    session = await openConsole(setup.browser, app);
    page = session.page;
  });
  afterAll(async () => {
    await session.close();
    await setup.close();
  });

  const row = (...texts: readonly string[]) =>
    texts.reduce((rows, hasText) => rows.filter({ hasText }), page.getByRole('row'));
  const today = () => new Date().toISOString().slice(0, 10);

  async function download(): Promise<string> {
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download CSV' }).click(),
    ]);
    return readFile(await file.path(), 'utf8');
  }

  it('shows this month by model, and in both themes and widths', async () => {
    await visit(page, '/usage', 'Usage');
    await row(SMALL).getByText('4', { exact: true }).first().waitFor();
    await row(LOCAL).getByText('2', { exact: true }).first().waitFor();
    await page.getByRole('img', { name: /Spend in USD: from/ }).waitFor();
    await expectAccessibleEverywhere(page);
    await page.setViewportSize({ width: 1280, height: 860 });
    expect(session.complaints).toEqual([]);
  });

  it('groups by two things in two steps, and the file has exactly these rows', async () => {
    await page.getByLabel('Group by', { exact: true }).selectOption('Key');
    await page.getByLabel('And by').selectOption('Model');
    await waitUntilLoaded(page);
    await row('Search, "team"', SMALL).getByText('3', { exact: true }).first().waitFor();
    const text = await download();
    const [header, ...lines] = text.trimEnd().split('\r\n');
    expect(header).toBe(
      'key_name,api_key_id,model,request_count,error_count,prompt_tokens,completion_tokens,total_tokens,byok_usage,total_usage',
    );
    expect(lines).toHaveLength(3);
    expect(lines[0]).toMatch(/^"Search, ""team""",[0-9a-f]{64},openai\/text-embedding-3-small,3,0,/);
    // A spreadsheet would compute it.
    expect(lines.find((line) => line.includes('HYPERLINK'))).toMatch(/^"'=HYPERLINK/);
  });

  it('keeps groups and period in the address, and compares workspaces', async () => {
    await askFor(201, setup.app, 'post', '/workspaces', { body: { name: 'Research', slug: 'research' } });
    await page.getByLabel('And by').selectOption('Nothing else');
    await page.getByLabel('Group by', { exact: true }).selectOption('Workspace');
    await page.reload();
    await waitUntilLoaded(page);
    expect(await page.getByLabel('Group by', { exact: true }).inputValue()).toBe('workspace');
    await page.getByRole('cell', { name: '6', exact: true }).first().waitFor();
  });

  it('shows last month, an own range, and says what is wrong with one', async () => {
    await visit(page, '/usage', 'Usage');
    await page.getByLabel('Period', { exact: true }).selectOption({ value: 'last' });
    await page.getByText('No call in this period').first().waitFor();
    await page.getByLabel('Period', { exact: true }).selectOption({ value: 'own' });
    await row(SMALL).waitFor();
    expect(await page.getByLabel('Last day').inputValue()).toBe(today());
    await page.getByLabel('First day').fill('2099-01-01');
    await page.keyboard.press('Enter');
    await page.getByText('The first day is after the last.').waitFor();
    await page.getByLabel('First day').fill(today());
    await page.keyboard.press('Enter');
    await row(SMALL).getByText('4', { exact: true }).first().waitFor();
    await expectAccessibleEverywhere(page);
    await page.setViewportSize({ width: 1280, height: 860 });
  });

  it('leads to the calls of a group', async () => {
    await page.getByRole('link', { name: SMALL }).click();
    await page.getByRole('heading', { level: 1, name: 'Generations' }).waitFor();
    // On a loaded machine the search may stop before the start of the day.
    await page.getByText(/^Calls shown: 4\b/).waitFor();
  });

  it('leads to the calls of a row in its workspace, or in all workspaces', async () => {
    const { app } = setup;
    const { data } = await askFor<{ data: { id: string } }>(201, app, 'post', '/workspaces', {
      body: { name: 'Pricing', slug: 'pricing' },
    });
    const { key } = await askFor<{ key: string }>(201, app, 'post', '/keys', {
      body: { name: 'Price finder', workspace_id: data.id },
    });
    expect((await embed(app, { model: SMALL, input: 'a text' }, key)).status).toBe(200);
    await visit(page, '/usage?workspace=all', 'Usage');
    await row(SMALL).getByText('5', { exact: true }).first().waitFor();
    await row(SMALL).getByRole('link', { name: SMALL }).click();
    await page.getByRole('heading', { level: 1, name: 'Generations' }).waitFor();
    await page.getByText(/^Calls shown: 5\b/).waitFor();
    expect(new URL(page.url()).searchParams.get('workspace')).toBe('all');
    await visit(page, '/usage?workspace=all', 'Usage');
    await page.getByLabel('And by').selectOption('Workspace');
    await row(SMALL, 'Pricing').getByRole('link', { name: SMALL }).click();
    await page.getByRole('heading', { level: 1, name: 'Generations' }).waitFor();
    await page.getByText(/^Calls shown: 1\b/).waitFor();
    expect(new URL(page.url()).searchParams.get('workspace')).toBe(data.id);
    await visit(page, '/usage?workspace=all&by=key', 'Usage');
    await page.getByRole('link', { name: 'Price finder' }).click();
    await page.getByRole('heading', { level: 1, name: 'Generations' }).waitFor();
    await page.getByText(/^Calls shown: 1\b/).waitFor();
  });

  it('shows the spend of each workspace beside its budget', async () => {
    const workspace = `/workspaces/${setup.app.workspaceId}`;
    await askFor(200, setup.app, 'put', `${workspace}/budgets/monthly`, { body: { limit_usd: 5 } });
    await visit(page, '/workspaces', 'Workspaces');
    await page.getByRole('meter', { name: /^Budget of/ }).waitFor();
    await page.getByText('No budget').first().waitFor();
    await expectAccessibleEverywhere(page);
    await page.setViewportSize({ width: 1280, height: 860 });
  });

  it('saves the table of the overview as it is on screen, today included', async () => {
    await visit(page, '/?by=key', 'Overview');
    await page.getByRole('heading', { level: 2, name: 'Top keys' }).waitFor();
    await waitUntilLoaded(page);
    const lines = (await download()).trimEnd().split('\r\n');
    expect(lines[0]).toMatch(/^key_name,api_key_id,request_count,/);
    expect(lines).toHaveLength(3);
    expect(session.complaints).toEqual([]);
  });

  it('asks once for the thousand users that spent most, sums up the rest in a row, and saves each', async () => {
    const { app } = setup;
    await app.sql(
      `INSERT INTO generations (id, workspace_id, created_at, log_ordinal, account_id, api_key_id, operation, model, endpoint,
         provider, status, input_count, prompt_tokens, total_tokens, cost, upstream_cost, is_byok, encoding_format,
         duration_ms, request_id, region, user_id)
       SELECT gen_random_uuid(), $1, date_trunc('milliseconds', now() - interval '1 minute' * number), number, $2, $3, 'embeddings', 'many/users', 'e', 'p', 200,
         1, 1, 1, 0.01 * number, 0, false, 'float', 5, 'request', 'global', 'many-' || number
       FROM generate_series(1, 1100) AS number`,
      [app.workspaceId, app.accountId, app.key.id],
    );
    const asked: string[] = [];
    page.on('request', (request) => {
      const body = request.postData() ?? '';
      if (request.url().endsWith('/analytics/query') && body.includes('"user"')) asked.push(body);
    });
    const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
    await visit(page, `/usage?by=user&from=${yesterday}&to=${today()}`, 'Usage');
    await waitUntilLoaded(page);
    await row('many-1100').getByText('$11.00').waitFor();
    // The groups, and those of the chart by day.
    expect(asked).toHaveLength(2);
    await page.getByRole('button', { name: 'Show all' }).click();
    await row('All others')
      .getByText(/^10[67]$/)
      .first()
      .waitFor();
    const lines = (await download()).trimEnd().split('\r\n');
    expect(lines.filter((line) => line.startsWith('many-'))).toHaveLength(1100);
    expect(session.complaints).toEqual([]);
  });
});
