// Claude on Bedrock speaks the Messages wire at addresses of its own (docs/contract.md#messages-providers).
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { CLOUD_CLAUDE, startBedrockApp } from '../../support/bedrock/bedrock-app.js';
import type { BedrockApp } from '../../support/bedrock/bedrock-app.js';
import { CLAUDE_START, refuse, streamFrames } from '../../support/bedrock/bedrock-stub.js';
import { chunkFrame } from '../../support/bedrock/frames.js';
import { eventually } from '../../support/eventually.js';
import { eventsOf, postMessages } from '../../support/messages/messages-app.js';
import { RICH_EVENTS, textBlock } from '../../support/messages/messages-stub.js';
import { postResponses } from '../../support/responses/responses-client.js';
import { chatOf } from '../../support/upstreams/chat-upstream.js';

let setup: BedrockApp;
beforeAll(async () => {
  setup = await startBedrockApp();
});
afterEach(() => setup.bedrock.answerWith(null));
afterAll(() => setup.close());

const sent = () => setup.bedrock.requests.at(-1)!;
const post = (body: object, headers = {}): Promise<Response> =>
  postMessages(setup.app, { model: CLOUD_CLAUDE, ...body }, { headers });
/** Of the usage that the stub states: 2,000 fresh tokens, 80,000 read, 5,000 written, 1,000 made. */
const COST = 0.0345;
const PROMPT = { system: [{ type: 'text', text: 'x'.repeat(90_000), cache_control: { type: 'ephemeral' } }] };

describe('Claude on Bedrock', () => {
  it("gets the client's bytes without the model and the stream, and with the version of the cloud", async () => {
    const messages = '[ {"role":"user","content":[{"type":"text","text":"caf\\u00e9"}]} ]';
    const response = await postMessages(
      setup.app,
      `{"model":"${CLOUD_CLAUDE}","stream":false,"max_tokens":100,"messages":${messages},"temperature":0.10}`,
    );
    expect(response.status).toBe(200);
    expect(sent().text).toBe(
      `{"anthropic_version":"bedrock-2023-05-31","max_tokens":100,"messages":${messages},"temperature":0.10}`,
    );
    expect(sent().path).toBe('/model/eu.anthropic.claude-stub-v1%3A0/invoke');
    expect(sent().headers['anthropic-version']).toBeUndefined();
  });

  it('loses betas that the catalogue does not list, with their members, in tools as well', async () => {
    const tool = { name: 't', input_schema: { type: 'object', const: 1 } };
    const { secret, record } = await setup.app.createKey();
    const response = await post(
      {
        tools: [{ ...tool, defer_loading: true, strict: true }, tool],
        context_management: { edits: [] },
        output_config: { effort: 'low', task_budget: 5 },
      },
      {
        'x-api-key': secret,
        'anthropic-beta': 'context-1m-2025-08-07, fast-mode-2026-02-01,context-management-2025-06-27',
      },
    );
    expect(response.status).toBe(200);
    expect(sent().body).toMatchObject({
      anthropic_beta: ['context-1m-2025-08-07'],
      tools: [tool, tool],
      output_config: { effort: 'low' },
    });
    expect(sent().body).not.toHaveProperty('context_management');
    const { attempts } = await chatOf(setup.app, record.id);
    expect(attempts.at(-1)?.droppedMembers).toEqual(
      expect.arrayContaining(['anthropic-beta', 'context_management', 'tools.defer_loading', 'tools.strict']),
    );
  });

  it('counts tokens by the id of the model itself, and estimates them where Bedrock refuses', async () => {
    const count = () =>
      postMessages(
        setup.app,
        { model: CLOUD_CLAUDE, messages: [{ role: 'user', content: 'hi' }], max_tokens: undefined },
        { path: '/v1/messages/count_tokens' },
      );
    const counted = await count();
    expect(await counted.json()).toEqual({ input_tokens: 79 });
    expect(counted.headers.has('x-token-count')).toBe(false);
    expect(sent().path).toBe('/model/anthropic.claude-stub-v1%3A0/count-tokens');
    setup.bedrock.answerWith((_request, response) =>
      refuse(response, 400, 'ValidationException', 'no counts'),
    );
    const estimated = await count();
    expect([estimated.status, estimated.headers.get('x-token-count')]).toEqual([200, 'estimated']);
  });

  it('streams by frames what it streams by events elsewhere, and costs the same on every wire', async () => {
    setup.bedrock.answerWith(streamFrames(...RICH_EVENTS.map(chunkFrame)));
    const events = await eventsOf(await post({ stream: true, ...PROMPT }));
    expect(events.map(({ event }) => event)).toEqual(RICH_EVENTS.map(({ type }) => type));
    expect(sent().path).toBe('/model/eu.anthropic.claude-stub-v1%3A0/invoke-with-response-stream');
    expect(events.at(-2)?.data).toMatchObject({ usage: { cost: COST } });
    setup.bedrock.answerWith(null);
    const whole = [
      await post(PROMPT),
      await postResponses(setup.app, { model: CLOUD_CLAUDE, input: 'x'.repeat(90_000) }),
    ];
    for (const response of whole) expect(await response.json()).toMatchObject({ usage: { cost: COST } });
  });

  it('is read to its end when its client leaves, because Bedrock bills all of it', async () => {
    let finish: (() => void) | null = null;
    const frames = RICH_EVENTS.map(chunkFrame);
    setup.bedrock.answerWith((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/vnd.amazon.eventstream' });
      response.write(Buffer.concat(frames.slice(0, 4)));
      finish = () => response.end(Buffer.concat(frames.slice(4)));
    });
    const { secret, record } = await setup.app.createKey();
    const controller = new AbortController();
    const response = await postMessages(
      setup.app,
      { model: CLOUD_CLAUDE, stream: true, ...PROMPT },
      { headers: { 'x-api-key': secret }, signal: controller.signal },
    );
    await response.body?.getReader().read();
    controller.abort();
    await eventually(
      () => setup.app.http.get('/metrics'),
      ({ text }) => text.includes('signalbox_chat_open_drains 1'),
    );
    (finish as (() => void) | null)?.();
    const { cost, chat } = await chatOf(setup.app, record.id);
    expect([cost, chat?.isCancelled, chat?.usageSource]).toEqual([34_500_000_000n, true, 'reported']);
  });

  it.each(['', 'sbx1.none'])('gets no thought with the signature %j', async (signature) => {
    const { secret, record } = await setup.app.createKey();
    const thought = { type: 'thinking', thinking: 'mine', signature };
    const response = await post(
      {
        messages: [
          { role: 'user', content: 'hi' },
          { role: 'assistant', content: [thought, { type: 'text', text: 'ok' }] },
          { role: 'user', content: 'go' },
        ],
      },
      { 'x-api-key': secret },
    );
    expect(response.status).toBe(200);
    expect(sent().text).not.toContain('signature');
    const { attempts } = await chatOf(setup.app, record.id);
    expect(attempts.at(-1)?.droppedMembers).toEqual(['messages.content.thinking']);
  });

  it('fails a stream that is cut inside of a frame, after its first content', async () => {
    const frames = [CLAUDE_START, ...textBlock(0, 'Hel', 'lo')].map(chunkFrame);
    const last = frames.pop()!;
    setup.bedrock.answerWith(streamFrames(...frames, last.subarray(0, last.length - 3)));
    const events = await eventsOf(await post({ stream: true }));
    expect(events.at(-1)).toMatchObject({ event: 'error', data: { error: { type: 'api_error' } } });
  });

  it("never passes Bedrock's error as one of Anthropic's", async () => {
    setup.bedrock.answerWith((_request, response) =>
      refuse(response, 400, 'ValidationException', 'Malformed input request'),
    );
    const response = await post({});
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      type: 'error',
      error: { type: 'invalid_request_error', message: expect.stringContaining('Malformed input request') },
    });
  });
});
