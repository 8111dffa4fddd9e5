// Chats in the playground: the answer as it comes, stopped, failed, cut, and with what a model may write.
import type { Server } from 'node:http';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import {
  beginStream,
  delta,
  HELLO,
  MODEL,
  sendEvent,
  streamOf,
  text,
  usageOnly,
} from '../support/upstreams/chat-upstream.js';
import {
  describeInChromium,
  expectAccessible,
  expectAccessibleEverywhere,
  fillModel,
  openConsole,
  visit,
} from '../support/app/chromium.js';
import type { OpenConsole } from '../support/app/chromium.js';
import { deferred } from '../support/deferred.js';
import { startConsole } from '../support/app/console-app.js';
import type { ConsoleSetup } from '../support/app/console-app.js';
import { rejectWith } from '../support/requests/create-embedding.js';
import type { StubHandler } from '../support/upstreams/stub-upstream.js';

const PATH = '/playground?operation=chat';
const HTML = '<img src=x onerror="alert(1)"><script>alert(2)</script>';
const RIGHT_TO_LEFT = 'تقرير الإنتاج';

describeInChromium('chats in the playground', () => {
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
  const conversation = () => page.getByRole('log', { name: 'Conversation' });
  const figure = (label: string) =>
    page.locator('dl > div').filter({ has: page.getByText(label, { exact: true }) });
  async function open(on = page): Promise<void> {
    // An examination of both widths ends with the narrow one.
    await on.setViewportSize({ width: 1280, height: 860 });
    await visit(on, PATH, 'Playground');
    // Its search follows, and would meet whatever a test does next.
    await Promise.all([
      on.waitForResponse(
        (response) => new URL(response.url()).searchParams.get('q')?.startsWith(MODEL) === true,
      ),
      fillModel(on, MODEL),
    ]);
  }
  async function send(message: string, on = page): Promise<void> {
    await on.getByLabel('Message', { exact: true }).fill(message);
    // The former call runs on behind its text, until its record is stored.
    await on.getByRole('button', { name: 'Send', exact: true }).waitFor();
    await on.getByLabel('Message', { exact: true }).press('Enter');
  }

  /** Answers with the beginning of a stream, and with its rest when `release` is called. */
  function heldStream(...rest: readonly (object | string)[]): {
    readonly handler: StubHandler;
    readonly release: () => void;
    readonly left: Promise<void>;
  } {
    const released = deferred();
    const left = deferred();
    return {
      release: released.resolve,
      left: left.promise,
      handler: async (_request, response) => {
        response.once('close', left.resolve);
        beginStream(response);
        sendEvent(response, delta({ reasoning: 'It has two halves.' }));
        sendEvent(response, text('The first half'));
        await released.promise;
        for (const event of rest) sendEvent(response, event);
        response.end();
      },
    };
  }

  it('shows an answer as it comes, and what it used and cost', async () => {
    const held = heldStream(text(' and the second.'), delta({}, 'stop'), usageOnly(10, 2), '[DONE]');
    setup.upstream.answerWith(held.handler);
    await open();
    await page.getByText('No message yet').waitFor();
    await page.getByLabel('System message').fill('Be brief.');
    await page.getByLabel('Temperature').fill('0.5');
    await page.getByLabel('Tokens at most').fill('100');
    await send('Two halves, please.');
    await conversation().getByText('The first half', { exact: true }).waitFor();
    await conversation().getByText('Reasoning').click();
    held.release();
    await conversation().getByText('The first half and the second.').waitFor();
    await figure('Prompt tokens').getByText('10').waitFor();
    // The answer has ended.
    expect(await conversation().getByText('It has two halves.').isVisible()).toBe(true);
    await figure('Answer tokens').getByText('2').waitFor();
    await figure('Cost')
      .getByText(/^\$0\.00000\d+$/)
      .waitFor();
    await figure('Provider').getByText('OpenAI').waitFor();
    await figure('First token')
      .getByText(/\d m?s$/)
      .waitFor();
    const { body } = setup.upstream.requests.at(-1) ?? {};
    expect(body).toMatchObject({
      stream: true,
      temperature: 0.5,
      max_completion_tokens: 100,
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Two halves, please.' },
      ],
    });
    for (const language of ['TypeScript', 'Python', 'curl']) {
      await page.getByRole('tab', { name: language }).click();
      expect(await page.getByRole('tabpanel', { name: language }).textContent()).toContain('Be brief.');
    }
    await page.getByRole('link', { name: 'View its record' }).click();
    await page.getByText('Chat, streamed').waitFor();
    await page.getByRole('row').filter({ hasText: 'Answer' }).getByText('2', { exact: true }).waitFor();
    await expectAccessibleEverywhere(page);
    expect(session.complaints).toEqual([]);
  });

  it('sends the conversation with the next message', async () => {
    await open();
    await send('First');
    await conversation().getByText('Hello').waitFor();
    await send('Second');
    await conversation().getByText('Hello').nth(1).waitFor();
    const { body } = setup.upstream.requests.at(-1) ?? {};
    expect(body?.['messages']).toEqual([
      { role: 'user', content: 'First' },
      { role: 'assistant', content: 'Hello' },
      { role: 'user', content: 'Second' },
    ]);
    await press('New conversation');
    await page.getByText('No message yet').waitFor();
  });

  it('stops at once, says what was charged, and shows the call among the generations', async () => {
    // The record of the call follows its end.
    session.expectStatus(404);
    const held = heldStream();
    setup.upstream.answerWith(held.handler);
    await open();
    await send('Go on for ever.');
    await conversation().getByText('The first half').waitFor();
    await press('Stop');
    await conversation().getByText('Stopped', { exact: true }).waitFor();
    await page.getByText(/Cancelled\. Charged: \$0\.0\d+ for \d+ prompt and \d+ answer tokens/).waitFor();
    await held.left;
    await expectAccessible(page);
    await page.getByRole('link', { name: 'Generations', exact: true }).click();
    await page.getByRole('combobox', { name: 'Operation' }).selectOption('Embeddings');
    await page.getByText('No call matches').waitFor();
    await page.getByRole('combobox', { name: 'Operation' }).selectOption('Chat');
    expect(new URL(page.url()).searchParams.get('operation')).toBe('chat');
    const row = page.getByRole('row').nth(1);
    await row.getByText('Chat, streamed, OpenAI').waitFor();
    await row.getByText('Cancelled', { exact: true }).waitFor();
    await row.getByRole('link').first().click();
    await page.getByText('The caller left before the end.').waitFor();
    expect(session.complaints).toEqual([]);
  });

  it('shows reasoning folded and calls of tools, and sends their results', async () => {
    setup.upstream.answerWith(
      streamOf(
        delta({ role: 'assistant', reasoning: 'The user wants the weather.' }),
        delta({
          tool_calls: [
            {
              index: 0,
              id: 'call_1',
              type: 'function',
              function: { name: 'get_weather', arguments: '{"ci' },
            },
          ],
        }),
        delta({ tool_calls: [{ index: 0, function: { arguments: 'ty":"Oslo"}' } }] }),
        delta({}, 'tool_calls'),
        usageOnly(30, 12),
        '[DONE]',
      ),
    );
    await open();
    await page.getByLabel('Tools').fill('{"type":');
    await page.getByText('Not valid JSON').waitFor();
    await page.getByLabel('Tools').fill('');
    await press('Insert an example');
    await send('How is the weather in Oslo?');
    const result = page.getByLabel('Result of get_weather');
    // The field of the message had it.
    await result.and(page.locator(':focus')).waitFor();
    const calls = conversation().getByRole('list', { name: 'Tool calls' });
    await calls.getByText('get_weather').waitFor();
    await calls.getByText('"city": "Oslo"').waitFor();
    const reasoning = conversation().getByText('The user wants the weather.');
    expect(await reasoning.isVisible()).toBe(false);
    await conversation().getByText('Reasoning').click();
    await reasoning.waitFor();
    setup.upstream.answerWith(streamOf(...HELLO));
    await result.fill('12 degrees');
    const before = setup.upstream.requests.length;
    await page.getByLabel('Temperature').fill('much');
    await press('Send results');
    expect(await result.inputValue()).toBe('12 degrees');
    expect(setup.upstream.requests).toHaveLength(before);
    await page.getByLabel('Temperature').fill('');
    await press('Send results');
    await page.getByLabel('Message', { exact: true }).and(page.locator(':focus')).waitFor();
    await conversation().getByText('Hello').waitFor();
    expect(setup.upstream.requests.at(-1)?.body['messages']).toMatchObject([
      { role: 'user' },
      { role: 'assistant', tool_calls: [{ id: 'call_1', function: { arguments: '{"city":"Oslo"}' } }] },
      { role: 'tool', tool_call_id: 'call_1', content: '12 degrees' },
    ]);
    expect(session.complaints).toEqual([]);
  });

  it('shows why a call failed, keeps what had arrived, and tries again', async () => {
    session.expectStatus(502);
    session.expectStatus(400);
    setup.upstream.answerWith(rejectWith(500, { error: { message: 'out of order' } }));
    await open();
    await send('Hello?');
    await conversation()
      .getByText(/out of order/)
      .waitFor();
    await expectAccessible(page);
    setup.upstream.answerWith(
      streamOf(text('Half an'), { error: { message: 'the engine broke', code: 500 } }),
    );
    await press('Try again');
    await conversation()
      .getByText(/the engine broke/)
      .waitFor();
    await conversation().getByText('Half an').waitFor();
    setup.upstream.answerWith(streamOf(...HELLO));
    await press('Try again');
    await conversation().getByText('Hello', { exact: true }).waitFor();
    expect(await conversation().getByText('Failed').count()).toBe(0);
    await page.getByLabel('Temperature').fill('7');
    await send('Once more');
    await page.getByText(/Must be .*2/).waitFor();
    expect(await page.getByLabel('Temperature').getAttribute('aria-invalid')).toBe('true');
    expect(session.complaints).toEqual([]);
  });

  it('sends no call with a temperature that is no number', async () => {
    await open();
    const field = page.getByLabel('Temperature');
    await field.fill('0.7.1');
    await page.locator('[name="temperature"][aria-invalid="true"]').waitFor();
    await page.getByText('Must be a number').waitFor();
    await field.fill('0,1');
    await page.getByText('Must be a number').waitFor();
    expect(await field.inputValue()).toBe('0,1');
    await page.getByLabel('Tokens at most').fill('1.5');
    await page.getByText('Must be a whole number').waitFor();
    await page.getByLabel('Tokens at most').fill('');
    const before = setup.upstream.requests.length;
    await send('Kept until it can be sent');
    await page.getByRole('tab', { name: 'Python' }).click();
    const sample = page.getByRole('tabpanel', { name: 'Python' });
    expect(await sample.textContent()).toMatch(/Kept until it can be sent/);
    expect(await sample.textContent()).not.toMatch(/null|None|temperature/);
    await field.fill('0.7');
    expect(await sample.textContent()).toContain('temperature=0.7');
    await press('Send');
    await conversation().getByText('Hello', { exact: true }).waitFor();
    expect(setup.upstream.requests.slice(before).map(({ body }) => body['temperature'])).toEqual([0.7]);
  });

  it('executes nothing of what a model or a user writes', async () => {
    const call = (index: number, name: string, values: string) =>
      delta({
        tool_calls: [{ index, id: `call_${index}`, type: 'function', function: { name, arguments: values } }],
      });
    setup.upstream.answerWith(
      streamOf(
        delta({ role: 'assistant', reasoning: HTML }),
        text(HTML),
        text('W'.repeat(5000)),
        text(RIGHT_TO_LEFT),
        call(0, HTML, JSON.stringify({ html: HTML })),
        call(1, 'W'.repeat(1000), HTML),
        delta({}, 'tool_calls'),
        usageOnly(10, 2),
        '[DONE]',
      ),
    );
    await open();
    await page.getByLabel('System message').fill(HTML);
    await send(`${HTML} ${RIGHT_TO_LEFT}`);
    await conversation().getByRole('list', { name: 'Tool calls' }).getByTitle(HTML).waitFor();
    await conversation().getByText('Reasoning').click();
    await expectAccessibleEverywhere(page);
    expect(await conversation().locator('img, script').count()).toBe(0);
    expect(session.complaints).toEqual([]);
  });

  it('keeps what had arrived when the connection is lost, and continues when it is back', async () => {
    const { page: ownPage, close } = await openConsole(setup.browser, setup.app);
    setup.upstream.answerWith(heldStream().handler);
    await open(ownPage);
    await send('Hello?', ownPage);
    const log = ownPage.getByRole('log', { name: 'Conversation' });
    await log.getByText('The first half').waitFor();
    const server: Server = setup.app.application.getHttpServer();
    server.closeAllConnections();
    await log.getByText('The answer ended before it was complete.').waitFor();
    await log.getByText('The first half').waitFor();
    setup.upstream.answerWith(streamOf(...HELLO));
    await ownPage.getByRole('button', { name: 'Try again' }).click();
    await log.getByText('Hello', { exact: true }).waitFor();
    await close();
  });

  it('asks before the page of an answer that is coming is closed', async () => {
    // A page of its own, where only the test answers questions.
    const ownPage = await session.context.newPage();
    const held = heldStream(text(' and the second.'), delta({}, 'stop'), usageOnly(10, 2), '[DONE]');
    setup.upstream.answerWith(held.handler);
    await open(ownPage);
    await send('Two halves, please.', ownPage);
    const log = ownPage.getByRole('log', { name: 'Conversation' });
    await log.getByText('The first half', { exact: true }).waitFor();
    const [question] = await Promise.all([
      ownPage.waitForEvent('dialog'),
      ownPage.close({ runBeforeUnload: true }),
    ]);
    expect(question.type()).toBe('beforeunload');
    await question.dismiss();
    held.release();
    await log.getByText('The first half and the second.').waitFor();
    await ownPage.close();
  });

  it('asks for a key over the conversation when the session has ended in the middle', async () => {
    const { page: ownPage, context, close } = await openConsole(setup.browser, setup.app);
    await open(ownPage);
    await context.clearCookies();
    await send('Hello?', ownPage);
    const signIn = ownPage.getByRole('dialog', { name: 'Sign in to signalbox' });
    await signIn.getByLabel('Key', { exact: true }).fill(setup.app.managementKey);
    await signIn.getByRole('button', { name: 'Sign in' }).click();
    await signIn.waitFor({ state: 'detached' });
    await ownPage.getByText('Hello?').first().waitFor();
    expect(new URL(ownPage.url()).search).toBe('?operation=chat');
    await close();
  });

  it('charges a session of an inference key to that key', async () => {
    const { record, secret } = await setup.app.createKey();
    const { page: ownPage, complaints, close } = await openConsole(setup.browser, setup.app, { key: secret });
    await open(ownPage);
    expect(await ownPage.getByLabel('Key to charge').count()).toBe(0);
    await send('Hello?', ownPage);
    await ownPage.getByRole('log').getByText('Hello', { exact: true }).waitFor();
    await ownPage.getByText(/^gen-/).waitFor();
    const rows = await setup.app.sql('SELECT 1 FROM generations WHERE api_key_id = $1', [record.id]);
    expect(rows).toHaveLength(1);
    expect(complaints).toEqual([]);
    await close();
  });
});
