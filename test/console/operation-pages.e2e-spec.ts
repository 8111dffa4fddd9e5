// The pages of destinations, models, access and operation with real data, in both themes and widths.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import {
  describeInChromium,
  expectAccessibleEverywhere,
  openConsole,
  visit,
} from '../support/app/chromium.js';
import { ask, askFor } from '../support/requests/admin.js';
import { startConsole } from '../support/app/console-app.js';
import type { OpenConsole } from '../support/app/chromium.js';
import type { ConsoleSetup } from '../support/app/console-app.js';
import { embed, LOCAL, SMALL } from '../support/requests/create-embedding.js';

const HOSTILE = [
  '<img src=x onerror=alert(1)>',
  'مفتاح الإنتاج <b>مهم</b>',
  'A name that goes on and on '.repeat(40).slice(0, 1000),
];

interface ListedPage {
  readonly path: string;
  /** A part of it. */
  readonly heading: string;
}

const PAGES: readonly ListedPage[] = [
  { path: '/destinations', heading: 'Destinations' },
  { path: '/destinations/new', heading: 'Add a destination' },
  { path: '/destinations/new?kind=s3', heading: 'Add Amazon S3' },
  { path: '/models', heading: 'Models and providers' },
  { path: '/models?q=small&show=all', heading: 'Models and providers' },
  { path: '/models/openai/text-embedding-3-small', heading: 'Text Embedding 3 Small' },
  { path: '/models/openai/gpt-4.1-mini', heading: 'OpenAI: GPT-4.1 Mini' },
  { path: '/playground', heading: 'Playground' },
  { path: '/workspaces', heading: 'Workspaces' },
  { path: '/provider-keys', heading: 'Provider keys' },
  { path: '/people', heading: 'People' },
  { path: '/sign-in-settings', heading: 'Sign-in' },
  { path: '/audit', heading: 'Audit log' },
  { path: '/audit?type=destination&scope=all', heading: 'Audit log' },
  { path: '/system', heading: 'System' },
];

describeInChromium('operation pages of the console', () => {
  let setup: ConsoleSetup;
  let session: OpenConsole;
  // Made before the tests.
  const objects: ListedPage[] = [];
  beforeAll(async () => {
    setup = await startConsole({ DESTINATION_ALLOWED_CIDRS: '127.0.0.0/8' });
    const { app } = setup;
    for (const input of ['one', 'two']) await embed(app, { model: SMALL, input });
    await embed(app, { model: LOCAL, input: 'three' });
    for (const name of HOSTILE) {
      const { data } = await askFor<{ data: { id: string } }>(
        201,
        app,
        'post',
        '/observability/destinations',
        {
          body: { type: 'webhook', name, config: { url: 'https://127.0.0.1/traces' }, enabled: false },
        },
      );
      objects.push({ path: `/destinations/${data.id}`, heading: name.slice(0, 20) });
      await askFor(201, app, 'post', '/byok', {
        body: { provider: 'cohere', key: 'co-0123456789abcdef', name },
      });
    }
    const workspace = `/workspaces/${app.workspaceId}`;
    await ask(app, 'patch', workspace, { body: { name: 'Recommendations', description: HOSTILE[0] } });
    await ask(app, 'put', `${workspace}/budgets/daily`, { body: { limit_usd: 0.000001 } });
    await ask(app, 'post', `${workspace}/members/add`, { body: { user_ids: ['user_ada'] } });
    objects.push({ path: workspace, heading: 'Recommendations' });
    session = await openConsole(setup.browser, app);
  });
  afterAll(async () => {
    await session.close();
    await setup.close();
  });

  async function assertPage({ path, heading }: ListedPage): Promise<void> {
    await visit(session.page, path, heading);
    await expectAccessibleEverywhere(session.page);
    expect([path, session.complaints]).toEqual([path, []]);
  }

  it.each(PAGES)('$path is accessible and quiet in both themes and widths', assertPage);

  it.each(PAGES.filter(({ path }) => path.startsWith('/models/')))(
    '$path has a list of endpoints that fits a phone',
    async ({ path, heading }) => {
      const { page } = session;
      await page.setViewportSize({ width: 390, height: 860 });
      await visit(page, path, heading);
      const list = page.getByRole('group', { name: 'List of endpoints' });
      await list.getByText('Serving').first().waitFor();
      const hidden = await list.evaluate(
        ({ scrollWidth, clientWidth }: Readonly<Record<'scrollWidth' | 'clientWidth', number>>) =>
          scrollWidth - clientWidth,
      );
      expect(hidden).toBe(0);
      await page.setViewportSize({ width: 1280, height: 860 });
    },
  );

  it('a workspace and destinations with hostile names are as well', async () => {
    for (const page of objects) await assertPage(page);
  });
});
