// Relayed streams as the real clients read them, by their own schemas: the streams of all wires through the relay, with the
// events that this service adds. A small server stands in for the service.
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { HumanMessage } from '@langchain/core/messages';
import { ChatOpenAI } from '@langchain/openai';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { OpenRouter } from '@openrouter/sdk';
import { streamText } from 'ai';
import OpenAI from 'openai';
import OpenAI4 from 'openai4';
import OpenAI5 from 'openai5';
import { CHAT_CLIENT, DONE, usageChunk } from '../../src/chat/clients/chat.js';
import { countedChatUsage } from '../../src/domain/chat/chat-usage.js';
import { AppError } from '../../src/domain/errors.js';
import { IDENTITY, relayed } from '../support/chat/relay.js';
import { UPSTREAM_STREAMS } from '../support/chat/upstream-streams.js';
import type { UpstreamStream } from '../support/chat/upstream-streams.js';

const USAGE = {
  prompt_tokens: 9,
  completion_tokens: 12,
  total_tokens: 21,
  cost: 0.0000052,
  is_byok: false,
  prompt_tokens_details: { cached_tokens: 4, cache_write_tokens: 0, audio_tokens: 0, video_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 2 },
  cost_details: {
    upstream_inference_cost: null,
    upstream_inference_prompt_cost: 0.0000036,
    upstream_inference_completions_cost: 0.0000016,
  },
};
const FAILED_USAGE = {
  usage: countedChatUsage(9, 12),
  cost: { charged: 0n, isByok: false, upstream: null, prompt: null, completion: null },
};
const ERROR = new AppError('provider_error');

const RESULTS = new Map(UPSTREAM_STREAMS.map((stream) => [stream.name, relayed(stream, [stream.body])]));
const resultOf = ({ name }: UpstreamStream) => {
  const result = RESULTS.get(name);
  if (!result) throw new Error(`no stream ${name}`);
  return result;
};
const COMPLETE = UPSTREAM_STREAMS.filter((stream) => resultOf(stream).failure === null);
const FAILED = UPSTREAM_STREAMS.filter((stream) => resultOf(stream).failure !== null);

/** The whole stream for the client. The model of the request is the name of the stream. */
function bytesFor(name: string, wantsEmptyChoices: boolean): Buffer {
  const result = RESULTS.get(name);
  if (!result) throw new Error(`no stream ${name}`);
  const end = result.failure
    ? CHAT_CLIENT.failure({ identity: IDENTITY, error: ERROR, usage: FAILED_USAGE, members: {} })
    : Buffer.concat([usageChunk(IDENTITY, { usage: USAGE }, !wantsEmptyChoices), DONE]);
  const { keepAlive } = CHAT_CLIENT;
  return Buffer.concat([keepAlive, Buffer.from(result.output), keepAlive, end]);
}

let server: Server;
let baseURL: string;
beforeAll(async () => {
  server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(pieces).toString()) as {
        readonly model: string;
        readonly stream_options?: { readonly include_usage?: boolean };
      };
      const name = decodeURIComponent(body.model.replace(/^vendor\//, ''));
      response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
      response.end(bytesFor(name, body.stream_options?.include_usage === true));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const messages = [{ role: 'user' as const, content: 'hi' }];
const modelOf = ({ name }: UpstreamStream): string => `vendor/${encodeURIComponent(name)}`;
const textOf = (stream: UpstreamStream): string => resultOf(stream).choices[0]?.content ?? '';
const callsOf = (stream: UpstreamStream) => resultOf(stream).choices[0]?.toolCalls ?? [];

const CLIENTS = { openai4: OpenAI4, openai5: OpenAI5, openai: OpenAI } as unknown as Readonly<
  Record<string, typeof OpenAI>
>;

describe.each(Object.entries(CLIENTS))('%s', (_name, Client) => {
  const client = (): OpenAI => new Client({ apiKey: 'none', baseURL, maxRetries: 0 });

  it.each(COMPLETE)('reads $name', async (stream) => {
    const chunks: OpenAI.ChatCompletionChunk[] = [];
    for await (const chunk of await client().chat.completions.create({
      model: modelOf(stream),
      messages,
      stream: true,
    })) {
      chunks.push(chunk);
    }
    const ofFirst = chunks.flatMap(({ choices }) => choices).filter(({ index }) => index === 0);
    expect(ofFirst.map(({ delta }) => delta.content ?? '').join('')).toBe(textOf(stream));
    expect(ofFirst.filter((choice) => choice.finish_reason)).toHaveLength(1);
    expect(chunks.filter(({ usage }) => usage)).toHaveLength(1);
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
  });

  it.each(COMPLETE)('assembles $name', async (stream) => {
    const { chat, beta } = client() as OpenAI & { readonly beta: { readonly chat?: OpenAI['chat'] } };
    const completions = beta.chat?.completions ?? chat.completions;
    const helper = completions.stream({
      model: modelOf(stream),
      messages,
      stream: true,
      stream_options: { include_usage: true },
    });
    const completion = await helper.finalChatCompletion();
    const [choice] = completion.choices;
    expect(choice?.finish_reason).toBe(resultOf(stream).choices[0]?.finishReason);
    const calls = (choice?.message.tool_calls ?? []) as {
      id: string;
      function: { name: string; arguments: string };
    }[];
    expect(
      calls.map(({ id, function: { name, arguments: text } }) => ({ id, name, arguments: text })),
    ).toEqual(callsOf(stream));
  });

  it.each(FAILED)('fails with the error of $name', async (stream) => {
    const read = async (): Promise<void> => {
      const chunks = await client().chat.completions.create({
        model: modelOf(stream),
        messages,
        stream: true,
      });
      for await (const chunk of chunks) expect(chunk.id).toBe(IDENTITY.id);
    };
    await expect(read()).rejects.toMatchObject({ error: { code: 502, message: ERROR.message } });
  });
});

describe('@openrouter/sdk', () => {
  it.each(UPSTREAM_STREAMS)('accepts every chunk of $name', async (stream) => {
    const client = new OpenRouter({ apiKey: 'none', serverURL: baseURL, retryConfig: { strategy: 'none' } });
    const chunks = [];
    const events = await client.chat.send({
      chatRequest: { model: modelOf(stream), messages, stream: true },
    });
    if (!(Symbol.asyncIterator in events)) throw new Error('the answer is no stream');
    for await (const chunk of events) chunks.push(chunk);
    const last = chunks.at(-1);
    expect(last?.usage?.totalTokens).toBe(21);
    if (resultOf(stream).failure) expect(last?.error).toMatchObject({ code: 502, message: ERROR.message });
    else {
      const deltas = chunks.flatMap(({ choices }) => choices).filter(({ index }) => index === 0);
      expect(deltas.map(({ delta }) => delta.content ?? '').join('')).toBe(textOf(stream));
    }
  });
});

describe('ai with openai-compatible', () => {
  it.each(COMPLETE)('reads $name', async (stream) => {
    const provider = createOpenAICompatible({
      name: 'signalbox',
      apiKey: 'none',
      baseURL,
      includeUsage: true,
    });
    const result = streamText({
      model: provider.chatModel(modelOf(stream)),
      messages,
      onError: () => undefined,
    });
    const [text, reason, usage] = await Promise.all([result.text, result.finishReason, result.usage]);
    // It has one choice; a second one is part of the text.
    if (resultOf(stream).choices.length === 1) expect(text).toBe(textOf(stream));
    expect(reason).toMatch(/^(?:stop|length|tool-calls|content-filter)$/);
    expect(usage).toMatchObject({ inputTokens: 9, outputTokens: 12 });
  });
});

describe('LangChain', () => {
  it.each(COMPLETE)('reads $name', async (stream) => {
    const model = new ChatOpenAI({
      apiKey: 'none',
      model: modelOf(stream),
      maxRetries: 0,
      configuration: { baseURL },
    });
    let whole = null;
    for await (const chunk of await model.stream([new HumanMessage('hi')]))
      whole = whole ? whole.concat(chunk) : chunk;
    const { choices } = resultOf(stream);
    // It joins the texts and the finish reasons of all choices.
    if (choices.length === 1) {
      expect(whole?.content).toBe(textOf(stream));
      expect(whole?.response_metadata['finish_reason']).toBe(choices[0]?.finishReason);
    }
    expect(whole?.usage_metadata).toMatchObject({ input_tokens: 9, output_tokens: 12 });
    expect(whole?.tool_call_chunks?.map(({ name, args }) => ({ name, args }))).toEqual(
      callsOf(stream).map(({ name, arguments: args }) => ({ name, args })),
    );
  });
});
