// Pictures of the console for the documents, from the running product, in docs/images.
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { parseUsd } from '../../src/domain/spend/money.js';
import { askFor } from '../../test/support/requests/admin.js';
import { delta, MODEL, streamOf, text, usageOnly } from '../../test/support/upstreams/chat-upstream.js';
import { describeInChromium, openConsole, THEMES, visit } from '../../test/support/app/chromium.js';
import { startConsole } from '../../test/support/app/console-app.js';
import type { ConsoleSetup } from '../../test/support/app/console-app.js';
import { embed, rejectWith, SMALL } from '../../test/support/requests/create-embedding.js';
import { recordGenerations } from '../../test/support/deliveries/deliveries.js';

const IMAGES = fileURLToPath(new URL('../../docs/images/', import.meta.url));
const HOUR = 3_600_000;
const DESTINATIONS = '/observability/destinations';

const SENTENCES =
  'A gateway sits between applications and the providers of models: it issues keys, routes calls and records what each of ' +
  'them cost. Because it sees every token, it stops a key at its limit before a call is made.';
const STREAMED_ANSWER = streamOf(
  ...SENTENCES.split(/(?<= )/).map((word) => text(word)),
  delta({}, 'stop'),
  usageOnly(14, 42),
  '[DONE]',
);

describeInChromium('pictures of the console', () => {
  let setup: ConsoleSetup;
  let failedId: string;
  beforeAll(async () => {
    mkdirSync(IMAGES, { recursive: true });
    setup = await startConsole({
      DESTINATION_ALLOWED_CIDRS: '127.0.0.0/8',
      PROVIDER_RETRY_BASE_DELAY_MS: '20',
    });
    const { app, upstream } = setup;
    await recordDay();
    for (const [name, limit] of [
      ['Search team', 5],
      ['Recommendations', 20],
      ['Support assistant', null],
    ] as const) {
      const key = await app.createKey({ name, limit: limit === null ? null : parseUsd(String(limit)) });
      await embed(
        app,
        { model: SMALL, input: Array.from({ length: 40 }, (_, index) => `text ${index}`) },
        key.secret,
      );
    }
    for (const [type, name, config] of [
      ['webhook', 'Data warehouse', { url: `${upstream.origin}/v1/traces` }],
      ['langfuse', 'Langfuse production', { publicKey: 'pk-lf-1', secretKey: 'sk-lf-1' }],
    ] as const)
      await askFor(201, app, 'post', DESTINATIONS, {
        body: { type, name, config, enabled: type === 'webhook' },
      });
    upstream.answerWith(rejectWith(503, { error: { message: 'The engine is overloaded' } }));
    const failed = await embed(app, { model: SMALL, input: 'a text', session_id: 'session-17' });
    upstream.answerWith(null);
    failedId = String(failed.headers['x-generation-id']);
  });
  afterAll(() => setup.close());

  /** Calls of a working day, by the hour. */
  async function recordDay(): Promise<void> {
    const { app } = setup;
    const now = Date.now();
    for (let hour = 1; hour < 24; hour++) {
      const count = Math.round(6 + 5 * Math.sin(hour / 3.5));
      const createdAt = new Date(now - hour * HOUR);
      const common = {
        createdAt,
        model: SMALL,
        provider: 'openai',
        endpoint: 'openai/text-embedding-3-small',
      };
      await recordGenerations(app, count, {
        ...common,
        durationMs: 140 + 9 * hour,
        cost: parseUsd('0.0021'),
      });
    }
  }

  it.each(THEMES)('are taken in the %s theme', async (theme) => {
    const { upstream } = setup;
    const { page, close, complaints } = await openConsole(setup.browser, setup.app, { theme });
    for (const [name, path, heading] of [
      ['overview', '/', 'Overview'],
      ['keys', '/keys', 'Keys'],
      ['generation', `/generations/${failedId}`, 'Generation'],
      ['destinations', '/destinations', 'Destinations'],
      ['models', '/models', 'Models and providers'],
    ] as const) {
      await visit(page, path, heading);
      await page.screenshot({ path: `${IMAGES}console-${name}-${theme}.png` });
    }
    await visit(page, '/playground', 'Playground');
    // Its vectors are those of the texts; a stub's are not.
    await page.getByLabel('Model', { exact: true }).fill('local/hashing');
    await page.getByRole('button', { name: /^Embed / }).click();
    await page.getByText('Similarity').first().waitFor();
    await page.screenshot({ path: `${IMAGES}console-playground-${theme}.png` });
    upstream.answerWith(STREAMED_ANSWER);
    await visit(page, '/playground?operation=chat', 'Playground');
    await page.getByLabel('Model', { exact: true }).fill(MODEL);
    await page.getByLabel('Message', { exact: true }).press('Enter');
    await page.getByText('View its record').waitFor();
    await page.screenshot({ path: `${IMAGES}console-chat-${theme}.png` });
    upstream.answerWith(null);
    await close();
    expect(complaints).toEqual([]);
  });
});
