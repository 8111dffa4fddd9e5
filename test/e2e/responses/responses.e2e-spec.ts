// POST /responses before an endpoint of the same wire (docs/contract.md#responses-providers).
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import { eventually } from '../../support/eventually.js';
import {
  answerEvents,
  endOf,
  eventText,
  itemEvents,
  numbered,
  RICH_OUTPUT,
  STARTED,
} from '../../support/responses/responses-events.js';
import { FUNCTIONS, GPT, PLAIN, startResponsesApp } from '../../support/responses/responses-app.js';
import type { ResponsesApp } from '../../support/responses/responses-app.js';
import { postResponses, responseEvents, responseOf } from '../../support/responses/responses-client.js';
import {
  answerOutput,
  sendError,
  STUB_KEY,
  streamResponses,
} from '../../support/responses/responses-stub.js';
import { chatOf, chatsOf } from '../../support/upstreams/chat-upstream.js';

let setup: ResponsesApp;
beforeAll(async () => {
  setup = await startResponsesApp();
});
afterEach(() => setup.openai.answerWith(null));
afterAll(() => setup.close());

const sent = () => setup.openai.requests.at(-1)!;
const post = (body: object | string, options = {}) =>
  postResponses(setup.app, typeof body === 'string' ? body : { model: GPT, input: 'hi', ...body }, options);
const LOOK = {
  type: 'function',
  name: 'look',
  parameters: { type: 'object', properties: {} },
  strict: false,
};
const PATCH = {
  type: 'custom',
  name: 'apply_patch',
  description: 'Edits files.',
  format: { type: 'grammar', syntax: 'lark', definition: 'start: "patch"' },
};
const ENCRYPTED = ['reasoning.encrypted_content'];
const thought = (id: string, content?: string) => ({
  type: 'reasoning',
  id,
  summary: [],
  ...(content !== undefined && { encrypted_content: content }),
});

describe('a request', () => {
  it("has the client's own bytes but for the model and the members of this service", async () => {
    const input =
      '[ {"role":"user","content":[{"type":"input_text","text":"caf\\u00e9 \\ud83d\\ude00"}]} , {"encrypted_content":"gAAAA-1","type":"reasoning","summary":[],"id":"rs_1"},{"type":"function_call","call_id":"c","name":"look","arguments":"{\\"n\\": 1}","id":"fc_1"},{"type":"function_call_output","call_id":"c","output":"ok"}]';
    const tools =
      '[{"type":"function","name":"look","parameters":{"type":"object","properties":{"n":{"const":1234567890123456789012}}}}]';
    const body = `{"model":"${GPT}","session_id":"s-1","provider":{"order":["openai"]},"input":${input},"tools":${tools},"instructions":"Be  brief.","reasoning":{"summary":"auto","effort":"high"},"unheard":[1.0],"max_output_tokens":100, "store":false}`;
    setup.openai.answerWith(null);
    expect((await post(body.replace('"unheard":[1.0],', ''))).status).toBe(200);
    expect(sent().text).toBe(
      `{"model":"gpt-stub","input":${input},"tools":${tools},"instructions":"Be  brief.","reasoning":{"summary":"auto","effort":"high"},"max_output_tokens":100,"store":false}`,
    );
    const refused = await post(body);
    expect(sent().text).toContain('"unheard":[1.0]');
    expect([refused.status, await refused.json()]).toEqual([
      400,
      {
        error: {
          type: 'invalid_request_error',
          param: 'unheard',
          code: 'unknown_parameter',
          message: "Unknown parameter: 'unheard'.",
        },
      },
    ]);
  });

  it('says that nothing is stored, and asks for streams without padding', async () => {
    await post({ stream: true, stream_options: { include_obfuscation: true } });
    expect(sent().body).toMatchObject({
      store: false,
      stream_options: { include_obfuscation: false },
    });
    await post({});
    expect(sent().body).not.toHaveProperty('stream_options');
  });

  it('has the most tokens of the endpoint where it asks for more, and needs as many as OpenAI', async () => {
    await post({ max_output_tokens: 90_000 });
    expect(sent().body['max_output_tokens']).toBe(32_000);
    const few = await post({ model: FUNCTIONS, max_output_tokens: 15 });
    expect([few.status, await few.text()]).toEqual([400, expect.stringContaining('max_output_tokens')]);
    // Its Chat takes fewer.
    expect((await post({ max_output_tokens: 15 })).status).toBe(200);
    expect(sent().body['max_completion_tokens']).toBe(15);
  });

  it('loses reasoning that OpenAI cannot read as whole items, and the record says so', async () => {
    const { secret, record } = await setup.app.createKey();
    const input = [
      { role: 'user', content: 'hi' },
      thought('rs_1', 'gAAAA-1'),
      thought('rs_2'),
      thought('rs_3', 'sbx1.anthropic.claude.signature.c2ln'),
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'ok' }] },
      { role: 'user', content: 'So?' },
    ];
    expect((await post({ input, include: ENCRYPTED }, { key: secret })).status).toBe(200);
    expect(sent().body['input']).toEqual([input[0], input[1], ...input.slice(4)]);
    const { attempts } = await chatOf(setup.app, record.id);
    expect(attempts[0]?.droppedMembers).toEqual(['input.reasoning']);
  });

  it('loses tools that OpenAI would run, and settings that its wire does not have', async () => {
    const { secret, record } = await setup.app.createKey();
    const tools = [{ type: 'web_search' }, LOOK];
    expect((await post({ tools, top_k: 4 }, { key: secret })).status).toBe(200);
    expect(sent().body['tools']).toEqual([LOOK]);
    const { attempts } = await chatOf(setup.app, record.id);
    expect(attempts[0]?.droppedMembers).toEqual(['tools.web_search', 'top_k']);
  });

  it.each([
    [{ reasoning: { max_tokens: 20_000 } }, { effort: 'medium', summary: 'auto' }],
    [{ reasoning: { effort: 'high', exclude: true } }, { effort: 'high' }],
    [{ reasoning: { enabled: false } }, { effort: 'none' }],
  ])('has the settings of OpenRouter in the form of OpenAI: %j', async (body, reasoning) => {
    expect((await post(body)).status).toBe(200);
    expect(sent().body['reasoning']).toEqual(reasoning);
  });

  it('carries the key of the operator, and none of the client', async () => {
    await post({});
    expect(sent().headers.authorization).toBe(`Bearer ${STUB_KEY}`);
    expect(JSON.stringify(sent())).not.toContain(setup.app.apiKey);
  });
});

describe('an answer', () => {
  it('passes with its ids and its model, and has its cost and its provider', async () => {
    const response = await post({});
    expect(await response.json()).toMatchObject({
      id: 'resp_0Stub',
      model: 'gpt-stub-2026-10-01',
      output: [{ id: 'rs_0', encrypted_content: 'gAAAA-of-the-thought' }, { id: 'msg_1' }, {}, {}],
      provider: 'OpenAI',
      // 2,000 fresh at 2, 80,000 read at 0.1, 5,000 written at 2.5 and 1,000 made at 10 USD a million.
      usage: { input_tokens: 87_000, cost: 0.0345, is_byok: false },
    });
  });

  it('passes byte for byte in a stream, but for the usage at its end', async () => {
    const text = await (await post({ stream: true })).text();
    const events = answerEvents(RICH_OUTPUT).map(eventText);
    const body = events.slice(0, -1).join('');
    expect(text.startsWith(body)).toBe(true);
    expect(JSON.parse(text.slice(body.length).split('data: ')[1] ?? '')).toMatchObject({
      type: 'response.completed',
      sequence_number: events.length - 1,
      response: { id: 'resp_0Stub', usage: { total_tokens: 88_000, cost: 0.0345 } },
    });
  });

  it('is found by the id of the provider', async () => {
    const { secret, record } = await setup.app.createKey();
    const { id } = (await (await post({}, { key: secret })).json()) as { id: string };
    await chatOf(setup.app, record.id);
    const found = await fetch(`${setup.app.baseUrl}/generation?id=${id}`, {
      headers: { authorization: `Bearer ${secret}` },
    });
    expect([found.status, await found.json()]).toMatchObject([200, { data: { upstream_id: id } }]);
  });

  it('is an error of the provider byte for byte where it is about the request', async () => {
    const problem = {
      message: "Invalid schema for function 'look'.",
      param: 'tools[0]',
      code: 'invalid_function_parameters',
    };
    setup.openai.answerWith((_request, response) => sendError(response, 400, problem));
    const response = await post({ tools: [LOOK] });
    expect([response.status, await response.json()]).toEqual([
      400,
      { error: { type: 'invalid_request_error', ...problem } },
    ]);
  });

  it('fails with the next number and the id of the provider where OpenAI fails in the middle', async () => {
    const begun = numbered([...STARTED, ...itemEvents({ type: 'message', deltas: ['Hel', 'lo'] }, 0)]);
    const error = { code: 'server_error', message: 'The server had an error.' };
    setup.openai.answerWith(streamResponses([...begun, endOf([], { status: 'failed', error, usage: null })]));
    const events = await responseEvents(await post({ stream: true }));
    expect(events.at(-1)?.event).toBe('response.failed');
    expect(responseOf(events)).toMatchObject({
      id: 'resp_0Stub',
      status: 'failed',
      error: { code: 'server_error' },
      output: [{ id: 'msg_0', content: [{ text: 'Hello' }] }],
    });
  });

  it('is charged where it ends by the limit of tokens', async () => {
    setup.openai.answerWith(
      answerOutput([{ type: 'message', deltas: ['Hel'] }], {
        status: 'incomplete',
        incomplete_details: { reason: 'max_output_tokens' },
      }),
    );
    const { secret, record } = await setup.app.createKey();
    const events = await responseEvents(await post({ stream: true }, { key: secret }));
    expect(events.at(-1)?.event).toBe('response.incomplete');
    const { chat } = await chatOf(setup.app, record.id);
    expect(chat).toMatchObject({ usageSource: 'reported', finishReason: 'length' });
  });

  it('stops at OpenAI when its client leaves, and is charged for the text that came', async () => {
    const { secret, record } = await setup.app.createKey();
    let left = false;
    setup.openai.answerWith((_request, response) => {
      response.on('close', () => (left = true));
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const begun = itemEvents({ type: 'message', deltas: ['One ', 'two ', 'three '] }, 0).slice(0, 5);
      response.write(
        numbered([...STARTED, ...begun])
          .map(eventText)
          .join(''),
      );
    });
    const leaving = new AbortController();
    const response = await post({ model: PLAIN, stream: true }, { key: secret, signal: leaving.signal });
    await response.body?.getReader().read();
    leaving.abort();
    const [generation] = await eventually(
      () => chatsOf(setup.app, record.id),
      ({ length }) => length === 1,
    );
    expect([left, generation?.chat?.usageSource, generation?.chat?.isCancelled]).toEqual([
      true,
      'counted',
      true,
    ]);
  });
});

describe('the body of Codex', () => {
  const codex = (input: object[]): object => ({
    instructions: 'You are a coding agent.',
    input,
    tools: [
      LOOK,
      PATCH,
      { type: 'web_search' },
      { type: 'namespace', name: 'editor', description: 'x', tools: [PATCH] },
    ],
    tool_choice: 'auto',
    parallel_tool_calls: true,
    reasoning: { effort: 'high', summary: 'auto' },
    store: false,
    stream: true,
    include: ENCRYPTED,
    prompt_cache_key: 'k',
    client_metadata: { a: 'b' },
  });
  const asked = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Patch it.' }] };
  const patched = {
    type: 'custom_tool_call',
    callId: 'call_1',
    name: 'apply_patch',
    deltas: ['*** Begin', '\n"x"'],
  } as const;

  it('passes with its custom tools, and its second turn with its encrypted reasoning', async () => {
    setup.openai.answerWith(
      answerOutput([{ type: 'reasoning', summary: [['Hm.']], encrypted: 'gAAAA-7' }, patched]),
    );
    const { output } = responseOf(await responseEvents(await post(codex([asked]))));
    expect(output[1]).toMatchObject({ type: 'custom_tool_call', input: '*** Begin\n"x"' });
    expect(sent().body['tools']).toMatchObject([LOOK, PATCH, { type: 'namespace' }]);
    setup.openai.answerWith(null);
    const answered = { type: 'custom_tool_call_output', call_id: 'call_1', output: 'Done' };
    expect((await post(codex([asked, ...output, answered]))).status).toBe(200);
    expect(sent().body['input']).toEqual([asked, ...output, answered]);
  });

  it('is translated for an endpoint that lists no custom tools, and its calls come back as they were declared', async () => {
    setup.openai.answerWith(
      answerOutput([
        { type: 'reasoning', summary: [['Hm.']], encrypted: 'gAAAA-8' },
        {
          type: 'function_call',
          callId: 'call_1',
          name: 'editor__apply_patch',
          deltas: ['{"input":"*** Be', 'gin\\n"}'],
        },
      ]),
    );
    const body = { ...codex([asked]), model: FUNCTIONS };
    const { output } = responseOf(await responseEvents(await post(body)));
    expect(sent().body['tools']).toMatchObject([
      { type: 'function', name: 'look' },
      { type: 'function', name: 'apply_patch', description: expect.stringContaining('start: "patch"') },
      { type: 'function', name: 'editor__apply_patch' },
    ]);
    expect(output).toMatchObject([
      { type: 'reasoning', summary: [{ text: 'Hm.' }], encrypted_content: 'gAAAA-8' },
      { type: 'custom_tool_call', name: 'apply_patch', namespace: 'editor', input: '*** Begin\n' },
    ]);
    setup.openai.answerWith(null);
    const answered = { type: 'custom_tool_call_output', call_id: 'call_1', output: 'Done' };
    expect((await post({ ...body, input: [asked, ...output, answered] })).status).toBe(200);
    expect(sent().body['input']).toMatchObject([
      { role: 'user' },
      { type: 'reasoning', summary: [{ text: 'Hm.' }], encrypted_content: 'gAAAA-8' },
      { type: 'function_call', call_id: 'call_1', name: 'editor__apply_patch' },
      { type: 'function_call_output', call_id: 'call_1', output: 'Done' },
    ]);
  });
});

describe('the SDK of OpenAI', () => {
  const client = () => new OpenAI({ apiKey: setup.app.apiKey, baseURL: setup.app.baseUrl, maxRetries: 0 });

  it('joins a stream to the response at its end', async () => {
    const stream = client().responses.stream({ model: GPT, input: 'hi', store: false });
    const final = await stream.finalResponse();
    expect(final.output_text).toBe('Hello é');
    expect(final.output.map(({ type }) => type)).toEqual([
      'reasoning',
      'message',
      'function_call',
      'function_call',
    ]);
  });

  it('throws the error of OpenAI with its code and its parameter', async () => {
    const call = client().responses.create({ model: GPT, input: 'hi', temperature: 0.5 });
    await expect(call).rejects.toMatchObject({ status: 400, param: 'temperature' });
  });
});

/** The last: the credential rests for some seconds. */
describe('the credential of the operator', () => {
  it('is in no byte of the answer where OpenAI refuses it', async () => {
    setup.openai.answerWith((_request, response) =>
      sendError(response, 401, { message: `Incorrect API key provided: ${STUB_KEY}` }),
    );
    const response = await post({});
    const text = await response.text();
    expect([response.status, text.includes(STUB_KEY)]).toEqual([502, false]);
  });
});
