// Forms of the console beside that of a key: what they send, and how they show what the service rejects.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { describeInChromium, openConsole, returnLater, visit } from '../support/app/chromium.js';
import type { OpenConsole } from '../support/app/chromium.js';
import { startConsole } from '../support/app/console-app.js';
import type { ConsoleSetup } from '../support/app/console-app.js';
import { DELIVERY_ENVIRONMENT } from '../support/deliveries/deliveries.js';
import { askFor } from '../support/requests/admin.js';

interface Listed<Item> {
  readonly data: readonly Item[];
}

describeInChromium('forms of the console', () => {
  let setup: ConsoleSetup;
  let session: OpenConsole;
  let page: Page;
  beforeAll(async () => {
    setup = await startConsole(DELIVERY_ENVIRONMENT);
    session = await openConsole(setup.browser, setup.app);
    page = session.page;
    session.expectStatus(400);
  });
  afterAll(() => setup.close());

  const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
  const invalid = (name: string) => page.locator(`[name="${name}"][aria-invalid="true"]`);
  const listed = async (path: string) => (await askFor<Listed<unknown>>(200, setup.app, 'get', path)).data;

  it('rejects a budget that is no number', async () => {
    const path = `/workspaces/${setup.app.workspaceId}`;
    await visit(page, path, 'Default');
    await press('Add budget');
    await page.getByLabel('Budget', { exact: true }).fill('1,000');
    await press('Save');
    await invalid('limit_usd').waitFor();
    expect(await listed(`${path}/budgets`)).toEqual([]);
  });

  it('rejects an order of a provider key that is no number', async () => {
    await visit(page, '/provider-keys', 'Provider keys');
    await page.getByRole('button', { name: 'Add provider key' }).first().click();
    await page.getByLabel('Key', { exact: true }).fill('sk-own-key-of-a-provider');
    await page.getByLabel('Order').fill('first');
    await press('Save');
    await invalid('sort_order').waitFor();
    expect(await listed('/byok')).toEqual([]);
  });

  it('rejects a share of calls that is no number', async () => {
    await visit(page, '/destinations/new?kind=webhook', 'Add Webhook');
    await page.getByLabel('Name', { exact: true }).fill('Half of the calls');
    await page.getByLabel('URL').fill('https://example.com/traces');
    await page.getByLabel('Sampling').fill('50%');
    await press('Create destination');
    await invalid('sampling_rate').waitFor();
    expect(await listed('/observability/destinations')).toEqual([]);
  });

  it('sends a call again once the field with the problem is corrected', async () => {
    await visit(page, '/playground', 'Playground');
    await page.getByLabel('Dimensions').fill('1.5');
    await page.getByText('Must be a whole number').waitFor();
    await page.getByLabel('Dimensions').fill('0');
    await press('Embed 3 texts');
    await invalid('dimensions').waitFor();
    await page.getByLabel('Dimensions').fill('256');
    await invalid('dimensions').waitFor({ state: 'detached' });
    await press('Embed 3 texts');
    await page.getByText('Cosine similarity').waitFor();
  });

  it('sends a call again when only another field has changed', async () => {
    await visit(page, '/playground', 'Playground');
    await page.getByLabel('Dimensions').fill('0');
    await press('Embed 3 texts');
    await invalid('dimensions').waitFor();
    await page.getByLabel('Texts, one on each line').fill('One\nTwo');
    const [response] = await Promise.all([
      page.waitForResponse('**/console/playground/embeddings?**'),
      press('Embed 2 texts'),
    ]);
    expect(response.status()).toBe(400);
    await invalid('dimensions').waitFor();
  });

  it('accepts a budget whose interval is corrected', async () => {
    const path = `/workspaces/${setup.app.workspaceId}`;
    await askFor(200, setup.app, 'put', `${path}/budgets/monthly`, { body: { limit_usd: 10 } });
    await visit(page, path, 'Default');
    await press('Add budget');
    await page.getByLabel('Budget', { exact: true }).fill('100');
    await press('Save');
    await invalid('limit_usd').waitFor();
    await page.getByLabel('Interval').selectOption('Lifetime');
    await press('Save');
    await page.getByText('Lifetime budget saved.').waitFor();
  });

  it('shows the problem of a custom header, and saves the corrected one', async () => {
    await visit(page, '/destinations/new?kind=webhook', 'Add Webhook');
    await page.getByLabel('Name', { exact: true }).fill('With headers');
    await page.getByLabel('URL').fill('https://example.com/traces');
    await press('Add header');
    await page.getByLabel('Name of header 1').fill('X Team');
    await page.getByLabel('Value of header 1').fill('search');
    await press('Create destination');
    const problem = page.getByRole('group', { name: 'Custom headers' }).getByRole('alert');
    await problem.waitFor();
    expect(await problem.textContent()).toContain('header');
    await press('Add header');
    await page.getByLabel('Value of header 2').fill('without a name');
    await page.getByText('A header has no name').waitFor();
    await page.getByLabel('Name of header 1').fill('X-Team');
    await press('Create destination');
    await page.getByLabel('Name of header 2').fill('x-team');
    await page.getByText('Two headers have the name x-team').waitFor();
    await press('Create destination');
    await page.getByRole('button', { name: 'Remove header x-team', exact: true }).click();
    await press('Create destination');
    await page.getByRole('heading', { level: 1, name: 'With headers' }).waitFor();
  });

  it('sends of a destination only what is changed', async () => {
    const path = '/observability/destinations';
    const body = { name: 'Traces', type: 'webhook', config: { url: 'https://first.example.com/traces' } };
    const { data } = await askFor<{ data: { id: string } }>(201, setup.app, 'post', path, { body });
    await visit(page, `/destinations/${data.id}/edit`, 'Edit Traces');
    await askFor(200, setup.app, 'patch', `${path}/${data.id}`, {
      body: { privacy_mode: true, config: { url: 'https://second.example.com/traces' } },
    });
    await page.getByLabel('Name', { exact: true }).fill('Renamed traces');
    await page.getByLabel('Sampling').fill('99.99');
    await press('Save');
    await page.getByRole('heading', { level: 1, name: 'Renamed traces' }).waitFor();
    expect((await askFor<{ data: object }>(200, setup.app, 'get', `${path}/${data.id}`)).data).toMatchObject({
      privacy_mode: true,
      sampling_rate: 0.9999,
      config: { url: 'https://second.example.com/****' },
    });
  });

  it('leads to the workspace that it has created', async () => {
    await visit(page, '/workspaces', 'Workspaces');
    await press('Create workspace');
    await page.getByLabel('Name', { exact: true }).fill('Evaluation');
    await press('Create');
    await page.getByRole('heading', { level: 1, name: 'Evaluation' }).waitFor();
  });

  it('sends of a workspace only what is changed', async () => {
    const { data } = await askFor<{ data: { id: string } }>(201, setup.app, 'post', '/workspaces', {
      body: { name: 'Research', slug: 'research' },
    });
    await visit(page, `/workspaces/${data.id}`, 'Research');
    await press('Edit');
    await page.getByLabel('Description').waitFor();
    await askFor(200, setup.app, 'patch', `/workspaces/${data.id}`, { body: { description: 'By the API' } });
    await returnLater(page);
    await page.getByText('By the API').waitFor();
    expect(await page.getByLabel('Description').inputValue()).toBe('');
    await page.getByLabel('Name', { exact: true }).fill('Long research');
    await press('Save');
    await page.getByRole('heading', { level: 1, name: 'Long research' }).waitFor();
    await page.getByText('By the API').waitFor();
    expect(session.complaints).toEqual([]);
  });
});
