// The conformance of every provider of the list, against a stub that imitates its wire. The table says what each of them
// must do; the tests below it hold every cell.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { vectorValues, vectorWidth } from '../../src/domain/vectors.js';
import type { ProviderAnswer, ProviderCall } from '../../src/embedding-providers/embedding-provider.js';
import { UnsupportedRequest } from '../../src/embedding-providers/embedding-provider.js';
import { EMBEDDING_PROVIDERS } from '../../src/embedding-providers/index.js';
import { callOf, embed, exchange, httpProvider, stubOf } from '../support/providers/drive.js';
import type { RunningProviderStub } from '../support/providers/provider-stub.js';
import { countAllTokens, vectorOf } from '../support/providers/vectors.js';

type Members = Readonly<Record<string, unknown>>;
/** What an input type becomes: members of the request, or words before every text. Neither: it is dropped. */
type InputTypeCell = { readonly members?: Members; readonly prefix?: string };

const INPUT_TYPES = [
  'search_query',
  'search_document',
  'classification',
  'clustering',
  'semantic_similarity',
] as const;
type InputTypeCells = Readonly<Record<(typeof INPUT_TYPES)[number], InputTypeCell>>;
const DROPPED: InputTypeCells = {
  search_query: {},
  search_document: {},
  classification: {},
  clustering: {},
  semantic_similarity: {},
};
const asMembers = (name: string, values: Readonly<Partial<Record<string, string>>>): InputTypeCells =>
  Object.fromEntries(
    INPUT_TYPES.map((type) => [
      type,
      values[type] === undefined ? {} : { members: { [name]: values[type] } },
    ]),
  ) as InputTypeCells;

interface Row {
  readonly slug: string;
  readonly model: string;
  readonly width: number;
  /** How many the upstream takes at most; null: as many as its memory holds. */
  readonly maxInputs: number | null;
  /** The golden body of a call with these texts and settings. */
  readonly body: (texts: readonly string[], settings: Members) => unknown;
  /** The settings of a call that asks for nothing in particular. */
  readonly plain: Members;
  /** Those of them that a caller may override. */
  readonly defaults: Members;
  /** The settings of a call for 256 numbers; null: refused, naming `dimensions`. */
  readonly dimensions: Members | null;
  readonly inputTypes: InputTypeCells;
  /** An input type in the upstream's own words, and what it becomes; null: it has none, whatever is said is dropped. */
  readonly ownInputType: readonly [string, Members] | null;
  /** What happens to an input type that nobody knows. */
  readonly strangeInputType: 'dropped' | 'refused' | 'passed on';
  /** The settings of a call for base64; null: floats are asked for, and come. */
  readonly base64: Members | null;
  readonly user: Members;
  readonly usage: 'both' | 'total' | 'none';
  readonly takesTokens: boolean;
  readonly modalities: readonly string[];
  /** A member of the upstream's own, which a caller may send and the stub accepts. */
  readonly extra: Members;
}

const inputBody =
  (model: string): Row['body'] =>
  (input, settings) => ({ model, input, ...settings });

/** OpenAI's own row, from which those of its likes differ in some cells. */
const openAiRow = (slug: string, model: string, width: number): Row => ({
  slug,
  model,
  width,
  maxInputs: 2048,
  body: inputBody(model),
  plain: { encoding_format: 'float' },
  defaults: {},
  dimensions: { dimensions: 256 },
  inputTypes: DROPPED,
  ownInputType: null,
  strangeInputType: 'dropped',
  base64: { encoding_format: 'base64' },
  user: { user: 'user-1' },
  usage: 'both',
  takesTokens: true,
  modalities: ['text'],
  extra: {},
});
const COHERE_INPUT_TYPES = asMembers('input_type', {
  search_query: 'search_query',
  search_document: 'search_document',
  classification: 'classification',
  clustering: 'clustering',
  semantic_similarity: 'search_document',
});
const cohereRow: Omit<Row, 'slug' | 'model' | 'width' | 'body'> = {
  maxInputs: 96,
  plain: { input_type: 'search_document', embedding_types: ['float'] },
  defaults: {},
  dimensions: { output_dimension: 256 },
  inputTypes: COHERE_INPUT_TYPES,
  ownInputType: ['image', { input_type: 'image' }],
  strangeInputType: 'refused',
  base64: { embedding_types: ['base64'] },
  user: {},
  usage: 'both',
  takesTokens: false,
  modalities: ['text', 'image'],
  extra: { truncate: 'NONE' },
};
const jinaRow = (model: string, width: number, tasks: Readonly<Partial<Record<string, string>>>): Row => ({
  ...openAiRow('jina', model, width),
  plain: { normalized: true, embedding_type: 'float' },
  defaults: { normalized: true },
  inputTypes: asMembers('task', tasks),
  strangeInputType: 'passed on',
  base64: { embedding_type: 'base64' },
  user: {},
  takesTokens: false,
  extra: { late_chunking: false },
});
const googleBody =
  (model: string): Row['body'] =>
  (texts, settings) => ({
    requests: texts.map((text) => ({
      model: `models/${model}`,
      content: { parts: [{ text }] },
      ...settings,
    })),
  });
const googleRow = (model: string): Row => ({
  ...openAiRow('google', model, 3072),
  maxInputs: 100,
  body: googleBody(model),
  plain: {},
  dimensions: { outputDimensionality: 256 },
  strangeInputType: 'refused',
  base64: null,
  user: {},
  takesTokens: false,
  extra: { title: 'A title' },
});
const titanRow = (model: string, width: number): Row => ({
  ...openAiRow('bedrock', model, width),
  maxInputs: 1,
  body: ([inputText], settings) => ({ inputText, ...settings }),
  plain: {},
  base64: null,
  user: {},
  takesTokens: false,
  extra: { normalize: true },
});

const TABLE: readonly Row[] = [
  openAiRow('openai', 'text-embedding-3-small', 1536),
  openAiRow('azure', 'text-embedding-3-small', 1536),
  {
    ...cohereRow,
    slug: 'cohere',
    model: 'embed-v4.0',
    width: 1536,
    body: (texts, settings) => ({ model: 'embed-v4.0', texts, ...settings }),
  },
  {
    ...openAiRow('voyage', 'voyage-3.5', 1024),
    maxInputs: 1000,
    plain: {},
    dimensions: { output_dimension: 256 },
    inputTypes: asMembers('input_type', { search_query: 'query', search_document: 'document' }),
    ownInputType: ['query', { input_type: 'query' }],
    strangeInputType: 'refused',
    user: {},
    usage: 'total',
    takesTokens: false,
    extra: { truncation: false },
  },
  {
    ...openAiRow('mistral', 'codestral-embed', 1536),
    maxInputs: 256,
    dimensions: { output_dimension: 256 },
    user: {},
    takesTokens: false,
    extra: { output_dtype: 'float' },
  },
  {
    ...googleRow('gemini-embedding-001'),
    inputTypes: asMembers('taskType', {
      search_query: 'RETRIEVAL_QUERY',
      search_document: 'RETRIEVAL_DOCUMENT',
      classification: 'CLASSIFICATION',
      clustering: 'CLUSTERING',
      semantic_similarity: 'SEMANTIC_SIMILARITY',
    }),
    ownInputType: ['CODE_RETRIEVAL_QUERY', { taskType: 'CODE_RETRIEVAL_QUERY' }],
    usage: 'none',
  },
  {
    ...googleRow('gemini-embedding-2'),
    inputTypes: {
      search_query: { prefix: 'task: search result | query: ' },
      search_document: { prefix: 'title: none | text: ' },
      classification: { prefix: 'task: classification | query: ' },
      clustering: { prefix: 'task: clustering | query: ' },
      semantic_similarity: { prefix: 'task: sentence similarity | query: ' },
    },
    modalities: ['text', 'image', 'audio', 'video', 'file'],
  },
  {
    ...jinaRow('jina-embeddings-v4', 2048, {
      search_query: 'retrieval.query',
      search_document: 'retrieval.passage',
      semantic_similarity: 'text-matching',
    }),
    maxInputs: 512,
    ownInputType: ['code.query', { task: 'code.query' }],
    modalities: ['text', 'image'],
  },
  {
    ...jinaRow('jina-embeddings-v3', 1024, {
      search_query: 'retrieval.query',
      search_document: 'retrieval.passage',
      semantic_similarity: 'text-matching',
      classification: 'classification',
      clustering: 'separation',
    }),
    ownInputType: ['separation', { task: 'separation' }],
  },
  {
    ...openAiRow('together', 'BAAI/bge-base-en-v1.5', 768),
    maxInputs: null,
    plain: {},
    dimensions: null,
    base64: null,
    user: {},
    usage: 'none',
    takesTokens: false,
  },
  {
    ...openAiRow('deepinfra', 'Qwen/Qwen3-Embedding-0.6B', 1024),
    maxInputs: 1024,
    user: {},
    takesTokens: false,
    extra: { service_tier: 'default' },
  },
  {
    ...openAiRow('nomic', 'nomic-embed-text-v1.5', 768),
    maxInputs: 400,
    body: (texts, settings) => ({ model: 'nomic-embed-text-v1.5', texts, ...settings }),
    plain: {},
    dimensions: { dimensionality: 256 },
    inputTypes: asMembers('task_type', {
      search_query: 'search_query',
      search_document: 'search_document',
      classification: 'classification',
      clustering: 'clustering',
      semantic_similarity: 'search_document',
    }),
    ownInputType: ['search_query', { task_type: 'search_query' }],
    strangeInputType: 'refused',
    base64: null,
    user: {},
    takesTokens: false,
    extra: { long_text_mode: 'mean' },
  },
  titanRow('amazon.titan-embed-text-v2:0', 1024),
  {
    ...cohereRow,
    slug: 'bedrock',
    model: 'cohere.embed-v4:0',
    width: 1536,
    body: (texts, settings) => ({ texts, ...settings }),
    base64: null,
    extra: { truncate: 'RIGHT' },
  },
  {
    ...openAiRow('ollama', 'nomic-embed-text', 768),
    maxInputs: null,
    plain: {},
    base64: null,
    user: {},
    takesTokens: false,
    extra: { keep_alive: '5m', truncate: false },
  },
  {
    ...openAiRow('tei', 'intfloat/multilingual-e5-small', 384),
    maxInputs: 32,
    strangeInputType: 'passed on',
  },
  {
    ...openAiRow('vllm', 'jinaai/jina-embeddings-v3', 1024),
    maxInputs: null,
    modalities: ['text', 'image'],
    extra: { truncate_prompt_tokens: 256 },
  },
  {
    ...openAiRow('openai-compatible', 'any-model', 512),
    maxInputs: null,
    ownInputType: ['passage', { input_type: 'passage' }],
    strangeInputType: 'passed on',
    base64: null,
    extra: { priority: 1 },
  },
];

/** Where the members of a call stand: Google has them beside every input. */
function settingsOf(body: unknown): Members {
  const { requests } = body as { requests?: readonly Members[] };
  return requests?.[0] ?? (body as Members);
}

const TEXTS = ['one', 'two words', 'three more words'];
const DATA_URL = 'data:image/png;base64,iVBORw0KGgo=';
const PARTS: Readonly<Record<string, Members>> = {
  text: { type: 'text', text: 'one' },
  image: { type: 'image_url', image_url: { url: DATA_URL } },
  audio: { type: 'input_audio', input_audio: { data: 'data:audio/wav;base64,UklGRg==' } },
  video: { type: 'input_video', input_video: { data: 'data:video/mp4;base64,AAAAIA==' } },
  file: { type: 'input_file', input_file: { data: 'data:application/pdf;base64,JVBERg==' } },
};

it('has a row for every provider that is reached over HTTP', () => {
  const slugs = EMBEDDING_PROVIDERS.filter(({ transport }) => transport === 'http').map(({ slug }) => slug);
  expect([...new Set(TABLE.map(({ slug }) => slug))].sort()).toEqual([...slugs].sort());
  expect(new Set(slugs).size).toBe(slugs.length);
});

describe.each(TABLE.map((row) => [`${row.slug} (${row.model})`, row] as const))('%s', (_name, row) => {
  const provider = httpProvider(row.slug);
  const stub = stubOf(row.slug);
  let running: RunningProviderStub;
  beforeAll(async () => {
    running = await stub.start();
  });
  afterAll(() => running.close());

  const connection = () => ({ baseUrl: running.baseUrl, apiKey: stub.apiKey });
  const textsPerCall = row.maxInputs === 1 ? TEXTS.map((text) => [text]) : [TEXTS];
  /** The three texts, in as many calls as it takes; the bodies as they arrived. */
  async function embedTexts(overrides: Partial<ProviderCall> = {}) {
    const answers: ProviderAnswer[] = [];
    const before = running.requests.length;
    for (const items of textsPerCall) {
      const call = callOf(row.model, { input: { form: 'texts', items }, ...overrides });
      answers.push(await embed(provider, call, connection()));
    }
    const bodies = running.requests.slice(before).map(({ body }) => body);
    return { answers, vectors: answers.flatMap(({ vectors }) => vectors), bodies };
  }
  const goldenBodies = (settings: Members, prefix = '') =>
    textsPerCall.map((texts) =>
      row.body(
        texts.map((text) => prefix + text),
        { ...row.plain, ...settings },
      ),
    );
  function expectVectors(
    vectors: ProviderAnswer['vectors'],
    contents: readonly unknown[],
    width = row.width,
  ) {
    expect(vectors.map(vectorWidth)).toEqual(contents.map(() => width));
    vectors.forEach((vector, index) => {
      const expected = vectorOf(contents[index], row.width, width);
      const off = [...vectorValues(vector)].map((value, at) => Math.abs(value - (expected[at] ?? NaN)));
      expect(Math.max(...off)).toBeLessThan(1e-6);
    });
  }

  it('gives three vectors for three inputs, in their order, for the golden request', async () => {
    const { vectors, bodies } = await embedTexts();
    expect(bodies).toEqual(goldenBodies({}));
    expectVectors(vectors, TEXTS);
  });

  it('has the width that is asked for, at length one, or refuses to', async () => {
    if (row.dimensions === null) {
      await expect(embedTexts({ dimensions: 256 })).rejects.toThrow(UnsupportedRequest);
      await expect(embedTexts({ dimensions: 256 })).rejects.toThrow(/^dimensions: /);
      return;
    }
    const { vectors, bodies } = await embedTexts({ dimensions: 256 });
    expect(bodies).toEqual(goldenBodies(row.dimensions));
    expectVectors(vectors, TEXTS, 256);
    for (const vector of vectors) expect(Math.hypot(...vectorValues(vector))).toBeCloseTo(1, 6);
  });

  it.each(INPUT_TYPES)('maps the input type %s', async (inputType) => {
    const { members = {}, prefix = '' } = row.inputTypes[inputType];
    const { vectors, bodies } = await embedTexts({ inputType });
    expect(bodies).toEqual(goldenBodies(members, prefix));
    expectVectors(
      vectors,
      TEXTS.map((text) => prefix + text),
    );
  });

  const { ownInputType, maxInputs } = row;
  if (ownInputType !== null) {
    it("passes an input type on that is in the upstream's own words", async () => {
      const [inputType, members] = ownInputType;
      const { bodies } = await embedTexts({ inputType });
      expect(bodies).toEqual(goldenBodies(members));
    });
  }

  it('drops, refuses or passes on an input type that nobody knows', async () => {
    const call = callOf(row.model, { inputType: 'strange', input: { form: 'texts', items: ['one'] } });
    if (row.strangeInputType === 'refused') {
      expect(() => provider.buildRequest(call, connection())).toThrow(UnsupportedRequest);
      expect(() => provider.buildRequest(call, connection())).toThrow(/^input_type: /);
      return;
    }
    const { body } = await provider.buildRequest(call, connection());
    expect(body.includes('"strange"')).toBe(row.strangeInputType === 'passed on');
  });

  it('gives base64 where it can, and vectors of the same numbers', async () => {
    const { vectors, bodies } = await embedTexts({ encodingFormat: 'base64' });
    expect(bodies).toEqual(goldenBodies(row.base64 ?? {}));
    expect(vectors.map(({ form }) => form)).toEqual(
      TEXTS.map(() => (row.base64 === null ? 'json' : 'base64')),
    );
    expectVectors(vectors, TEXTS);
  });

  it('names the user only where there is a place for it', async () => {
    const { bodies } = await embedTexts({ user: 'user-1' });
    expect(bodies).toEqual(goldenBodies(row.user));
  });

  it('tells the usage as the upstream does, and null for what that does not tell', async () => {
    const { answers } = await embedTexts();
    const expected = textsPerCall.map((texts) => {
      const tokens = countAllTokens(texts);
      return [row.usage === 'both' ? tokens : null, row.usage === 'none' ? null : tokens];
    });
    expect(answers.map(({ promptTokens, totalTokens }) => [promptTokens, totalTokens])).toEqual(expected);
  });

  it('takes token arrays, or refuses them naming the input', async () => {
    const items = [[1, 2, 3], [4]].slice(0, row.maxInputs ?? 2);
    const call = callOf(row.model, { input: { form: 'tokens', items } });
    if (row.takesTokens) {
      const answer = await embed(provider, call, connection());
      expectVectors(answer.vectors, items);
    } else {
      expect(() => provider.buildRequest(call, connection())).toThrow(UnsupportedRequest);
      expect(() => provider.buildRequest(call, connection())).toThrow(/^input: /);
    }
  });

  it.each(Object.keys(PARTS))('takes a part that is %s, or refuses it naming the part', async (modality) => {
    const content = [PARTS[modality] as Members];
    const call = callOf(row.model, { input: { form: 'multimodal', items: [{ content }] } });
    if (row.modalities.includes(modality)) {
      const answer = await embed(provider, call, connection());
      expect(answer.vectors.map(vectorWidth)).toEqual([row.width]);
    } else {
      expect(() => provider.buildRequest(call, connection())).toThrow(UnsupportedRequest);
      expect(() => provider.buildRequest(call, connection())).toThrow(/^input\[0\]\.content\[0\]: /);
    }
  });

  it("sends the caller's other members, and never in place of its own", async () => {
    const { bodies } = await embedTexts({ extra: row.extra });
    expect(bodies).toEqual(goldenBodies(row.extra));
    const [golden] = goldenBodies({}).map(settingsOf);
    const hostile = Object.fromEntries(Object.keys(golden ?? {}).map((name) => [name, 'hostile']));
    const call = callOf(row.model, {
      input: { form: 'texts', items: textsPerCall[0] ?? [] },
      extra: { ...hostile, ...row.defaults },
    });
    const { body } = await provider.buildRequest(call, connection());
    expect(settingsOf(JSON.parse(body))).toEqual(golden);
  });

  if (maxInputs === 1) {
    it('does not send a second input where one is all that a call may carry', () => {
      expect(() => provider.buildRequest(callOf(row.model), connection())).toThrow(
        /^input: .* one text a call/,
      );
    });
  } else if (maxInputs !== null) {
    it('is refused by the upstream in words when it sends more inputs than fit into one call', async () => {
      const call = (count: number) => {
        const items = Array.from({ length: count }, (_value, index) => `text ${index}`);
        return callOf(row.model, { input: { form: 'texts', items } });
      };
      const fits = await exchange(provider, call(maxInputs), connection());
      expect(fits.response.status).toBe(200);
      const tooMany = await exchange(provider, call(maxInputs + 1), connection());
      expect([400, 422]).toContain(tooMany.response.status);
      expect(provider.readError(tooMany.response).message).toMatch(/^[^{]/);
    });
  }
});

describe('local', () => {
  const local = EMBEDDING_PROVIDERS.find(({ slug }) => slug === 'local');
  if (local?.transport !== 'local') throw new Error('no local provider');

  it('gives three vectors for three inputs, of the width that is asked for, and counts tokens', async () => {
    const answer = await local.embed(callOf('hashing', { dimensions: 256 }));
    expect(answer.vectors.map(vectorWidth)).toEqual([256, 256, 256]);
    expect(answer.promptTokens).toBe(6);
  });

  it('takes token arrays and texts in items, and refuses other parts naming the input', async () => {
    const tokens = await local.embed(callOf('hashing', { input: { form: 'tokens', items: [[1, 2], [3]] } }));
    expect(tokens.vectors).toHaveLength(2);
    const item = (part: Members | undefined) =>
      callOf('hashing', { input: { form: 'multimodal', items: [{ content: [part as Members] }] } });
    expect((await local.embed(item(PARTS['text']))).vectors).toHaveLength(1);
    await expect(local.embed(item(PARTS['image']))).rejects.toThrow(/^input\[0\]/);
  });
});
