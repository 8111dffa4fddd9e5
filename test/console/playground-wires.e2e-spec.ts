// Chats in the playground through each API: the same answer with thoughts, a call of a tool, its result, usage and cost.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import {
  describeInChromium,
  expectAccessible,
  expectAccessibleEverywhere,
  fillModel,
  openConsole,
  visit,
} from '../support/app/chromium.js';
import type { OpenConsole } from '../support/app/chromium.js';
import { startConsole } from '../support/app/console-app.js';
import type { ConsoleSetup } from '../support/app/console-app.js';
import { answerEvents, eventText, RESPONSE_USAGE } from '../support/responses/responses-events.js';
import type { OutputSpec } from '../support/responses/responses-events.js';
import {
  beginStream,
  delta,
  HELLO,
  MODEL,
  streamOf,
  text,
  usage,
} from '../support/upstreams/chat-upstream.js';
import type { StubHandler } from '../support/upstreams/stub-upstream.js';

const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const CALLS = streamOf(
  delta({ role: 'assistant', reasoning: 'The user wants the weather.' }),
  text('One moment.'),
  delta({
    tool_calls: [
      { index: 0, id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: '{"ci' } },
    ],
  }),
  delta({ tool_calls: [{ index: 0, function: { arguments: 'ty":"Oslo"}' } }] }),
  delta({}, 'tool_calls'),
  {
    choices: [],
    usage: {
      ...usage(1000, 50),
      prompt_tokens_details: { cached_tokens: 400 },
      completion_tokens_details: { reasoning_tokens: 20 },
    },
  },
  '[DONE]',
);

const respond =
  (specs: readonly OutputSpec[], tokens: object = {}): StubHandler =>
  (_request, response) => {
    beginStream(response);
    const events = answerEvents(specs, { usage: { ...RESPONSE_USAGE, ...tokens } });
    response.end(events.map(eventText).join(''));
  };
const RESPONSES_CALLS = respond(
  [
    { type: 'reasoning', summary: [['The user wants ', 'the weather.']], encrypted: 'gAAAA-of-the-thought' },
    { type: 'message', deltas: ['One ', 'moment.'] },
    { type: 'function_call', callId: 'call_1', name: 'get_weather', deltas: ['{"ci', 'ty":"Oslo"}'] },
  ],
  {
    input_tokens: 1000,
    input_tokens_details: { cached_tokens: 400 },
    output_tokens: 50,
    output_tokens_details: { reasoning_tokens: 20 },
    total_tokens: 1050,
  },
);
const RESPONSES_HELLO = respond([{ type: 'message', deltas: ['Hel', 'lo'] }]);

/** Of the provider, which speaks Chat and Responses. */
const CHAT_TURNS = [
  { role: 'user', content: expect.arrayContaining([expect.objectContaining({ type: 'image_url' })]) },
  {
    role: 'assistant',
    content: 'One moment.',
    tool_calls: [{ id: 'call_1', function: { name: 'get_weather', arguments: '{"city":"Oslo"}' } }],
  },
  { role: 'tool', tool_call_id: 'call_1', content: '12 degrees' },
];
const RESPONSES_TURNS = [
  { role: 'user', content: expect.arrayContaining([expect.objectContaining({ type: 'input_image' })]) },
  { type: 'reasoning', encrypted_content: 'gAAAA-of-the-thought' },
  { type: 'message', role: 'assistant' },
  { type: 'function_call', call_id: 'call_1', name: 'get_weather', arguments: '{"city":"Oslo"}' },
  { type: 'function_call_output', call_id: 'call_1', output: '12 degrees' },
];

interface TestedApi {
  readonly label: string;
  readonly path: string;
  /** Of the samples. */
  readonly client: string;
  readonly calls: StubHandler;
  readonly hello: StubHandler;
  /** The conversation as the provider gets it at last. */
  readonly member: 'messages' | 'input';
  readonly turns: readonly object[];
}

const OF_CHAT = { calls: CALLS, hello: streamOf(...HELLO), member: 'messages', turns: CHAT_TURNS } as const;

const APIS: readonly TestedApi[] = [
  {
    label: 'Chat Completions',
    path: 'chat/completions',
    client: 'client.chat.completions.create',
    ...OF_CHAT,
  },
  { label: 'Messages', path: 'messages', client: 'client.messages.create', ...OF_CHAT },
  {
    label: 'Responses',
    path: 'responses',
    client: 'client.responses.create',
    calls: RESPONSES_CALLS,
    hello: RESPONSES_HELLO,
    member: 'input',
    turns: RESPONSES_TURNS,
  },
];

describeInChromium('the APIs of the playground', () => {
  let setup: ConsoleSetup;
  let session: OpenConsole;
  let page: Page;
  beforeAll(async () => {
    setup = await startConsole();
    session = await openConsole(setup.browser, setup.app);
    page = session.page;
  });
  afterAll(() => setup.close());

  const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
  const conversation = () => page.getByRole('log', { name: 'Conversation' });
  const figure = (label: string) =>
    page.locator('dl > div').filter({ has: page.getByText(label, { exact: true }) });
  const sent = (member: TestedApi['member']) => setup.upstream.requests.at(-1)?.body[member];

  it.each(APIS)('$label shows thoughts, calls, usage and cost, and sends results and images', async (api) => {
    setup.upstream.answerWith(api.calls);
    await page.setViewportSize({ width: 1280, height: 860 });
    await visit(page, '/playground?operation=chat', 'Playground');
    await fillModel(page, MODEL);
    await page.getByLabel('API', { exact: true }).selectOption(api.label);
    await press('Insert an example');
    await page.getByLabel('Images').setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer: PIXEL });
    await page.getByRole('list', { name: 'Images of the message' }).waitFor();
    await page.getByRole('tab', { name: 'Python' }).click();
    const sample = page.getByRole('tabpanel', { name: 'Python' });
    expect(await sample.textContent()).toContain(api.client);
    await page.getByLabel('Message', { exact: true }).fill('How is the weather there?');
    const [request] = await Promise.all([
      page.waitForRequest(
        (asked) => asked.method() === 'POST' && asked.url().includes('/console/playground/'),
      ),
      page.getByLabel('Message', { exact: true }).press('Enter'),
    ]);
    expect(new URL(request.url()).pathname).toBe(`/console/playground/${api.path}`);
    await conversation().getByText('One moment.').waitFor();
    await conversation().getByText('get_weather').waitFor();
    await conversation().getByText('"city": "Oslo"').waitFor();
    await conversation().getByText('Reasoning', { exact: true }).click();
    await conversation().getByText('The user wants the weather.').waitFor();
    await figure('Prompt tokens').getByText('1,000 (400 cached)').waitFor();
    await figure('Answer tokens').getByText('50 (20 reasoning)').waitFor();
    // 600 at $0.40, 400 at $0.10 and 50 at $1.60 a million.
    await figure('Cost').getByText('$0.00036', { exact: true }).waitFor();
    await figure('Provider').getByText('OpenAI', { exact: true }).waitFor();
    expect(sent(api.member)).toMatchObject(api.turns.slice(0, 1));
    setup.upstream.answerWith(api.hello);
    await page.getByLabel('Result of get_weather').fill('12 degrees');
    await press('Send results');
    await conversation().getByText('Hello', { exact: true }).waitFor();
    expect(sent(api.member)).toMatchObject(api.turns);
    await expectAccessibleEverywhere(page);
    await page.setViewportSize({ width: 1280, height: 860 });
    await page.getByRole('link', { name: 'View its record' }).first().click();
    const detail = (label: string) =>
      page.locator('dl > div').filter({ has: page.getByText(label, { exact: true }) });
    await detail("Caller's API").getByText(api.label, { exact: true }).waitFor();
    const row = page.getByRole('row').filter({ hasText: 'Prompt, read from the cache' });
    await row.getByText('400', { exact: true }).waitFor();
    await row.getByText('$0.10', { exact: true }).waitFor();
    await page
      .getByRole('row')
      .filter({ hasText: 'Answer, reasoning' })
      .getByText('20', { exact: true })
      .waitFor();
    await expectAccessible(page);
    expect(session.complaints).toEqual([]);
  });

  it('goes on with a conversation through another API, and names the member that this one has', async () => {
    await page.setViewportSize({ width: 1280, height: 860 });
    await visit(page, '/playground?operation=chat', 'Playground');
    await fillModel(page, MODEL);
    const send = async (message: string): Promise<void> => {
      await page.getByLabel('Message', { exact: true }).fill(message);
      await page.getByRole('button', { name: 'Send', exact: true }).waitFor();
      await page.getByLabel('Message', { exact: true }).press('Enter');
    };
    await page.getByLabel('API', { exact: true }).selectOption('Responses');
    setup.upstream.answerWith(RESPONSES_HELLO);
    await send('First');
    await conversation().getByText('Hello', { exact: true }).waitFor();
    setup.upstream.answerWith(streamOf(...HELLO));
    await page.getByLabel('API', { exact: true }).selectOption('Messages');
    await send('Second');
    await conversation().getByText('Hello', { exact: true }).nth(1).waitFor();
    expect(sent('messages')).toEqual([
      { role: 'user', content: 'First' },
      { role: 'assistant', content: 'Hello' },
      { role: 'user', content: 'Second' },
    ]);
    session.expectStatus(400);
    await page.getByLabel('Temperature').fill('9');
    await send('Third');
    await page
      .getByRole('alert')
      .getByText(/temperature/i)
      .first()
      .waitFor();
    expect(session.complaints).toEqual([]);
  });
});
