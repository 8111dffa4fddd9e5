// Imports of price lists in the console: compared side by side, applied together or one by one, and discarded.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
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
import { makeOperator, priceRow } from '../support/catalogue/operator-apps.js';
import { askFor } from '../support/requests/admin.js';

const SHIPPED = 'openai/gpt-4.1';
const OWN = { prompt: 2, completion: 8 };
type Prices = typeof OWN;

function proposal(
  id: string,
  own: Prices | null,
  choices: Readonly<Record<string, Prices>>,
  members: object = {},
) {
  const [provider, upstream] = ['openai', id.slice(id.indexOf('/') + 1)];
  const head = own === null ? { created_at: '2026-01-01', context_length: 100_000 } : {};
  const values = Object.entries(choices);
  return {
    group: 'new',
    kind: 'chat_models',
    id,
    provider,
    upstream_model: upstream,
    prices: (['prompt', 'completion'] as const).map((member) => ({
      member,
      own: own && String(own[member]),
      values: values.map(([list, prices]) => ({ list, value: String(prices[member]) })),
    })),
    holds: [],
    summary: `${provider} ${upstream}: ${values.map(([list, { prompt }]) => `${list} ${prompt}`).join(', ')}`,
    choices: values.map(([list, { prompt, completion }]) => ({
      lists: [list],
      model: {
        id,
        ...head,
        endpoints: [
          {
            provider,
            ...(own === null && { upstream_model: upstream }),
            prices: [priceRow(prompt, completion)],
          },
        ],
      },
    })),
    ...members,
  };
}

const HELD = { reason: 'one list: prompt changes by a factor of 1000', is_typed: true };

describeInChromium('imports in the console', () => {
  let setup: ConsoleSetup;
  let session: OpenConsole;
  let page: Page;
  beforeAll(async () => {
    setup = await startConsole();
    makeOperator(setup.app);
    session = await openConsole(setup.browser, setup.app);
    page = session.page;
  });
  afterAll(() => setup.close());

  const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
  const rowOf = (text: string) => page.getByRole('row').filter({ hasText: text });
  const wide = () => page.setViewportSize({ width: 1280, height: 860 });
  const post = (...proposals: readonly object[]) =>
    askFor<{ data: { id: string } }>(201, setup.app, 'post', '/catalogue/imports', {
      body: { lists: ['genai-prices, read 2026-11-29', 'models.dev, read 2026-11-29'], proposals },
    });

  it('says how lists are compared when there is no import', async () => {
    await visit(page, '/models', 'Models and providers');
    await page.getByRole('link', { name: 'Price imports' }).click();
    await page.getByText('No import yet').waitFor();
    await expectAccessibleEverywhere(page);
    await wide();
  });

  it('selects only new models on which the lists agree, and applies what is selected', async () => {
    const agreed = { one: { prompt: 1, completion: 4 } };
    await post(
      proposal('openai/new-1', null, agreed),
      proposal('openai/new-2', null, agreed, { holds: [{ reason: 'a factor of 2', is_typed: false }] }),
      proposal(SHIPPED, OWN, { one: { prompt: 1.5, completion: 7 } }, { group: 'cheaper' }),
      proposal(
        'openai/two',
        null,
        { one: { prompt: 1, completion: 4 }, two: { prompt: 2, completion: 5 } },
        { group: 'lists disagree' },
      ),
      proposal(
        'openai/held',
        null,
        { one: { prompt: 900, completion: 900 } },
        { group: 'dearer', holds: [HELD] },
      ),
      proposal('openai/gone', null, {}, { group: 'remove' }),
    );
    await page.reload();
    await page.getByRole('link', { name: /genai-prices/ }).click();
    await page.getByRole('heading', { level: 1, name: 'Price import' }).waitFor();
    await page.getByLabel('openai/new-1').waitFor();
    expect(await page.getByLabel('openai/new-1').isChecked()).toBe(true);
    expect(await page.getByLabel('openai/new-2').isChecked()).toBe(false);
    expect(await page.getByLabel(SHIPPED, { exact: true }).isChecked()).toBe(false);
    await rowOf(SHIPPED).getByText('$2.00').waitFor();
    await rowOf(SHIPPED).getByText('$1.50').waitFor();
    // Neither is one that wants a decision of its own among those that can be selected.
    expect(await page.getByLabel('openai/held', { exact: true }).count()).toBe(0);
    await expectAccessibleEverywhere(page);
    await wide();
    await page.getByLabel(SHIPPED, { exact: true }).check();
    await press('Apply 2 proposals');
    const question = page.getByRole('alertdialog');
    await question.getByText('All of them or none', { exact: false }).waitFor();
    await question.getByRole('button', { name: 'Apply' }).click();
    await page.getByText('2 proposals applied.', { exact: false }).waitFor();
    await rowOf(SHIPPED)
      .getByText(/Applied, revision/)
      .waitFor();
    await page.getByRole('button', { name: 'Nothing selected' }).waitFor();
  });

  it('takes the prices of one list where lists disagree', async () => {
    await press('Decide on openai/two');
    const dialog = page.getByRole('dialog');
    await expectAccessibleEverywhere(page);
    await wide();
    await dialog.getByLabel('The list that is right').selectOption('two');
    await dialog.getByRole('button', { name: 'Apply' }).click();
    await rowOf('openai/two')
      .getByText(/Applied, revision/)
      .waitFor();
  });

  it('applies a held proposal when its summary is typed', async () => {
    await press('Decide on openai/held');
    const dialog = page.getByRole('dialog');
    await dialog.getByText(HELD.reason, { exact: false }).waitFor();
    await dialog.getByRole('button', { name: 'Apply' }).click();
    await dialog.getByText('This is not the text above.', { exact: false }).waitFor();
    await expectAccessible(page);
    await dialog.getByLabel('Confirmation').fill('openai held: one 900');
    await dialog.getByRole('button', { name: 'Apply' }).click();
    await rowOf('openai/held')
      .getByText(/Applied, revision/)
      .waitFor();
    await expectAccessibleEverywhere(page);
    await wide();
    expect(session.complaints).toEqual([]);
  });

  it('says which proposal does not fit any more, and applies none', async () => {
    await askFor(200, setup.app, 'put', '/catalogue/models/openai/new-2', {
      body: {
        kind: 'chat_models',
        model: {
          created_at: '2026-01-01',
          context_length: 1000,
          endpoints: [{ provider: 'openai', upstream_model: 'new-2', prices: [priceRow(3, 4)] }],
        },
      },
    });
    session.expectStatus(409);
    await page.getByLabel('openai/new-2').check();
    await press('Apply 1 proposal');
    const question = page.getByRole('alertdialog');
    await question.getByRole('button', { name: 'Apply' }).click();
    await question
      .getByText('an import changes nothing but prices of openai/new-2', { exact: false })
      .waitFor();
    await question.getByRole('button', { name: 'Cancel' }).click();
  });

  it('is discarded by name, and then offers nothing', async () => {
    await press('Discard');
    await page.getByRole('alertdialog').getByRole('button', { name: 'Discard' }).click();
    await page.getByRole('heading', { level: 1, name: 'Price imports' }).waitFor();
    await rowOf('genai-prices').getByText('Discarded').waitFor();
    await page.getByRole('link', { name: /genai-prices/ }).click();
    await page.getByText('This import is discarded', { exact: false }).waitFor();
    expect(await page.getByRole('button', { name: /^(Apply|Decide)/ }).count()).toBe(0);
    await expectAccessibleEverywhere(page);
    await wide();
    session.expectStatus(404);
    await visit(page, '/imports/no-such-import', 'Price import');
    await page.getByText('This import does not exist').waitFor();
    expect(session.complaints).toEqual([]);
  });
});
