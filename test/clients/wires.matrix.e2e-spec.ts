// Every wire in front of every wire behind: equal tokens cost the same, and the vendors' own SDKs read the answers
// (docs/contract.md#model-wires).
import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import { COST, modelBehind, WIRE_PROVIDER_NAMES } from '../support/wires/wire-stubs.js';
import { startWiresApp } from '../support/wires/wires-app.js';
import type { WiresApp } from '../support/wires/wires-app.js';

let setup: WiresApp;
beforeAll(async () => {
  setup = await startWiresApp();
});
afterAll(() => setup.close());

interface Read {
  readonly text: string | null;
  readonly call: { readonly id: string; readonly name: string; readonly input: unknown };
  readonly finish: string | null;
  readonly tokens: readonly unknown[];
  readonly cost: unknown;
}

/** Long enough for the tokens that the stubs report. */
const PROMPT = 'Look at this. '.repeat(60);
const SCHEMA = { type: 'object', properties: { id: { type: 'integer' } } } as const;
const costOf = (usage: unknown): unknown => (usage as { cost?: number } | null | undefined)?.cost;
const openai = (): OpenAI =>
  new OpenAI({ apiKey: setup.app.apiKey, baseURL: setup.app.baseUrl, maxRetries: 0 });

async function inChat(model: string, isStreamed: boolean): Promise<Read> {
  const body = {
    model,
    max_tokens: 200,
    messages: [{ role: 'user' as const, content: PROMPT }],
    tools: [{ type: 'function' as const, function: { name: 'look', parameters: SCHEMA } }],
  };
  const completion = isStreamed
    ? await openai()
        .chat.completions.stream({ ...body, stream_options: { include_usage: true } })
        .finalChatCompletion()
    : await openai().chat.completions.create(body);
  const [choice] = completion.choices;
  const [call] = choice?.message.tool_calls ?? [];
  if (call?.type !== 'function') throw new Error('there is no call');
  const { usage } = completion;
  return {
    text: choice?.message.content ?? null,
    call: { id: call.id, name: call.function.name, input: JSON.parse(call.function.arguments) },
    finish: choice?.finish_reason ?? null,
    tokens: [usage?.prompt_tokens, usage?.prompt_tokens_details?.cached_tokens, usage?.completion_tokens],
    cost: costOf(usage),
  };
}

async function inMessages(model: string, isStreamed: boolean): Promise<Read> {
  const client = new Anthropic({ apiKey: setup.app.apiKey, baseURL: setup.app.origin, maxRetries: 0 });
  const body = {
    model,
    max_tokens: 200,
    messages: [{ role: 'user' as const, content: PROMPT }],
    tools: [{ name: 'look', input_schema: SCHEMA }],
  };
  let cost: unknown;
  const answer = async () => {
    if (!isStreamed) return client.messages.create(body);
    const stream = client.messages.stream(body);
    // The SDK puts together the members of usage that it knows.
    stream.on('streamEvent', (event) => {
      if (event.type === 'message_delta') cost = costOf(event.usage);
    });
    return stream.finalMessage();
  };
  const message = await answer();
  // Google's signature of the call is a thought between them.
  const text = message.content.find(({ type }) => type === 'text');
  const call = message.content.find(({ type }) => type === 'tool_use');
  if (text?.type !== 'text' || call?.type !== 'tool_use') throw new Error('there is no call');
  const { input_tokens: fresh, cache_read_input_tokens: read, output_tokens: made } = message.usage;
  return {
    text: text.text,
    call: { id: call.id, name: call.name, input: call.input },
    finish: message.stop_reason,
    tokens: [fresh + (read ?? 0), read, made],
    cost: cost ?? costOf(message.usage),
  };
}

async function inResponses(model: string, isStreamed: boolean): Promise<Read> {
  const body = {
    model,
    max_output_tokens: 200,
    input: PROMPT,
    store: false,
    tools: [{ type: 'function' as const, name: 'look', parameters: SCHEMA, strict: false }],
  };
  const response = isStreamed
    ? await openai().responses.stream(body).finalResponse()
    : await openai().responses.create(body);
  const call = response.output.at(-1);
  if (call?.type !== 'function_call') throw new Error('there is no call');
  const { usage } = response;
  return {
    text: response.output_text,
    call: { id: call.call_id, name: call.name, input: JSON.parse(call.arguments) },
    finish: response.status ?? null,
    tokens: [usage?.input_tokens, usage?.input_tokens_details.cached_tokens, usage?.output_tokens],
    cost: costOf(usage),
  };
}

describe.each([
  ['Chat', inChat, 'tool_calls'],
  ['Messages', inMessages, 'tool_use'],
  ['Responses', inResponses, 'completed'],
] as const)('a client of %s', (_client, read, finish) => {
  it.each(WIRE_PROVIDER_NAMES.flatMap((wire) => [[wire, 'whole'] as const, [wire, 'streamed'] as const]))(
    'reads the same answer of a provider of %s, %s, at the same cost',
    async (wire, form) => {
      expect(await read(modelBehind(wire), form === 'streamed')).toEqual({
        text: 'Hello',
        call: { id: 'call_1', name: 'look', input: { id: 7 } },
        finish,
        tokens: [100, 30, 20],
        cost: COST,
      });
    },
  );
});
