// The playground beyond one model and text: images, two models side by side, and the key that pays.
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { parseUsd } from '../../src/domain/spend/money.js';
import {
  describeInChromium,
  expectAccessibleEverywhere,
  fillModel,
  openConsole,
  visit,
} from '../support/app/chromium.js';
import type { OpenConsole } from '../support/app/chromium.js';
import { startConsole } from '../support/app/console-app.js';
import type { ConsoleSetup } from '../support/app/console-app.js';
import { delta, HELLO, MODEL, streamOf, text, usageOnly } from '../support/upstreams/chat-upstream.js';
import type { StubHandler } from '../support/upstreams/stub-upstream.js';

const PATH = '/playground?operation=chat';
const SECOND = 'openai/gpt-4.1';
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

describeInChromium('the playground', () => {
  let setup: ConsoleSetup;
  let session: OpenConsole;
  let page: Page;
  beforeAll(async () => {
    setup = await startConsole();
    session = await openConsole(setup.browser, setup.app);
    page = session.page;
  });
  afterAll(() => setup.close());
  beforeEach(() => setup.upstream.answerWith(streamOf(...HELLO)));

  const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
  const log = (name: string) => page.getByRole('log', { name, exact: true });
  const sent = () => setup.upstream.requests.map(({ body }) => body);
  async function open(): Promise<void> {
    await page.setViewportSize({ width: 1280, height: 860 });
    await visit(page, PATH, 'Playground');
    await fillModel(page, MODEL);
  }
  async function send(message: string): Promise<void> {
    await page.getByLabel('Message', { exact: true }).fill(message);
    await page.getByRole('button', { name: 'Send', exact: true }).waitFor();
    await page.getByLabel('Message', { exact: true }).press('Enter');
  }
  /** Each model answers with its own name. */
  const answerByName: StubHandler = (request, response) => {
    const name = String(request.body['model']);
    return streamOf(text(`I am ${name}.`), delta({}, 'stop'), usageOnly(10, 2), '[DONE]')(request, response);
  };

  it('sends images with the message, within bounds', async () => {
    await open();
    const files = page.getByLabel('Images', { exact: true });
    await files.setInputFiles([
      { name: 'dot.png', mimeType: 'image/png', buffer: PNG },
      { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('no image') },
      { name: 'huge.png', mimeType: 'image/png', buffer: Buffer.alloc(3_600_000) },
    ]);
    await page.getByText('notes.txt is no PNG, JPEG, WebP or GIF.').waitFor();
    await page.getByText('huge.png has 3.6 MB; an image may have 3.5 MB.').waitFor();
    const attached = page.getByRole('list', { name: 'Images of the message' });
    expect(await attached.getByRole('img').count()).toBe(1);
    await expectAccessibleEverywhere(page);
    await page.setViewportSize({ width: 1280, height: 860 });
    await press('Remove dot.png');
    await files.setInputFiles(
      Array.from({ length: 5 }, () => ({ name: 'dot.png', mimeType: 'image/png', buffer: PNG })),
    );
    await page.getByText('A message takes 4 images.').waitFor();
    expect(await attached.getByRole('img').count()).toBe(4);
    for (let image = 0; image < 3; image++)
      await page.getByRole('button', { name: 'Remove dot.png' }).first().click();
    const sample = page.getByRole('tabpanel', { name: 'curl' });
    expect(await sample.textContent()).toContain('data:image/png;base64,YOUR_IMAGE');
    await send('Describe this.');
    await log('Conversation').getByText('Hello').waitFor();
    expect(await log('Conversation').getByRole('img', { name: 'dot.png' }).count()).toBe(1);
    expect(sent().at(-1)?.['messages']).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Describe this.' },
          { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG.toString('base64')}` } },
        ],
      },
    ]);
    expect(session.complaints).toEqual([]);
  });

  it('offers images for models that take them only', async () => {
    await open();
    await page.getByRole('button', { name: 'Add images' }).waitFor();
    await fillModel(page, 'local/echo');
    await page.getByRole('button', { name: 'Add images' }).waitFor({ state: 'detached' });
  });

  it('asks two models the same question, and shows their answers side by side', async () => {
    setup.upstream.answerWith(answerByName);
    await open();
    await send('Say your name.');
    await log('Conversation').getByText('I am gpt-4.1-mini.').waitFor();
    await press('Compare with a second model');
    await page.getByLabel('Second model').fill(SECOND);
    const [first, second] = [log('Conversation with model 1'), log('Conversation with model 2')];
    // Both go on from the same conversation.
    await second.getByText('I am gpt-4.1-mini.').waitFor();
    await send('And now?');
    await first.getByText('I am gpt-4.1-mini.').nth(1).waitFor();
    await second.getByText('I am gpt-4.1.', { exact: true }).waitFor();
    for (const side of [first, second]) {
      await side.getByText('And now?').waitFor();
      await side.getByText('Latency').last().waitFor();
      await side.getByRole('link', { name: 'View its record' }).last().waitFor();
    }
    const [left, right] = await Promise.all([first.boundingBox(), second.boundingBox()]);
    expect(right?.y).toBe(left?.y);
    expect(right?.x).toBeGreaterThan(left?.x ?? Infinity);
    const models = sent()
      .slice(-2)
      .map((body) => body['model']);
    expect(new Set(models)).toEqual(new Set(['gpt-4.1', 'gpt-4.1-mini']));
    await page.getByRole('button', { name: 'Send', exact: true }).waitFor();
    await expectAccessibleEverywhere(page);
    await page.setViewportSize({ width: 1280, height: 860 });
    await press('Remove the second model');
    await log('Conversation').getByText('And now?').waitFor();
    expect(session.complaints).toEqual([]);
  });

  it('sends results of tools to the model that has called them', async () => {
    const call = {
      index: 0,
      id: 'call_1',
      type: 'function',
      function: { name: 'get_weather', arguments: '{}' },
    };
    setup.upstream.answerWith((request, response) =>
      request.body['model'] === 'gpt-4.1'
        ? streamOf(
            delta({ tool_calls: [call] }),
            delta({}, 'tool_calls'),
            usageOnly(10, 2),
            '[DONE]',
          )(request, response)
        : streamOf(...HELLO)(request, response),
    );
    await open();
    await press('Insert an example');
    await press('Compare with a second model');
    await page.getByLabel('Second model').fill(SECOND);
    await send('How is the weather?');
    await page.getByLabel('Result of get_weather').fill('12 degrees');
    const before = sent().length;
    setup.upstream.answerWith(answerByName);
    await press('Send results');
    const second = log('Conversation with model 2');
    await second.getByText('I am gpt-4.1.').waitFor();
    await second.getByRole('list', { name: 'Tool calls' }).getByText('12 degrees').waitFor();
    expect(sent().slice(before)).toMatchObject([{ model: 'gpt-4.1', messages: [{}, {}, { role: 'tool' }] }]);
    await send('And tomorrow?');
    await log('Conversation with model 1').getByText('I am gpt-4.1-mini.').waitFor();
    expect(session.complaints).toEqual([]);
  });

  it('charges the first key that can pay', async () => {
    // The newest keys come first in the list.
    await setup.app.createKey({ name: 'Able', limit: parseUsd(5) });
    await setup.app.createKey({ name: 'Stopped', limit: 0n });
    await open();
    const field = page.getByLabel('Key to charge');
    expect(await field.locator('option:checked').textContent()).toMatch(/^Able \(.*, \$5\.00 left\)$/);
    expect(await field.locator('option').allTextContents()).toContainEqual(
      expect.stringMatching(/^Stopped \(.*, nothing left\)$/),
    );
  });
});
