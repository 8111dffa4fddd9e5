// Every page with real data, in both themes and widths: accessible, quiet, and from its own origin alone.
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import {
  describeInChromium,
  expectAccessible,
  expectAccessibleEverywhere,
  openConsole,
  THEMES,
  visit,
} from '../support/app/chromium.js';
import { startConsole } from '../support/app/console-app.js';
import type { OpenConsole } from '../support/app/chromium.js';
import type { ConsoleSetup } from '../support/app/console-app.js';
import { embed, LOCAL, rejectWith, SMALL } from '../support/requests/create-embedding.js';

interface ListedPage {
  readonly path: string;
  readonly heading: string;
  /** Absent: 200. */
  readonly status?: number;
}

const PAGES: readonly ListedPage[] = [
  { path: '/', heading: 'Overview' },
  { path: '/?range=hour&measure=latency&by=key', heading: 'Overview' },
  { path: '/?range=quarter&measure=spend', heading: 'Overview' },
  { path: '/keys', heading: 'Keys' },
  { path: '/generations', heading: 'Generations' },
  { path: '/generations?status=error&model=openai%2Ftext-embedding-3-small', heading: 'Generations' },
  { path: '/generations?session=nothing', heading: 'Generations' },
  { path: '/refusals?range=week', heading: 'Refused calls' },
  { path: '/no-such-page', heading: 'There is no such page', status: 404 },
];

describeInChromium('pages of the console', () => {
  let setup: ConsoleSetup;
  let session: OpenConsole;
  // Made before the tests.
  const objects: ListedPage[] = [];
  beforeAll(async () => {
    setup = await startConsole();
    const { app, upstream } = setup;
    for (const input of ['one', 'two', 'three'])
      await embed(app, { model: SMALL, input, session_id: 'session-1' });
    await embed(app, { model: LOCAL, input: 'four' });
    upstream.answerWith(rejectWith(500, { error: { message: 'out of order' } }));
    const failed = await embed(app, { model: SMALL, input: 'five' });
    upstream.answerWith(null);
    expect(failed.status).toBe(502);
    const hash = createHash('sha256').update(app.apiKey).digest('hex');
    objects.push(
      { path: `/keys/${hash}`, heading: 'Test key' },
      { path: `/generations/${String(failed.headers['x-generation-id'])}`, heading: 'Generation' },
    );
    session = await openConsole(setup.browser, app);
  });
  afterAll(async () => {
    await session.close();
    await setup.close();
  });

  async function assertPage({ path, heading, status }: ListedPage): Promise<void> {
    if (status !== undefined) session.expectStatus(status);
    await visit(session.page, path, heading);
    await expectAccessibleEverywhere(session.page);
    expect([path, session.complaints]).toEqual([path, []]);
  }

  it.each(PAGES)('$path is accessible and quiet in both themes and widths', assertPage);

  it('a key and a failed call are as well', async () => {
    for (const page of objects) await assertPage(page);
  });

  it.each(THEMES)('have an accessible navigation at 390 px, %s', async (theme) => {
    const { page, close } = await openConsole(setup.browser, setup.app, { theme, width: 390 });
    await page.getByRole('button', { name: 'Open navigation' }).click();
    await page.getByRole('link', { name: 'Overview' }).waitFor();
    await expectAccessible(page);
    await close();
  });
});
