// Reranking in the console: a call of the playground, its record, and the documents in the order that they got.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { contentOfRerank } from '../../src/domain/generations/generation-content.js';
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
import { sendJson, startStubUpstream } from '../support/upstreams/stub-upstream.js';
import type { StubUpstream } from '../support/upstreams/stub-upstream.js';

describeInChromium('reranking in the console', () => {
  let cohere: StubUpstream;
  let setup: ConsoleSetup;
  let session: OpenConsole;
  let page: Page;
  beforeAll(async () => {
    cohere = await startStubUpstream((_request, response) =>
      sendJson(response, 200, {
        id: 'rank-1',
        results: [
          { index: 1, relevance_score: 0.9 },
          { index: 2, relevance_score: 0.4 },
        ],
        meta: { billed_units: { search_units: 1 } },
      }),
    );
    setup = await startConsole({ COHERE_API_KEY: 'key', COHERE_BASE_URL: cohere.origin });
    session = await openConsole(setup.browser, setup.app);
    page = session.page;
  });
  afterAll(async () => {
    await setup.close();
    await cohere.close();
  });

  const wide = () => page.setViewportSize({ width: 1280, height: 860 });

  it('shows the order, the search units and the cost of a call of the playground', async () => {
    await visit(page, '/playground?operation=rerank', 'Playground');
    await page.getByText('No call yet').waitFor();
    await expectAccessibleEverywhere(page);
    await wide();
    await page.getByLabel('Model', { exact: true }).fill('cohere/rerank-v3.5');
    await page.getByLabel('Query').fill('Which animal jumps?');
    await page.getByLabel('Documents, one on each line').fill('Nine percent\n\nThe fox jumps\nFoxes sleep');
    await page.getByLabel('Results at most').fill('two');
    await page.getByRole('button', { name: 'Rank 3 documents' }).click();
    expect(cohere.requests).toHaveLength(0);
    await page.getByLabel('Results at most').fill('2');
    await page.getByRole('button', { name: 'Rank 3 documents' }).click();
    const results = page.getByRole('list', { name: 'Documents, the best first' });
    await results.getByText('The fox jumps').waitFor();
    expect(await results.getByRole('listitem').allInnerTexts()).toEqual([
      expect.stringContaining('The fox jumps'),
      expect.stringContaining('Foxes sleep'),
    ]);
    expect(cohere.requests[0]?.body).toMatchObject({
      query: 'Which animal jumps?',
      documents: ['Nine percent', 'The fox jumps', 'Foxes sleep'],
    });
    await page.getByText('1, reported').waitFor();
    await page.getByText('$0.002').waitFor();
    await page.getByText('The best 2 of 3 documents.', { exact: false }).waitFor();
    await expectAccessibleEverywhere(page);
    await wide();
  });

  it('shows the price of a search unit in the record of the call', async () => {
    await page.getByRole('link', { name: 'View its record' }).click();
    await page.getByRole('heading', { level: 1, name: 'Generation' }).waitFor();
    await page.getByText('1 search unit at $0.002').waitFor();
    await page
      .locator('dl > div')
      .filter({ hasText: 'Search units' })
      .getByText('1', { exact: true })
      .waitFor();
    await expectAccessibleEverywhere(page);
    await wide();
  });

  it('shows the documents of a stored call in the order of the answer', async () => {
    const documents = { form: 'texts', items: ['Nine percent', 'The fox jumps'] } as const;
    const results = [
      { index: 1, score: 0.9 },
      { index: 0, score: 0.1 },
    ];
    const content = contentOfRerank({ query: 'Which animal jumps?', documents }, results, null);
    const [id] = await recordGenerations(setup.app, 1, { operation: 'rerank' }, content);
    await visit(page, `/generations/${id}`, 'Generation');
    await page.getByRole('button', { name: 'Show content' }).click();
    const table = page.getByRole('table', { name: 'Results, the best first' });
    await table.getByText('The fox jumps').waitFor();
    expect(await table.getByRole('rowheader').allInnerTexts()).toEqual(['1 The fox jumps', '0 Nine percent']);
    await expectAccessibleEverywhere(page);
    expect(session.complaints).toEqual([]);
  });
});
