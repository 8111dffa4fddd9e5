// Inputs of several parts, and parts that are no text, on each wire.
import { describe, expect, it } from '@jest/globals';
import { request } from 'undici';
import type { MultimodalItem } from '../../src/domain/embeddings/embedding.js';
import type { HttpProvider, ProviderCall } from '../../src/providers/shared/provider.js';
import { callOf, embed, exchange, httpProvider, stubOf } from '../support/providers/drive.js';

const bodyOf = async (provider: HttpProvider, call: ProviderCall): Promise<unknown> =>
  JSON.parse((await provider.buildRequest(call, { baseUrl: 'https://upstream.test', apiKey: 'key' })).body);

const PNG = 'data:image/png;base64,iVBORw0KGgo=';
const WAV = 'data:audio/wav;base64,UklGRg==';
const text = { type: 'text', text: 'a cat' };
const image = { type: 'image_url', image_url: { url: PNG } };
const audio = { type: 'input_audio', input_audio: { data: WAV } };
const itemsOf = (...contents: readonly (readonly object[])[]): ProviderCall['input'] => ({
  form: 'multimodal',
  items: contents.map((content) => ({ content: content as MultimodalItem['content'] })),
});

describe('parts that are no text', () => {
  it.each([
    [
      'cohere',
      'embed-v4.0',
      [[text, image], [text]],
      { inputs: [{ content: [text, { type: 'image_url', image_url: { url: PNG } }] }, { content: [text] }] },
    ],
    [
      'bedrock',
      'cohere.embed-v4:0',
      [[text, image]],
      { inputs: [{ content: [text, { type: 'image_url', image_url: PNG }] }] },
    ],
    [
      'google',
      'gemini-embedding-2',
      [[text, audio], [image]],
      {
        requests: [
          {
            model: 'models/gemini-embedding-2',
            content: {
              parts: [{ text: 'a cat' }, { inlineData: { mimeType: 'audio/wav', data: 'UklGRg==' } }],
            },
          },
          {
            model: 'models/gemini-embedding-2',
            content: { parts: [{ inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } }] },
          },
        ],
      },
    ],
    [
      'jina',
      'jina-embeddings-v4',
      [[text], [image]],
      { input: [{ text: 'a cat' }, { image: 'iVBORw0KGgo=' }] },
    ],
    [
      'vllm',
      'jinaai/jina-embeddings-v3',
      [[image, text]],
      { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: PNG } }, text] }] },
    ],
  ])('of %s (%s) result in one vector for every item', async (slug, model, contents, members) => {
    const stub = stubOf(slug);
    const running = await stub.start();
    const call = callOf(model, { input: itemsOf(...contents) });
    const { response } = await exchange(httpProvider(slug), call, {
      baseUrl: running.baseUrl,
      apiKey: stub.apiKey,
    });
    const answer =
      response.status === 200 ? httpProvider(slug).readAnswer(response, call) : response.body.toString();
    expect(answer).toMatchObject({ vectors: contents.map(() => expect.anything()) });
    expect(running.requests[0]?.body).toMatchObject(members);
    expect(running.requests[0]?.body).not.toHaveProperty('texts');
    await running.close();
  });

  it.each([
    ['cohere', 'embed-v4.0', { text: 2, image: 100 }, 102],
    ['google', 'gemini-embedding-2', { text: 2, image: 258 }, 260],
  ])('of %s have separate token counts', async (slug, model, tokensByModality, promptTokens) => {
    const stub = stubOf(slug);
    const running = await stub.start();
    const call = callOf(model, { input: itemsOf([text, image]) });
    const answer = await embed(httpProvider(slug), call, { baseUrl: running.baseUrl, apiKey: stub.apiKey });
    expect(answer).toMatchObject({ tokensByModality, promptTokens });
    await running.close();
  });

  const REMOTE = { type: 'image_url', image_url: { url: 'https://pictures.test/cat.png' } };
  it.each([
    ['cohere', 'embed-v4.0', [text, REMOTE], 'input[0].content[1]: must be a data URL'],
    ['google', 'gemini-embedding-2', [REMOTE], 'input[0].content[0]: must be a data URL'],
    [
      'google',
      'gemini-embedding-001',
      [text, image],
      'input[0].content[1]: gemini-embedding-001 takes no image here',
    ],
    [
      'jina',
      'jina-embeddings-v4',
      [text, image],
      'input[0].content: jina-embeddings-v4 takes one part for each input',
    ],
    [
      'openai',
      'text-embedding-3-small',
      [text, audio],
      'input[0].content[1]: text-embedding-3-small takes no audio',
    ],
  ])('of %s (%s) are rejected by name where the wire cannot send them', (slug, model, content, message) => {
    const call = callOf(model, { input: itemsOf(content) });
    expect(() => httpProvider(slug).buildRequest(call, { baseUrl: 'https://upstream.test' })).toThrow(
      message,
    );
  });

  it.each([
    // Data of another modality would be billed at a higher price.
    ['google', 'gemini-embedding-2', { type: 'image_url', image_url: { url: 'data:video/mp4;base64,AA==' } }],
    [
      'google',
      'gemini-embedding-2',
      { type: 'input_file', input_file: { data: 'data:AUDIO/wav;base64,AA==' } },
    ],
    ['google', 'gemini-embedding-2', { type: 'input_audio', input_audio: { data: PNG } }],
    [
      'google',
      'gemini-embedding-2',
      { type: 'image_url', image_url: { url: 'data:text/plain;base64,AA==' } },
    ],
    ['cohere', 'embed-v4.0', { type: 'image_url', image_url: { url: WAV } }],
    ['bedrock', 'cohere.embed-v4:0', { type: 'image_url', image_url: { url: WAV } }],
    ['jina', 'jina-embeddings-v4', { type: 'image_url', image_url: { url: WAV } }],
  ])('of %s (%s) must have data of their own modality: %j', (slug, model, part) => {
    const call = callOf(model, { input: itemsOf([text], [part]) });
    expect(() => httpProvider(slug).buildRequest(call, { baseUrl: 'https://upstream.test' })).toThrow(
      /^input\[1\]\.content(\[0\])?: is of \w+, and its data URL of /,
    );
  });

  it('are sent to jina by address, which it fetches itself', async () => {
    const body = await bodyOf(
      httpProvider('jina'),
      callOf('jina-embeddings-v4', { input: itemsOf([REMOTE]) }),
    );
    expect(body).toMatchObject({ input: [{ image: 'https://pictures.test/cat.png' }] });
  });

  it('are sent to vllm one a call, which returns one vector', async () => {
    const vllm = httpProvider('vllm');
    expect(vllm.maxInputsByForm).toEqual({ multimodal: 1 });
    const stub = stubOf('vllm');
    const running = await stub.start();
    const connection = { baseUrl: running.baseUrl, apiKey: stub.apiKey };
    const two = callOf('any', { input: itemsOf([text], [image]) });
    expect(() => vllm.buildRequest(two, connection)).toThrow(/^input: .* one/);
    const [model] = stub.models;
    const sent = await vllm.buildRequest(callOf(model, { input: itemsOf([text]) }), connection);
    const { messages } = JSON.parse(sent.body) as { messages: readonly unknown[] };
    const body = JSON.stringify({ model, messages: [...messages, ...messages] });
    const response = await request(sent.url, { method: 'POST', headers: sent.headers, body });
    expect(response.statusCode).toBe(400);
    await response.body.dump();
    await running.close();
  });

  it('are not needed: an item of texts alone is a text to providers that accept texts only', async () => {
    const body = await bodyOf(httpProvider('openai'), callOf('any', { input: itemsOf([text, text]) }));
    expect(body).toMatchObject({ input: ['a cat\na cat'] });
  });
});
