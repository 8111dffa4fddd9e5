// POST /responses before an endpoint with Chat's wire (docs/contract.md#responses).
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { delta, usageOnly } from '../../support/chat/chat-events.js';
import { OPEN_MODEL, startMessagesApp } from '../../support/messages/messages-app.js';
import type { MessagesApp } from '../../support/messages/messages-app.js';
import {
  outlineOf,
  postResponses,
  responseEvents,
  responseOf,
} from '../../support/responses/responses-client.js';
import type { ReadResponse } from '../../support/responses/responses-client.js';
import { chatOf, streamOf } from '../../support/upstreams/chat-upstream.js';
import { sendJson } from '../../support/upstreams/stub-upstream.js';

let setup: MessagesApp;
beforeAll(async () => {
  setup = await startMessagesApp();
});
afterEach(() => setup.chat.answerWith(null));
afterAll(() => setup.close());

const sent = () => setup.chat.requests.at(-1)!.body;
const post = (body: object, options = {}) =>
  postResponses(setup.app, { model: OPEN_MODEL, input: 'hi', ...body }, options);
const whole = async (body: object = {}): Promise<ReadResponse> =>
  (await (await post(body)).json()) as ReadResponse;
/** The events of a stream whose upstream sends these deltas. */
async function streamed(chunks: readonly object[], body: object = {}, finish = 'stop') {
  setup.chat.answerWith(streamOf(...chunks, delta({}, finish), usageOnly(10, 2), '[DONE]'));
  return responseEvents(await post({ stream: true, ...body }));
}
const call = (index: number, id: string, name: string, text: string): object => ({
  tool_calls: [{ index, id, type: 'function', function: { name, arguments: text } }],
});
const more = (index: number, text: string): object => ({
  tool_calls: [{ index, function: { arguments: text } }],
});
const PATCH = {
  type: 'custom',
  name: 'apply_patch',
  description: 'Edits files.',
  format: { type: 'grammar', syntax: 'lark', definition: 'start: "patch"' },
};
const LOOK = { type: 'function', name: 'look', parameters: { type: 'object', properties: {} } };

describe('a request', () => {
  it('becomes messages of Chat: instructions first, one turn of the assistant, results in the order of calls', async () => {
    await whole({
      instructions: 'Be brief.',
      input: [
        { role: 'developer', content: 'Also polite.' },
        {
          type: 'message',
          role: 'user',
          content: [
            { type: 'input_text', text: 'Look.' },
            { type: 'input_image', image_url: 'data:image/png;base64,aGk=', detail: 'low' },
          ],
        },
        { type: 'reasoning', id: 'rs_1', summary: [], content: [{ type: 'reasoning_text', text: 'Hm.' }] },
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'I do.' }] },
        { type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{"n":12345678901234567890}' },
        { type: 'function_call', call_id: 'call_2', name: 'look', arguments: '{}' },
        {
          type: 'function_call_output',
          call_id: 'call_2',
          output: [
            { type: 'input_text', text: 'two' },
            { type: 'input_image', image_url: 'data:image/png;base64,aGk=' },
          ],
        },
        { type: 'function_call_output', call_id: 'call_1', output: 'one' },
        { role: 'user', content: 'Go on.' },
      ],
      tools: [LOOK],
      tool_choice: { type: 'function', name: 'look' },
      parallel_tool_calls: false,
      max_output_tokens: 77,
      text: { format: { type: 'json_schema', name: 'answer', schema: { type: 'object' }, strict: true } },
      temperature: 0.5,
    });
    const { messages, ...members } = sent();
    expect(messages).toMatchObject([
      { role: 'system', content: 'Be brief.' },
      { role: 'system', content: 'Also polite.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Look.' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=', detail: 'low' } },
        ],
      },
      {
        role: 'assistant',
        content: 'I do.',
        reasoning_content: 'Hm.',
        tool_calls: [
          {
            id: 'call_1',
            type: 'function',
            function: { name: 'look', arguments: '{"n":12345678901234567890}' },
          },
          { id: 'call_2', function: { arguments: '{}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'call_1', content: 'one' },
      { role: 'tool', tool_call_id: 'call_2', content: 'two' },
      {
        role: 'user',
        content: [
          { type: 'text', text: expect.stringContaining('call_2') },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } },
        ],
      },
      { role: 'user', content: 'Go on.' },
    ]);
    expect(members).toMatchObject({
      model: 'open-model',
      max_tokens: 77,
      temperature: 0.5,
      parallel_tool_calls: false,
      tools: [{ type: 'function', function: { name: 'look', parameters: LOOK.parameters } }],
      tool_choice: { type: 'function', function: { name: 'look' } },
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'answer', schema: { type: 'object' }, strict: true },
      },
    });
  });

  it('describes a custom tool as a function with its grammar, inside of a namespace too', async () => {
    const { secret, record } = await setup.app.createKey();
    await post(
      {
        tools: [
          PATCH,
          { type: 'namespace', name: 'editor', description: 'An editor.', tools: [PATCH, LOOK] },
          { type: 'web_search' },
        ],
      },
      { key: secret },
    );
    const tools = (
      sent()['tools'] as { function: { name: string; description?: string; parameters: object } }[]
    ).map((tool) => tool.function);
    expect(tools.map(({ name }) => name)).toEqual(['apply_patch', 'editor__apply_patch', 'editor__look']);
    expect(tools[1]).toMatchObject({
      description: expect.stringMatching(/Edits files\.[^]*start: "patch"/),
      parameters: { properties: { input: { type: 'string' } }, required: ['input'] },
    });
    expect((await chatOf(setup.app, record.id)).attempts[0]?.droppedMembers).toEqual(['tools.web_search']);
  });

  it.each([
    [{ store: true }, 'store'],
    [{ previous_response_id: 'resp_1' }, 'previous_response_id'],
    [{ conversation: 'conv_1' }, 'conversation'],
    [{ background: true }, 'background'],
    [{ prompt: { id: 'pmpt_1' } }, 'prompt'],
    [{ truncation: 'auto' }, 'truncation'],
    [{ input: [{ type: 'item_reference', id: 'msg_1' }] }, 'input[0].type'],
    [{ input: [{ type: 'computer_call', call_id: 'c' }] }, 'input[0].type'],
    [
      { input: [{ role: 'user', content: [{ type: 'input_image', file_id: 'file-1' }] }] },
      'input[0].content[0].file_id',
    ],
    [{ input: [{ type: 'function_call', call_id: 'c', name: 'look', arguments: '{}' }] }, 'input[0].call_id'],
    [{ input: [{ type: 'function_call_output', call_id: 'c', output: '' }] }, 'input[0].call_id'],
    [{ input: [] }, 'input'],
    [{ input: null }, 'input'],
    [{ tools: [{ type: 'web_search' }] }, 'tools[0].type'],
    [{ tools: [LOOK, { type: 'web_search' }], tool_choice: 'required' }, 'tools[1].type'],
    [{ tools: [LOOK, LOOK] }, 'tools[1].name'],
    [{ tools: [LOOK], tool_choice: { type: 'function', name: 'other' } }, 'tool_choice.name'],
    [{ text: { format: { type: 'xml' } } }, 'text.format.type'],
    [{ text: { verbosity: 'loud' } }, 'text.verbosity'],
  ])('is refused by the name of a member: %j', async (body, param) => {
    const before = setup.chat.requests.length;
    const response = await post(body);
    expect([response.status, await response.json()]).toEqual([
      400,
      {
        error: {
          code: 400,
          type: 'invalid_request_error',
          param,
          message: expect.stringContaining(param),
          metadata: { error_type: 'invalid_request' },
        },
        error_type: 'invalid_request',
      },
    ]);
    expect(setup.chat.requests).toHaveLength(before);
  });

  it.each(['/v1/responses', '/api/v1/responses'])(
    'without a credential is 401 in the form of the wire at %s',
    async (path) => {
      const response = await post({}, { path, key: 'none' });
      expect([response.status, await response.json()]).toEqual([
        401,
        {
          error: expect.objectContaining({ code: 401, type: 'authentication_error', param: null }),
          error_type: 'authentication',
        },
      ]);
    },
  );

  it('of an unknown path below is 404 in the form of the wire', async () => {
    const response = await fetch(`${setup.app.baseUrl}/responses/resp_1`, {
      headers: { authorization: `Bearer ${setup.app.apiKey}` },
    });
    expect([response.status, await response.json()]).toEqual([
      404,
      expect.objectContaining({ error: expect.objectContaining({ code: 404, type: 'not_found_error' }) }),
    ]);
  });
});

describe('a whole answer', () => {
  it('has items, usage with its cost and the members of the request', async () => {
    setup.chat.answerWith((_request, response) =>
      sendJson(response, 200, {
        id: 'chatcmpl-1',
        created: 1_790_000_000,
        choices: [
          {
            index: 0,
            message: {
              role: 'assistant',
              content: 'Done.',
              reasoning_content: 'Hm.',
              tool_calls: [
                { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"a":1}' } },
                {
                  id: 'call_2',
                  type: 'function',
                  function: { name: 'apply_patch', arguments: '{"input":"*** \\"P\\"\\n"}' },
                },
              ],
            },
            finish_reason: 'tool_calls',
          },
        ],
        usage: {
          prompt_tokens: 10,
          completion_tokens: 4,
          completion_tokens_details: { reasoning_tokens: 1 },
        },
      }),
    );
    const { secret, record } = await setup.app.createKey();
    const response = await post({ tools: [LOOK, PATCH], instructions: 'Be brief.' }, { key: secret });
    const answer = (await response.json()) as ReadResponse;
    expect(answer).toMatchObject({
      id: `resp_${response.headers.get('x-generation-id')}`,
      object: 'response',
      status: 'completed',
      error: null,
      incomplete_details: null,
      model: OPEN_MODEL,
      instructions: 'Be brief.',
      tools: [{ name: 'look' }, { name: 'apply_patch' }],
      tool_choice: 'auto',
      parallel_tool_calls: true,
      store: false,
      previous_response_id: null,
      truncation: 'disabled',
      output: [
        { type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'Hm.' }] },
        {
          type: 'message',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: 'Done.', annotations: [], logprobs: [] }],
        },
        { type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{"a":1}', status: 'completed' },
        { type: 'custom_tool_call', call_id: 'call_2', name: 'apply_patch', input: '*** "P"\n' },
      ],
      usage: {
        input_tokens: 10,
        input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
        output_tokens: 4,
        output_tokens_details: { reasoning_tokens: 1 },
        total_tokens: 14,
        // 10 at 2 and 4 at 10 USD a million.
        cost: 0.00006,
        is_byok: false,
      },
    });
    expect(new Set(answer.output.map(({ id }) => id)).size).toBe(4);
    const { chat } = await chatOf(setup.app, record.id);
    expect(chat).toMatchObject({ wire: 'responses', finishReason: 'tool_calls' });
    const found = await fetch(`${setup.app.baseUrl}/generation?id=${answer.id}`, {
      headers: { authorization: `Bearer ${secret}` },
    });
    expect(await found.json()).toMatchObject({ data: { api_type: 'responses', total_cost: 0.00006 } });
  });

  it.each([
    ['length', 'incomplete', 'max_output_tokens'],
    ['content_filter', 'incomplete', 'content_filter'],
    ['stop', 'completed', undefined],
  ])('ended by %s is %s', async (finish, status, reason) => {
    setup.chat.answerWith((_request, response) =>
      sendJson(response, 200, {
        choices: [{ index: 0, message: { role: 'assistant', content: 'Do' }, finish_reason: finish }],
        usage: { prompt_tokens: 10, completion_tokens: 4 },
      }),
    );
    const answer = await whole();
    expect([answer.status, answer.incomplete_details?.reason, answer.output[0]?.['status']]).toEqual([
      status,
      reason,
      status,
    ]);
  });

  it('is an error of the wire where the provider refuses the call', async () => {
    setup.chat.answerWith((_request, response) =>
      sendJson(response, 429, { error: { message: 'slow down' } }, { 'retry-after': '7' }),
    );
    const response = await post({});
    expect([response.status, await response.json()]).toEqual([
      429,
      expect.objectContaining({ error: expect.objectContaining({ code: 429, type: 'rate_limit_error' }) }),
    ]);
  });
});

describe('a stream', () => {
  it('has every event of a text in order', async () => {
    const events = await streamed([delta({ role: 'assistant', content: 'Hel' }), delta({ content: 'lo' })]);
    expect(outlineOf(events)).toEqual([
      'created',
      'in_progress',
      'output_item.added',
      'content_part.added',
      'output_text.delta',
      'output_text.done',
      'content_part.done',
      'output_item.done',
      'completed',
    ]);
    const [created, , added, part, first] = events.map(({ data }) => data);
    const { id } = added!['item'] as { id: string };
    expect(created).toMatchObject({ response: { status: 'in_progress', output: [], usage: null } });
    expect(added).toMatchObject({ output_index: 0, item: { status: 'in_progress', content: [] } });
    expect(part).toMatchObject({
      item_id: id,
      content_index: 0,
      part: { type: 'output_text', text: '', annotations: [] },
    });
    expect(first).toMatchObject({
      item_id: id,
      output_index: 0,
      content_index: 0,
      delta: 'Hel',
      logprobs: [],
    });
    expect(responseOf(events)).toMatchObject({
      status: 'completed',
      output: [{ id, content: [{ text: 'Hello' }] }],
      usage: { input_tokens: 10, output_tokens: 2, cost: 0.00004 },
    });
  });

  it('has the raw reasoning of an open model as content, and calls after it', async () => {
    const events = await streamed(
      [
        delta({ reasoning_content: 'Hm' }),
        delta({ reasoning_content: '.' }),
        delta({ content: 'I look.' }),
        delta(call(0, 'call_1', 'look', '')),
        delta(more(0, '{"a":')),
        delta(more(0, '1}')),
      ],
      { tools: [LOOK] },
      'tool_calls',
    );
    expect(outlineOf(events)).toEqual([
      'created',
      'in_progress',
      'output_item.added',
      'content_part.added',
      'reasoning_text.delta',
      'reasoning_text.done',
      'content_part.done',
      'output_item.done',
      'output_item.added',
      'content_part.added',
      'output_text.delta',
      'output_text.done',
      'content_part.done',
      'output_item.done',
      'output_item.added',
      'function_call_arguments.delta',
      'function_call_arguments.done',
      'output_item.done',
      'completed',
    ]);
    const done = events.findLast(({ event }) => event === 'response.function_call_arguments.done');
    expect(done?.data).toMatchObject({ output_index: 2, arguments: '{"a":1}' });
  });

  it('announces the item of every delta', async () => {
    const events = await streamed(
      [
        delta({ reasoning: 'Hm.' }),
        delta({ content: 'One.' }),
        delta({ reasoning: 'Or.' }),
        delta({ content: 'Two.', refusal: 'No.' }),
        delta(call(0, 'call_1', 'look', '{}')),
      ],
      { tools: [LOOK] },
    );
    const announced = new Map<unknown, unknown>();
    for (const { event, data } of events) {
      const {
        item,
        item_id: id,
        output_index: index,
      } = data as unknown as Record<string, never> & { item?: { id: string } };
      if (event === 'response.output_item.added') announced.set(item?.id, index);
      else if (id !== undefined) expect(announced.get(id)).toBe(index);
    }
    expect(announced.size).toBe(6);
  });

  it('gives a custom call its plain text while it comes, split at any byte of an escape', async () => {
    const input = '*** Begin "Patch"\n\t\\u 😀\n';
    const text = JSON.stringify({ input });
    const pieces = [...text].map((letter) => delta(more(0, letter)));
    const events = await streamed(
      [delta(call(0, 'call_1', 'editor__apply_patch', '')), ...pieces],
      { tools: [{ type: 'namespace', name: 'editor', description: '', tools: [PATCH] }] },
      'tool_calls',
    );
    const deltas = events.filter(({ event }) => event === 'response.custom_tool_call_input.delta');
    expect(deltas.length).toBeGreaterThan(10);
    expect(deltas.map(({ data }) => data['delta']).join('')).toBe(input);
    const done = events.find(({ event }) => event === 'response.custom_tool_call_input.done');
    expect(done?.data['input']).toBe(input);
    expect(responseOf(events).output).toMatchObject([
      { type: 'custom_tool_call', call_id: 'call_1', name: 'apply_patch', namespace: 'editor', input },
    ]);
  });

  it('ends the open item as incomplete where the limit of the output ends the answer', async () => {
    const events = await streamed([delta({ content: 'Hel' })], {}, 'length');
    expect(events.at(-1)?.event).toBe('response.incomplete');
    expect(events.at(-2)?.data).toMatchObject({ item: { status: 'incomplete' } });
    expect(responseOf(events)).toMatchObject({
      incomplete_details: { reason: 'max_output_tokens' },
      output: [{ status: 'incomplete' }],
    });
  });

  it('ends with response.failed and what has come where the provider breaks off', async () => {
    setup.chat.answerWith((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`data: ${JSON.stringify(delta({ content: 'Hel' }))}\n\n`);
      response.write(`data: ${JSON.stringify(delta({ content: 'lo' }))}\n\n`);
      response.end();
    });
    const events = await responseEvents(await post({ stream: true }));
    expect(events.at(-1)).toMatchObject({
      event: 'response.failed',
      data: { error_type: 'provider_unavailable' },
    });
    expect(responseOf(events)).toMatchObject({
      status: 'failed',
      error: { code: 'server_error', message: expect.stringContaining('Provider returned error') },
      output: [{ status: 'incomplete', content: [{ text: 'Hello' }] }],
    });
  });
});
