// Features of single wires: the addresses of Azure, the signature of Bedrock, the two routes of TEI.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { BrokenAnswer, UnsupportedRequest } from '../../src/providers/shared/provider.js';
import { createBedrock } from '../../src/providers/bedrock.js';
import { vectorValues, vectorWidth } from '../../src/vectors/vectors.js';
import type { HttpProvider, ProviderCall, UpstreamResponse } from '../../src/providers/shared/provider.js';
import { ENTRA_TOKEN } from '../support/providers/azure.js';
import { BEDROCK_API_KEY, SESSION_TOKEN } from '../support/providers/bedrock.js';
import { callOf, embed, failure, httpProvider, stubOf } from '../support/providers/drive.js';
import type { RunningProviderStub } from '../support/providers/provider-stub.js';
import { vectorOf } from '../support/providers/vectors.js';

const ONE_TEXT = { form: 'texts', items: ['one'] } as const;

interface Bench {
  readonly provider: HttpProvider;
  readonly apiKey: string;
  running: RunningProviderStub;
}

/** A stub for the tests of one block. */
function bench(slug: string): Bench {
  const stub = stubOf(slug);
  const made = { provider: httpProvider(slug), apiKey: stub.apiKey } as Bench;
  beforeAll(async () => {
    made.running = await stub.start();
  });
  afterAll(() => made.running.close());
  return made;
}

const bodyOf = async (provider: HttpProvider, call: ProviderCall): Promise<unknown> =>
  JSON.parse((await provider.buildRequest(call, { baseUrl: 'https://upstream.test', apiKey: 'key' })).body);

/** An answer with one vector, and the usage that `slug` reads. */
function usageOf(slug: string, model: string, body: object, headers: UpstreamResponse['headers'] = {}) {
  const response = { status: 200, headers, body: Buffer.from(JSON.stringify(body)) };
  const answer = httpProvider(slug).readAnswer(response, callOf(model));
  const { promptTokens, totalTokens, tokensByModality } = answer;
  return { promptTokens, totalTokens, tokensByModality };
}

describe('a count of 0', () => {
  const nothing = { promptTokens: null, totalTokens: null, tokensByModality: undefined };
  const float = { float: [[1]] };
  const zero = { 'x-amzn-bedrock-input-token-count': '0', 'x-compute-tokens': '0' };

  it.each<[string, string, object]>([
    ['openai', 'm', { data: [{ embedding: [1] }], usage: { prompt_tokens: 0, total_tokens: 0 } }],
    ['nomic', 'm', { embeddings: [[1]], usage: { prompt_tokens: 0, total_tokens: 0 } }],
    ['ollama', 'm', { embeddings: [[1]], prompt_eval_count: 0 }],
    ['tei', 'm', [[1]]],
    ['bedrock', 'amazon.titan-embed-text-v2:0', { embedding: [1], inputTextTokenCount: 0 }],
    ['bedrock', 'cohere.embed-v4:0', { embeddings: float }],
    ['google', 'm', { embeddings: [{ values: [1] }], usageMetadata: { promptTokenCount: 0 } }],
    ['cohere', 'm', { embeddings: float, meta: { billed_units: { input_tokens: 0, images: 1 } } }],
  ])('of %s (%s) is no count: no input is empty', (slug, model, body) => {
    expect(usageOf(slug, model, body, zero)).toEqual(nothing);
  });

  it('of the text is valid for an input of images only', () => {
    const billed = { billed_units: { input_tokens: 0, image_tokens: 100 } };
    expect(usageOf('cohere', 'm', { embeddings: float, meta: billed })).toEqual({
      promptTokens: 100,
      totalTokens: 100,
      tokensByModality: { text: 0, image: 100 },
    });
    const promptTokenDetails = [
      { modality: 'TEXT', tokenCount: 0 },
      { modality: 'IMAGE', tokenCount: 258 },
    ];
    const usageMetadata = { promptTokenCount: 258, promptTokenDetails };
    expect(usageOf('google', 'm', { embeddings: [{ values: [1] }], usageMetadata })).toEqual({
      promptTokens: 258,
      totalTokens: 258,
      tokensByModality: { text: 0, image: 258 },
    });
  });

  it.each(['constructor', '__proto__', 'SMELL', null])(
    'of the unknown modality %j is left out',
    (modality) => {
      const promptTokenDetails = [
        { modality, tokenCount: 7 },
        { modality: 'TEXT', tokenCount: 2 },
      ];
      const usageMetadata = { promptTokenCount: 9, promptTokenDetails };
      expect(usageOf('google', 'm', { embeddings: [{ values: [1] }], usageMetadata })).toEqual({
        promptTokens: 9,
        totalTokens: 9,
        tokensByModality: { text: 2 },
      });
    },
  );
});

describe('azure', () => {
  const azure = bench('azure');
  const call = callOf('text-embedding-3-small', { input: ONE_TEXT });

  it.each([
    ['', '/openai/v1/embeddings'],
    ['/openai', '/openai/v1/embeddings'],
    ['/openai/v1', '/openai/v1/embeddings'],
    [
      '?api-version=2024-10-21',
      '/openai/deployments/text-embedding-3-small/embeddings?api-version=2024-10-21',
    ],
  ])('reaches the resource whose address ends with %j at %s', async (ending, path) => {
    const answer = await embed(azure.provider, call, {
      baseUrl: azure.running.baseUrl + ending,
      apiKey: azure.apiKey,
    });
    expect(answer.vectors.map(vectorWidth)).toEqual([1536]);
    expect(azure.running.requests.at(-1)?.path).toBe(path);
  });

  it('sends an Entra token as such, and a resource key in its own header', async () => {
    await embed(azure.provider, call, { baseUrl: azure.running.baseUrl, apiKey: ENTRA_TOKEN });
    expect(azure.running.requests.at(-1)?.headers).not.toHaveProperty('api-key');
    await embed(azure.provider, call, { baseUrl: azure.running.baseUrl, apiKey: azure.apiKey });
    expect(azure.running.requests.at(-1)?.headers).not.toHaveProperty('authorization');
  });
});

describe('bedrock', () => {
  const bedrock = bench('bedrock');
  const call = callOf('amazon.titan-embed-text-v2:0', { input: ONE_TEXT });

  it.each([
    ['a session token', () => `${bedrock.apiKey}:${SESSION_TOKEN}`],
    ['a Bedrock API key', () => BEDROCK_API_KEY],
  ])('is authorized with %s', async (_name, apiKey) => {
    const answer = await embed(bedrock.provider, call, {
      baseUrl: bedrock.running.baseUrl,
      apiKey: apiKey(),
    });
    expect(answer).toMatchObject({ promptTokens: 1, upstreamId: '7a3c2f1e-0000-4000-8000-000000000000' });
  });

  it.each([
    ['a wrong secret', 'InvalidSignatureException', () => `${bedrock.apiKey}x`],
    ['a wrong session token', 'InvalidSignatureException', () => `${bedrock.apiKey}:other`],
    ['an unknown key id', 'UnrecognizedClientException', () => `X${bedrock.apiKey}`],
    ['a wrong API key', 'AccessDeniedException', () => 'ABSKother'],
  ])('is rejected with %s', async (_name, code, apiKey) => {
    const error = await failure(bedrock.provider, call, {
      baseUrl: bedrock.running.baseUrl,
      apiKey: apiKey(),
    });
    expect(error).toMatchObject({
      consequences: { circuit: expect.stringMatching(/^credential/) },
      providerCode: code,
    });
  });

  it('signs with the time of its clock: an old signature is rejected', async () => {
    const late = createBedrock(() => new Date(Date.now() - 6 * 60 * 1000));
    const connection = { baseUrl: bedrock.running.baseUrl, apiKey: bedrock.apiKey };
    expect(await failure(late, call, connection)).toMatchObject({
      failureClass: 'credential',
      message: expect.stringContaining('Signature expired'),
    });
  });

  it.each([
    ['https://bedrock-runtime.eu-central-1.amazonaws.com', 'eu-central-1'],
    ['https://bedrock-runtime-fips.us-gov-west-1.amazonaws.com', 'us-gov-west-1'],
    ['https://vpce-1a2b.bedrock-runtime.ap-southeast-2.vpce.amazonaws.com', 'ap-southeast-2'],
    ['https://proxy.internal', 'us-east-1'],
  ])('signs for the region of %s', async (baseUrl, region) => {
    const clock = createBedrock(() => new Date('2026-11-21T12:00:00.000Z'));
    const { headers, url } = await clock.buildRequest(call, { baseUrl, apiKey: 'AKIA:secret' });
    expect(headers['authorization']).toContain(`Credential=AKIA/20261121/${region}/bedrock/aws4_request`);
    expect(headers['x-amz-date']).toBe('20261121T120000Z');
    expect(url).toBe(`${baseUrl}/model/amazon.titan-embed-text-v2%3A0/invoke`);
  });

  it("reads Cohere's older models, also behind an inference profile", async () => {
    const connection = { baseUrl: bedrock.running.baseUrl, apiKey: bedrock.apiKey };
    const older = await embed(bedrock.provider, callOf('cohere.embed-english-v3'), connection);
    expect(older.vectors.map(vectorWidth)).toEqual([1024, 1024, 1024]);
    expect(older.promptTokens).toBe(6);
    const list = { status: 200, headers: {}, body: Buffer.from('{"embeddings":[[1,2],[3,4]]}') };
    const answer = bedrock.provider.readAnswer(list, callOf('eu.cohere.embed-v4:0'));
    expect(answer.vectors.map(vectorWidth)).toEqual([2, 2]);
    expect(answer.promptTokens).toBeNull();
  });
});

describe('google', () => {
  const answer = (embeddings: readonly object[]) => ({
    status: 200,
    headers: {},
    body: Buffer.from(JSON.stringify({ embeddings })),
  });
  const read = (embeddings: readonly object[]) =>
    httpProvider('google').readAnswer(answer(embeddings), callOf('gemini-embedding-001'));

  it('rejects an answer whose vectors name other inputs than their own', () => {
    const right = [{ values: [1] }, { index: 1, values: [2] }];
    expect(read(right).vectors.map((vector) => Array.from(vectorValues(vector)))).toEqual([[1], [2]]);
    const wrong = [{ values: [1] }, { values: [2], index: 0 }];
    expect(() => read(wrong)).toThrow(new BrokenAnswer('the embeddings are not in the order of the inputs'));
  });
});

describe('tei', () => {
  const tei = bench('tei');
  const connection = () => ({ baseUrl: tei.running.baseUrl, apiKey: tei.apiKey });
  const call = (overrides: Partial<ProviderCall>) => callOf('intfloat/multilingual-e5-small', overrides);

  it.each([
    ['a prompt of the model', { inputType: 'query' }, { prompt_name: 'query' }, 'query: '],
    ['truncation', { extra: { truncate: true } }, { truncate: true }, ''],
    [
      'a prompt and a width',
      { inputType: 'passage', dimensions: 128 },
      { prompt_name: 'passage', dimensions: 128 },
      'passage: ',
    ],
  ])('uses its own route for %s', async (_name, overrides, members, prefix) => {
    const answer = await embed(tei.provider, call(overrides), connection());
    expect(tei.running.requests.at(-1)).toMatchObject({ path: '/embed' });
    expect(tei.running.requests.at(-1)?.body).toEqual({
      inputs: ['one', 'two words', 'three more words'],
      ...members,
    });
    expect(answer).toMatchObject({ promptTokens: 6, totalTokens: 6, upstreamId: null });
    const width = 'dimensions' in members ? 128 : 384;
    expect([...vectorValues(answer.vectors[1] ?? { form: 'floats', values: new Float32Array() })]).toEqual(
      vectorOf(`${prefix}two words`, 384, width),
    );
  });

  it('reports a prompt that the model does not have', async () => {
    const error = await failure(tei.provider, call({ inputType: 'nonsense' }), connection());
    expect(error).toMatchObject({
      failureClass: 'refused',
      providerCode: 'Validation',
      message: expect.stringContaining('nonsense'),
    });
  });

  it('finds its root with and without /v1 in the address', async () => {
    await embed(tei.provider, call({}), { ...connection(), baseUrl: `${tei.running.baseUrl}/v1` });
    expect(tei.running.requests.at(-1)?.path).toBe('/v1/embeddings');
  });
});

describe('ollama', () => {
  it('finds its root with and without /v1 in the address, and sends a configured key only', async () => {
    const ollama = httpProvider('ollama');
    const call = callOf('nomic-embed-text');
    const open = await ollama.buildRequest(call, { baseUrl: 'http://host:11434/v1' });
    expect(open.url).toBe('http://host:11434/api/embed');
    expect(open.headers).not.toHaveProperty('authorization');
    const closed = await ollama.buildRequest(call, { baseUrl: 'http://host:11434', apiKey: 'key' });
    expect(closed).toMatchObject({ url: open.url, headers: { authorization: 'Bearer key' } });
  });
});

describe('jina', () => {
  it.each([
    ['jina-embeddings-v2-base-en', 'search_query', undefined],
    ['jina-clip-v2', 'search_query', 'retrieval.query'],
    ['jina-clip-v2', 'clustering', undefined],
    ['jina-embeddings-v5-text-small', 'clustering', 'clustering'],
  ])('maps for %s the type %s to the task %s', async (model, inputType, task) => {
    const body = await bodyOf(httpProvider('jina'), callOf(model, { inputType }));
    expect((body as { task?: unknown }).task).toBe(task);
  });

  it.each([
    ['jina-clip-v1', true],
    ['jina-clip-v2', true],
    ['jina-embeddings-v4', true],
    ['jina-embeddings-v3', false],
  ])('sends an image to %s: %s', async (model, isSent) => {
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
    const call = callOf(model, { input: { form: 'multimodal', items: [{ content: [image] }] } });
    if (isSent)
      expect(await bodyOf(httpProvider('jina'), call)).toMatchObject({ input: [{ image: 'AAAA' }] });
    else await expect(bodyOf(httpProvider('jina'), call)).rejects.toThrow(UnsupportedRequest);
  });

  it('lets a caller disable normalisation', async () => {
    const body = await bodyOf(
      httpProvider('jina'),
      callOf('jina-embeddings-v4', { extra: { normalized: false } }),
    );
    expect(body).toMatchObject({ normalized: false });
  });
});

describe('the width', () => {
  it.each([
    ['cohere', 'embed-v4.0', 'output_dimension'],
    ['voyage', 'voyage-3.5', 'output_dimension'],
    ['mistral', 'codestral-embed', 'output_dimension'],
    ['google', 'gemini-embedding-001', 'outputDimensionality'],
    ['nomic', 'nomic-embed-text-v1.5', 'dimensionality'],
    ['bedrock', 'cohere.embed-v4:0', 'output_dimension'],
  ])('of %s (%s) is not read from %s of the caller', (slug, model, name) => {
    const call = callOf(model, { extra: { [name]: 256 } });
    const build = () => httpProvider(slug).buildRequest(call, { baseUrl: 'https://upstream.test' });
    expect(build).toThrow(`${name}: is called dimensions here`);
  });

  it.each([
    { output_dimensionality: 256 },
    { embedContentConfig: { outputDimensionality: 256 } },
    { embed_content_config: { output_dimensionality: 256 } },
  ])('of google is not read from %j either', (extra) => {
    const build = () => bodyOf(httpProvider('google'), callOf('gemini-embedding-001', { extra }));
    return expect(build).rejects.toThrow('is called dimensions here');
  });
});

describe('the format of vectors', () => {
  it.each<[string, string, string, unknown, string]>([
    ['voyage', 'voyage-3.5', 'output_dtype', 'binary', 'float'],
    ['mistral', 'codestral-embed', 'output_dtype', 'int8', 'float'],
    ['bedrock', 'amazon.titan-embed-text-v2:0', 'embeddingTypes', ['float', 'binary'], 'float'],
    ['bedrock', 'cohere.embed-v4:0', 'embedding_types', ['float', 'int8'], 'float or base64'],
    ['cohere', 'embed-v4.0', 'embedding_types', ['int8'], 'float or base64'],
    ['jina', 'jina-embeddings-v4', 'return_multivector', true, 'false'],
    ['jina', 'jina-embeddings-v3', 'embedding_type', 'ubinary', 'float or base64'],
    ['vllm', 'BAAI/bge-m3', 'embed_dtype', 'float16', 'float32'],
    ['vllm', 'BAAI/bge-m3', 'endianness', 'big', 'native or little'],
  ])('of %s (%s) is not read from %s of %j', async (slug, model, name, value, readable) => {
    const build = (form: unknown) =>
      bodyOf(httpProvider(slug), callOf(model, { input: ONE_TEXT, extra: { [name]: form } }));
    await expect(build(value)).rejects.toThrow(new UnsupportedRequest(name, `must be ${readable} here`));
    await expect(build(null)).resolves.toBeDefined();
  });

  it.each<[string, string, Record<string, unknown>]>([
    ['voyage', 'voyage-3.5', { output_dtype: 'float' }],
    ['mistral', 'codestral-embed', { output_dtype: 'float' }],
    ['bedrock', 'amazon.titan-embed-text-v2:0', { embeddingTypes: ['float'] }],
    ['cohere', 'embed-v4.0', { embedding_types: ['float'] }],
    ['jina', 'jina-embeddings-v4', { return_multivector: false }],
    ['jina', 'jina-embeddings-v3', { embedding_type: 'float' }],
    ['vllm', 'BAAI/bge-m3', { embed_dtype: 'float32', endianness: 'little' }],
  ])('of %s (%s) permits %j', async (slug, model, extra) => {
    expect(await bodyOf(httpProvider(slug), callOf(model, { input: ONE_TEXT, extra }))).toMatchObject(extra);
  });
});
