// Searches of the web that the provider runs for a model: priced, bounded and settled by their number (docs/contract.md#messages).
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { ChatMetrics } from '../../../src/chat/chat-metrics.js';
import { eventually } from '../../support/eventually.js';
import { chatOf } from '../../support/upstreams/chat-upstream.js';
import {
  OPEN_MODEL,
  postMessages,
  SEARCHING_CLAUDE,
  startMessagesApp,
} from '../../support/messages/messages-app.js';
import type { MessagesApp } from '../../support/messages/messages-app.js';
import {
  messageDelta,
  messagesEvent,
  messageStart,
  MESSAGE_STOP,
  streamMessages,
  textBlock,
} from '../../support/messages/messages-stub.js';

const SEARCH = { type: 'web_search_20250305', name: 'web_search', max_uses: 3 };
const LOOK_UP = { name: 'look_up', input_schema: { type: 'object' } };
/** Four contexts of 200,000 tokens that are written to a cache at 2.5, 2,000 tokens of output at 10 USD a million, and three searches at a cent. */
const BOUND = 4n * 200_000n * 2_500_000n + 2_000n * 10_000_000n + 3n * 10_000_000_000n;

let setup: MessagesApp;
beforeAll(async () => {
  setup = await startMessagesApp();
});
afterEach(() => setup.anthropic.answerWith(null));
afterAll(() => setup.close());

const sent = () => setup.anthropic.requests.at(-1)!;
const START = messageStart({ input_tokens: 2_679, output_tokens: 3 });
/** The prompts of all rounds, as the last event reports them. */
const END = messageDelta('end_turn', {
  input_tokens: 10_682,
  output_tokens: 510,
  server_tool_use: { web_search_requests: 2 },
});
const search = (members: object, secret: string): Promise<Response> =>
  postMessages(
    setup.app,
    { model: SEARCHING_CLAUDE, stream: true, tools: [SEARCH], ...members },
    { headers: { 'x-api-key': secret } },
  );

describe('a search of the web', () => {
  it('reaches the provider as it came, and costs the tokens of all rounds and each search', async () => {
    const key = await setup.app.createKey({ limit: BOUND });
    setup.anthropic.answerWith(streamMessages([START, ...textBlock(0, 'Found.'), END, MESSAGE_STOP]));
    const response = await search({ tools: [SEARCH, LOOK_UP] }, key.secret);
    expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('message_stop')]);
    expect(sent().body['tools']).toEqual([SEARCH, LOOK_UP]);
    const { cost, attempts } = await chatOf(setup.app, key.record.id);
    expect(cost).toBe(10_682n * 2_000_000n + 510n * 10_000_000n + 2n * 10_000_000_000n);
    expect(attempts[0]?.droppedMembers).toBeUndefined();
    const { text } = await setup.app.http.get('/metrics');
    expect(text).toContain('signalbox_chat_unpriced_uses_total{provider="anthropic"} 0');
  });

  it('is refused with 402 where the limit is below a context for each round and all searches', async () => {
    const key = await setup.app.createKey({ limit: BOUND - 1n });
    const before = setup.anthropic.requests.length;
    const response = await search({}, key.secret);
    expect([response.status, setup.anthropic.requests.length]).toEqual([402, before]);
  });

  it('is reserved sixteen times where the caller states no bound', async () => {
    const unbounded = { type: SEARCH.type, name: SEARCH.name };
    const bound = 17n * 200_000n * 2_500_000n + 2_000n * 10_000_000n + 16n * 10_000_000_000n;
    const [below, enough] = await Promise.all(
      [bound - 1n, bound].map((limit) => setup.app.createKey({ limit })),
    );
    expect((await search({ tools: [unbounded] }, below!.secret)).status).toBe(402);
    expect((await search({ tools: [unbounded] }, enough!.secret)).status).toBe(200);
  });

  it('is read to its usage after its client has left', async () => {
    const key = await setup.app.createKey();
    const controller = new AbortController();
    let end = (): unknown => undefined;
    setup.anthropic.answerWith((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write([START, ...textBlock(0, 'Found.')].map(messagesEvent).join(''));
      end = () => response.end([END, MESSAGE_STOP].map(messagesEvent).join(''));
    });
    const response = await postMessages(
      setup.app,
      { model: SEARCHING_CLAUDE, stream: true, tools: [SEARCH] },
      { headers: { 'x-api-key': key.secret }, signal: controller.signal },
    );
    await response.body?.getReader().read();
    controller.abort();
    const { openDrains } = setup.app.application.get(ChatMetrics);
    await eventually(
      async () => (await openDrains.get()).values[0]?.value,
      (open) => open === 1,
    );
    end();
    const { cost, chat } = await chatOf(setup.app, key.record.id);
    expect(chat).toMatchObject({ isCancelled: true, usageSource: 'reported' });
    expect(cost).toBe(10_682n * 2_000_000n + 510n * 10_000_000n + 2n * 10_000_000_000n);
  });

  it('is left out and recorded where the endpoint has no price for it, and refused where nothing else is declared', async () => {
    const key = await setup.app.createKey();
    const both = await search({ model: OPEN_MODEL, tools: [SEARCH, LOOK_UP], stream: false }, key.secret);
    expect(both.status).toBe(200);
    expect(setup.chat.requests.at(-1)!.body['tools']).toMatchObject([{ function: { name: 'look_up' } }]);
    const { attempts } = await chatOf(setup.app, key.record.id);
    expect(attempts[0]?.droppedMembers).toEqual(['tools.web_search_20250305']);
    const alone = await search({ model: OPEN_MODEL }, key.secret);
    expect([alone.status, await alone.text()]).toEqual([400, expect.stringContaining('tools[0].type')]);
    const forced = await search(
      { model: OPEN_MODEL, tools: [LOOK_UP, SEARCH], tool_choice: { type: 'tool', name: 'web_search' } },
      key.secret,
    );
    expect(forced.status).toBe(400);
  });

  it.each([
    [{ ...SEARCH, type: 'web_search_20260318' }, 400],
    [{ ...SEARCH, type: 'web_search_20260318', allowed_callers: ['direct'] }, 200],
    [{ ...SEARCH, allowed_callers: ['code_execution_20260120'] }, 400],
    [{ ...SEARCH, max_uses: 0 }, 400],
    [{ ...SEARCH, max_uses: 2_000 }, 400],
  ])('has a price as long as its rounds are bounded: %j is answered %i', async (tool, status) => {
    expect((await search({ tools: [tool] }, setup.app.apiKey)).status).toBe(status);
  });
});
