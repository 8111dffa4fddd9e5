// Names of 1,000 characters, from right to left, and with HTML: nothing breaks, nothing executes.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { toContentCall } from '../../src/domain/generations/chat-content.js';
import type { GenerationContent } from '../../src/domain/generations/generation-content.js';
import { describeInChromium, expectAccessible, openConsole, visit, WIDTHS } from '../support/app/chromium.js';
import { startConsole } from '../support/app/console-app.js';
import type { ConsoleSetup } from '../support/app/console-app.js';
import { embed, SMALL } from '../support/requests/create-embedding.js';
import { recordGenerations } from '../support/deliveries/deliveries.js';

const HTML = '<img src=x onerror="alert(1)"><script>alert(2)</script>';
const CALLS = [
  { id: HTML, name: HTML, arguments: JSON.stringify({ html: HTML }) },
  { id: 'call_2', name: 'W'.repeat(256), arguments: 'W'.repeat(5_000) },
  { id: '\u202e', name: 'تقرير الإنتاج', arguments: '{"cut": "\u202etxt.ex' },
];
const ANSWER = {
  index: 0,
  content: null,
  reasoning: HTML,
  refusal: null,
  toolCalls: CALLS,
  finishReason: 'tool_calls',
  nativeFinishReason: null,
};
const CONTENT: GenerationContent = {
  items: [],
  isTruncated: false,
  errorMessage: null,
  chat: {
    messages: [{ role: HTML, content: HTML, name: HTML, tool_calls: CALLS.map(toContentCall) }],
    tools: [],
    stop: [],
    responseSchema: null,
    choices: [ANSWER],
    isOutputTruncated: true,
  },
};
const NAMES = [HTML, 'מפתח של צוות החיפוש', 'W'.repeat(1000), '\u202etxt.exe'];

describeInChromium('hostile names in the console', () => {
  let setup: ConsoleSetup;
  let chatId: string | undefined;
  beforeAll(async () => {
    setup = await startConsole();
    const { app } = setup;
    for (const name of NAMES) {
      const { secret } = await app.createKey({ name });
      await embed(app, { model: SMALL, input: 'a', session_id: HTML, user: HTML }, secret);
    }
    await app.http
      .post('/api/v1/workspaces')
      .set('authorization', `Bearer ${app.managementKey}`)
      .send({ name: HTML, slug: 'hostile' })
      .expect(201);
    [chatId] = await recordGenerations(app, 1, { operation: 'chat' }, CONTENT);
  });
  afterAll(async () => {
    await setup.close();
  });

  for (const width of WIDTHS) {
    it(`stay text, and do not widen a page of ${width} px`, async () => {
      const { page, complaints, close } = await openConsole(setup.browser, setup.app, { width });
      for (const [path, heading] of [
        ['/', 'Overview'],
        ['/?by=key', 'Overview'],
        ['/keys', 'Keys'],
        ['/generations', 'Generations'],
      ] as const) {
        await visit(page, path, heading);
        await expectAccessible(page);
      }
      await visit(page, '/keys', 'Keys');
      for (const name of NAMES) {
        await page.getByRole('link', { name, exact: true }).click();
        await page.getByRole('heading', { level: 1 }).filter({ hasText: name }).waitFor();
        await expectAccessible(page);
        await page.goBack();
        await page.getByRole('heading', { level: 1, name: 'Keys' }).waitFor();
      }
      await visit(page, `/generations/${chatId}`, 'Generation');
      await page.getByRole('button', { name: 'Show content' }).click();
      const answer = page.getByRole('article', { name: 'Answer' });
      const calls = answer.getByRole('list', { name: 'Tool calls' });
      await calls.getByText(HTML, { exact: true }).waitFor();
      expect(await calls.getByRole('listitem').count()).toBe(CALLS.length);
      await expectAccessible(page);
      expect(await page.locator('main').locator('img, script').count()).toBe(0);
      expect(complaints).toEqual([]);
      await close();
    });
  }
});
