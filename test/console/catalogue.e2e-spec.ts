// The catalogue in the console: a model is found, changed, priced, disabled, copied and reverted by an operator, and read by others.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { AppConfig } from '../../src/config/app-config.js';
import type { CatalogueModelDto } from '../../src/models/dto/catalogue-model.dto.js';
import {
  describeInChromium,
  expectAccessible,
  expectAccessibleEverywhere,
  openConsole,
  visit,
} from '../support/app/chromium.js';
import type { OpenConsole } from '../support/app/chromium.js';
import { startConsole } from '../support/app/console-app.js';
import type { ConsoleSetup } from '../support/app/console-app.js';
import { withCatalogueFile } from '../support/catalogue/catalogue-file.js';
import { makeOperator } from '../support/catalogue/operator-apps.js';
import { listAt } from '../support/discovery/discovered.js';
import { askFor } from '../support/requests/admin.js';
import { embed, SMALL } from '../support/requests/create-embedding.js';

const CHAT = 'openai/gpt-4.1-mini';
const NAME = 'OpenAI: GPT-4.1 Mini';
const OF_FILE = 'openai/gpt-4.1';
const FILE = `chat_models:\n  - { id: ${OF_FILE}, name: Of the file }\n`;

describeInChromium('the catalogue in the console', () => {
  let setup: ConsoleSetup;
  let session: OpenConsole;
  let page: Page;
  let release: () => void;
  beforeAll(async () => {
    await new Promise<void>((isStarted, reject) => {
      withCatalogueFile(FILE, async (path) => {
        setup = await startConsole({ CATALOGUE_FILE: path });
        const released = new Promise<void>((resolve) => {
          release = resolve;
        });
        isStarted();
        await released;
      }).catch(reject);
    });
    makeOperator(setup.app);
    session = await openConsole(setup.browser, setup.app);
    session.expectStatus(400);
    session.expectStatus(404);
    page = session.page;
  });
  afterAll(async () => {
    await setup.close();
    release();
  });

  const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
  const dialog = () => page.getByRole('dialog');
  const modelOf = async (id: string): Promise<CatalogueModelDto> => {
    const path = `/catalogue/models/${id}`;
    return (await askFor<{ data: CatalogueModelDto }>(200, setup.app, 'get', path)).data;
  };
  const layerOf = async (id: string): Promise<object | undefined> =>
    (await modelOf(id)).documents.find(({ name }) => name === 'operator')?.model;
  const wide = () => page.setViewportSize({ width: 1280, height: 860 });

  it('lists models with their sources, and a model with its prices and without a history', async () => {
    await visit(page, '/models', 'Models and providers');
    await page.getByLabel('Search models').fill('gpt-4.1');
    const row = page.getByRole('row').filter({ hasText: CHAT });
    await row.getByText('Shipped', { exact: true }).waitFor();
    await page
      .getByRole('row')
      .filter({ hasText: 'Of the file' })
      .getByText('File', { exact: true })
      .waitFor();
    await expectAccessibleEverywhere(page);
    await wide();
    await page.getByRole('link', { name: NAME, exact: true }).click();
    await page.getByRole('heading', { level: 1, name: NAME }).waitFor();
    await page.getByRole('row').filter({ hasText: 'In force' }).first().waitFor();
    await page.getByText('Never changed here').waitFor();
    await expectAccessibleEverywhere(page);
    await wide();
    expect(session.complaints).toEqual([]);
  });

  it('adds a price from a day, which stays beside the row in force, and removes it', async () => {
    await visit(page, `/models/${CHAT}`, NAME);
    await press('Add a price');
    await dialog().getByLabel('From', { exact: true }).fill('2999-01-01');
    await dialog().getByLabel('Input, 1M tokens', { exact: true }).fill('0.1234567');
    await dialog().getByLabel('Reason').fill('A new contract');
    await dialog().getByRole('button', { name: 'Add price' }).click();
    // The source is missing: its field says so, and nothing typed is lost.
    await dialog()
      .getByText(/must be text|is missing/i)
      .waitFor();
    await expectAccessible(page);
    await dialog().getByLabel('Source').fill('our contract');
    await dialog().getByRole('button', { name: 'Add price' }).click();
    await dialog().getByText('Must have at most 6 decimal places').waitFor();
    await dialog().getByLabel('Input, 1M tokens', { exact: true }).fill('0.123456');
    await dialog().getByRole('button', { name: 'Add price' }).click();
    const row = page.getByRole('row').filter({ hasText: '1 Jan 2999' });
    await row.getByText('Later').waitFor();
    await row.getByText('$0.123456').waitFor();
    await page.getByText('A new contract').first().waitFor();
    await expectAccessibleEverywhere(page);
    await wide();
    const shipped = (await modelOf(CHAT)).documents.find(({ name }) => name === 'shipped');
    expect(shipped).toBeDefined();
    await row.getByRole('button', { name: /Remove the price/ }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByText('The price was removed.').waitFor();
    await row.waitFor({ state: 'detached' });
    // The layer has nothing left to say.
    expect(await layerOf(CHAT)).toBeUndefined();
  });

  it('changes only the members that were changed, and adds and removes an endpoint', async () => {
    await visit(page, `/models/${CHAT}`, NAME);
    await page.getByRole('link', { name: 'Edit', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: `Edit ${NAME}` }).waitFor();
    await page.getByLabel('Name', { exact: true }).fill('Our Mini');
    await page.getByLabel('Output tokens, at most').first().fill('a lot');
    await press('Save');
    await page.getByText(/Must be a whole number/).waitFor();
    await expectAccessibleEverywhere(page);
    await wide();
    await page.getByLabel('Output tokens, at most').first().fill('1000');
    await press('Add endpoint');
    const added = page.getByRole('region', { name: /^New endpoint/ });
    await added.getByLabel('Provider', { exact: true }).selectOption('vllm');
    await added.getByLabel('Name at the provider').fill('mini');
    await added.getByLabel('Further members').fill('{"data_policy": ');
    await press('Save');
    await added.getByText('Must be a JSON object', { exact: false }).waitFor();
    await added
      .getByLabel('Further members')
      .fill('{"data_policy": {"retains_prompts": false, "trains": false}}');
    await added.getByRole('button', { name: 'Add a price' }).click();
    await dialog().getByLabel('Source').fill('our machines');
    await dialog().getByLabel('Input, 1M tokens', { exact: true }).fill('0');
    await dialog().getByLabel('Output, 1M tokens', { exact: true }).fill('0');
    await dialog().getByRole('button', { name: 'Add to the form' }).click();
    await press('Save');
    await page.getByRole('heading', { level: 1, name: 'Our Mini' }).waitFor();
    expect(await layerOf(CHAT)).toEqual({
      id: CHAT,
      name: 'Our Mini',
      endpoints: [
        { provider: 'openai', max_output_tokens: 1000 },
        expect.objectContaining({ provider: 'vllm', upstream_model: 'mini' }),
      ],
    });
    await page.getByRole('link', { name: 'Edit', exact: true }).click();
    await page.getByRole('region', { name: 'Endpoint vllm' }).getByRole('button').first().click();
    await page
      .getByRole('region', { name: 'Endpoint openai' })
      .getByRole('button', { name: 'Undo our changes' })
      .click();
    await press('Save');
    await page.getByRole('heading', { level: 1, name: 'Our Mini', exact: true }).waitFor();
    expect(await layerOf(CHAT)).toEqual({ id: CHAT, name: 'Our Mini' });
  });

  it('keeps the text of a form whose model another person has changed, and saves it over theirs', async () => {
    await visit(page, `/models/${CHAT}`, /Mini/);
    await page.getByRole('link', { name: 'Edit', exact: true }).click();
    await page.getByLabel('Name', { exact: true }).fill('Mini of ours');
    await askFor(200, setup.app, 'put', `/catalogue/models/${CHAT}`, {
      body: { model: { name: 'Our Mini', description: 'Of another person' }, reason: 'faster' },
    });
    session.expectStatus(409);
    await press('Save');
    await page
      .getByText('Another person has changed this model since you opened it.', { exact: false })
      .waitFor();
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Mini of ours');
    await expectAccessible(page);
    await press('Save over the newest revision');
    await page.getByRole('heading', { level: 1, name: 'Mini of ours' }).waitFor();
    expect(await layerOf(CHAT)).toEqual({ id: CHAT, name: 'Mini of ours', description: 'Of another person' });
  });

  it('shows a revision before and after, and reverts it', async () => {
    await visit(page, `/models/${CHAT}`, /Mini/);
    const [revision] = (await modelOf(CHAT)).revisions;
    await press(`Show revision ${revision?.version}`);
    await dialog().getByText('Our Mini').waitFor();
    await expectAccessibleEverywhere(page);
    await wide();
    await page.keyboard.press('Escape');
    await press(`Revert revision ${revision?.version}`);
    await page.getByRole('alertdialog').getByRole('button', { name: 'Revert' }).click();
    await page.getByRole('heading', { level: 1, name: 'Our Mini' }).waitFor();
    await page.getByText(`reverts revision ${revision?.version}`).waitFor();
  });

  it('disables a model, finds it among the disabled ones, and enables it', async () => {
    await visit(page, `/models/${CHAT}`, /Mini/);
    await press('Disable');
    await page.getByRole('alertdialog').getByRole('button', { name: 'Disable' }).click();
    await page.getByText('The operator has disabled this model', { exact: false }).waitFor();
    await visit(page, '/models?show=disabled', 'Models and providers');
    await page.getByRole('row').filter({ hasText: CHAT }).getByText('Disabled').waitFor();
    await expectAccessibleEverywhere(page);
    await wide();
    await page.getByRole('link', { name: 'Our Mini' }).click();
    await page.getByRole('heading', { level: 1, name: 'Our Mini' }).waitFor();
    await expectAccessible(page);
    await press('Enable');
    await page.getByRole('button', { name: 'Disable', exact: true }).waitFor();
    await visit(page, '/models?source=operator', 'Models and providers');
    await page.getByRole('row').filter({ hasText: CHAT }).getByText('Operator', { exact: true }).waitFor();
    expect(await page.getByRole('table', { name: 'List of models' }).getByRole('row').count()).toBe(2);
  });

  it('adds a model from a copy, and names the member that is wrong', async () => {
    await visit(page, '/models', 'Models and providers');
    await page.getByRole('link', { name: 'Add model' }).click();
    await page.getByLabel('Copy of').fill(CHAT);
    await expectAccessibleEverywhere(page);
    await wide();
    await press('Continue');
    await page.getByLabel('Id', { exact: true }).fill(CHAT);
    await press('Add model');
    await page.getByText('exists already', { exact: false }).waitFor();
    await expectAccessibleEverywhere(page);
    await wide();
    await page.getByLabel('Id', { exact: true }).fill('acme/chat-2');
    await page.getByLabel('Name', { exact: true }).fill('Acme Chat 2');
    await press('Add model');
    await page.getByRole('heading', { level: 1, name: 'Acme Chat 2' }).waitFor();
    await page.getByRole('row').filter({ hasText: 'In force' }).first().waitFor();
    expect(await modelOf('acme/chat-2')).toMatchObject({ kind: 'chat_models', layers: ['operator'] });
    await page.getByRole('button', { name: 'Further actions for Acme Chat 2' }).click();
    await page.getByRole('menuitem', { name: 'Remove' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('heading', { level: 1, name: 'Models and providers' }).waitFor();
    expect(session.complaints).toEqual([]);
  });

  it('adds a model from a name that its provider lists, which has no price yet', async () => {
    await listAt(setup.app, 'openai', {
      'gpt-9-mini': { displayName: 'GPT-9 Mini', contextLength: 500_000 },
      'gpt-4.1-mini': {},
    });
    await visit(page, '/models/new', 'Add model');
    await page.getByLabel('Provider', { exact: true }).selectOption('openai');
    await page.getByText('Names that are not in the catalogue: 1.', { exact: false }).waitFor();
    await expectAccessibleEverywhere(page);
    await wide();
    await page.getByLabel('Name at the provider').fill('gpt-9-mini');
    await page.getByLabel('A model that is like it').fill(CHAT);
    await page.getByRole('button', { name: 'Continue' }).last().click();
    await page.getByLabel('Id', { exact: true }).fill('openai/gpt-9-mini');
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('GPT-9 Mini');
    expect(await page.getByLabel('Context, tokens').inputValue()).toBe('500000');
    await press('Add model');
    await page.getByRole('heading', { level: 1, name: 'GPT-9 Mini' }).waitFor();
    const { documents } = await modelOf('openai/gpt-9-mini');
    const [layer] = documents as unknown as { model: { endpoints: Record<string, unknown>[] } }[];
    expect(layer?.model.endpoints).toEqual([
      expect.objectContaining({ provider: 'openai', upstream_model: 'gpt-9-mini', prices: [] }),
    ]);
  });

  it('notes that a provider has not listed a name for a week', async () => {
    await setup.app.sql(
      "UPDATE provider_models SET last_seen = now() - interval '8 days' WHERE upstream_model = 'gpt-4.1-mini'",
    );
    await page.goto(`/models/${CHAT}`);
    await page.getByText('no longer lists', { exact: false }).waitFor();
    await expectAccessible(page);
    await visit(page, '/models/openai/gpt-9-mini', 'GPT-9 Mini');
    expect(await page.getByText('no longer lists', { exact: false }).count()).toBe(0);
  });

  it('says in the record of a call that a ceiling priced it', async () => {
    const answer = await embed(setup.app, { model: SMALL, input: 'a text' }, setup.app.apiKey);
    const ceiling = '[0, "2026-01-01", "ceiling"]';
    await setup.app.sql("UPDATE generations SET chat = jsonb_set(chat, '{pricing}', $1::jsonb)", [ceiling]);
    await page.goto(`/generations/${answer.headers['x-generation-id']}`);
    await page.getByText('The catalogue does not have the model', { exact: false }).waitFor();
    await expectAccessible(page);
  });

  it('says why a model of CATALOGUE_FILE cannot be changed', async () => {
    await visit(page, `/models/${OF_FILE}`, 'Of the file');
    await page.getByText('CATALOGUE_FILE defines this model.', { exact: false }).waitFor();
    expect(await page.getByRole('link', { name: 'Edit', exact: true }).count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Add a price' }).count()).toBe(0);
    await expectAccessibleEverywhere(page);
    await wide();
  });

  it('shows a moving alias, and adds a target', async () => {
    const id = '~acme/mini-latest';
    await askFor(200, setup.app, 'put', `/catalogue/models/${id}`, {
      body: {
        kind: 'moving_aliases',
        model: { targets: [{ effective_from: '2026-01-01', target: CHAT, source: 'ours' }] },
      },
    });
    await visit(page, `/models/${id}`, id);
    await press('Add a target');
    await dialog().getByLabel('Model').fill('acme/nothing');
    await dialog().getByLabel('From', { exact: true }).fill('2999-01-01');
    await dialog().getByLabel('Source').fill('ours');
    await dialog().getByRole('button', { name: 'Add target' }).click();
    await dialog().getByText('There is no chat model acme/nothing').waitFor();
    await dialog().getByLabel('Model').fill('openai/gpt-4.1');
    await dialog().getByRole('button', { name: 'Add target' }).click();
    await page.getByRole('row').filter({ hasText: '1 Jan 2999' }).getByText('Later').waitFor();
    await expectAccessibleEverywhere(page);
    await wide();
    expect(session.complaints).toEqual([]);
  });

  it('is read by keys of other accounts, which see the reason instead of buttons', async () => {
    await visit(page, `/models/${CHAT}`, /Mini/);
    const { operatorAccounts } = setup.app.application.get(AppConfig);
    (operatorAccounts as string[]).length = 0;
    // A page that was open before has its buttons, and says why they do nothing.
    session.expectStatus(403);
    await press('Disable');
    await page.getByRole('alertdialog').getByRole('button', { name: 'Disable' }).click();
    await page.getByText('You may read the catalogue.', { exact: false }).waitFor();
    const tenant = await openConsole(setup.browser, setup.app);
    await visit(tenant.page, '/models', 'Models and providers');
    expect(await tenant.page.getByRole('link', { name: 'Add model' }).count()).toBe(0);
    await visit(tenant.page, `/models/${CHAT}`, /Mini/);
    await tenant.page.getByText('You may read the catalogue.', { exact: false }).waitFor();
    expect(await tenant.page.getByRole('button', { name: 'Disable', exact: true }).count()).toBe(0);
    await expectAccessibleEverywhere(tenant.page);
    await visit(tenant.page, `/models/${CHAT}/edit`, /^Edit .*Mini/);
    await tenant.page.getByText('OPERATOR_ACCOUNTS', { exact: false }).waitFor();
    expect(tenant.complaints).toEqual([]);
    await tenant.close();
  });
});
