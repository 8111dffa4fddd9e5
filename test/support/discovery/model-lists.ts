// The lists of models of each vendor on loopback: they refuse what the vendor would refuse. Sources: the references that the files of
// the providers name.
import type { ModelFacts } from '../../../src/domain/providers/provider-model.js';
import type { ReceivedRequest } from '../upstreams/stub-upstream.js';

export interface ListedVendor {
  readonly slug: string;
  readonly variable: string;
  /** Behind the origin of the stub. */
  readonly basePath: string;
  /** The path with its query of each request, in order. */
  readonly paths: readonly string[];
  /** The answers to them. */
  readonly pages: readonly unknown[];
  readonly isAuthorized: (headers: ReceivedRequest['headers']) => boolean;
  readonly names: readonly string[];
  /** Of the first name; the others are null. */
  readonly facts: Partial<ModelFacts>;
}

export const VENDOR_KEY = 'upstream-key';
const byBearer = (headers: ReceivedRequest['headers']): boolean =>
  headers.authorization === `Bearer ${VENDOR_KEY}`;
const openAi = (...ids: readonly string[]): object => ({
  object: 'list',
  data: ids.map((id) => ({ id, object: 'model', created: 1_700_000_000, owned_by: 'vendor' })),
});

export const LISTED_VENDORS: readonly ListedVendor[] = [
  {
    slug: 'openai',
    variable: 'OPENAI',
    basePath: '/v1',
    paths: ['/v1/models'],
    pages: [openAi('gpt-9', 'text-embedding-9')],
    isAuthorized: byBearer,
    names: ['gpt-9', 'text-embedding-9'],
    facts: {},
  },
  {
    slug: 'anthropic',
    variable: 'ANTHROPIC',
    basePath: '',
    paths: ['/v1/models?limit=1000', '/v1/models?limit=1000&after_id=claude-a'],
    pages: [
      {
        data: [
          { type: 'model', id: 'claude-a', display_name: 'Claude A', created_at: '2026-02-19T00:00:00Z' },
        ],
        has_more: true,
        first_id: 'claude-a',
        last_id: 'claude-a',
      },
      {
        data: [
          { type: 'model', id: 'claude-b', display_name: 'Claude B', created_at: '2026-03-01T00:00:00Z' },
        ],
        has_more: false,
        first_id: 'claude-b',
        last_id: 'claude-b',
      },
    ],
    isAuthorized: (headers) =>
      headers['x-api-key'] === VENDOR_KEY && headers['anthropic-version'] === '2023-06-01',
    names: ['claude-a', 'claude-b'],
    facts: { kind: 'chat', displayName: 'Claude A', releasedOn: '2026-02-19' },
  },
  {
    slug: 'google',
    variable: 'GOOGLE',
    basePath: '/v1beta',
    paths: ['/v1beta/models?pageSize=1000', '/v1beta/models?pageSize=1000&pageToken=p2'],
    pages: [
      {
        models: [
          {
            name: 'models/gemini-9-pro',
            displayName: 'Gemini 9 Pro',
            inputTokenLimit: 1_048_576,
            outputTokenLimit: 65_536,
            supportedGenerationMethods: ['generateContent', 'countTokens'],
          },
        ],
        nextPageToken: 'p2',
      },
      { models: [{ name: 'models/gemini-embedding-9', supportedGenerationMethods: ['embedContent'] }] },
    ],
    isAuthorized: (headers) => headers['x-goog-api-key'] === VENDOR_KEY,
    names: ['gemini-9-pro', 'gemini-embedding-9'],
    facts: { kind: 'chat', displayName: 'Gemini 9 Pro', contextLength: 1_048_576, maxOutputTokens: 65_536 },
  },
  {
    slug: 'mistral',
    variable: 'MISTRAL',
    basePath: '/v1',
    paths: ['/v1/models'],
    pages: [
      {
        object: 'list',
        data: [
          {
            id: 'mistral-large-2611',
            name: 'mistral-large-2611',
            max_context_length: 262_144,
            capabilities: { completion_chat: true, vision: true },
            aliases: ['mistral-large-latest'],
            deprecation: '2027-05-31T12:00:00Z',
            deprecation_replacement_model: 'mistral-large-2705',
          },
        ],
      },
    ],
    isAuthorized: byBearer,
    names: ['mistral-large-2611'],
    facts: {
      kind: 'chat',
      displayName: 'mistral-large-2611',
      contextLength: 262_144,
      aliases: ['mistral-large-latest'],
      retiresOn: '2027-05-31',
      successor: 'mistral-large-2705',
    },
  },
  {
    slug: 'cohere',
    variable: 'COHERE',
    basePath: '',
    paths: ['/v1/models?page_size=1000', '/v1/models?page_size=1000&page_token=soup'],
    pages: [
      {
        models: [{ name: 'rerank-v9', endpoints: ['rerank'], context_length: 32_000 }],
        next_page_token: 'soup',
      },
      { models: [{ name: 'command-z', endpoints: ['generate', 'chat'], context_length: 256_000 }] },
    ],
    isAuthorized: byBearer,
    names: ['command-z', 'rerank-v9'],
    facts: { kind: 'chat', contextLength: 256_000 },
  },
  {
    slug: 'together',
    variable: 'TOGETHER',
    basePath: '/v1',
    paths: ['/v1/models'],
    pages: [
      [
        {
          id: 'moonshotai/Kimi-K9',
          type: 'chat',
          display_name: 'Kimi K9',
          context_length: 262_144,
          pricing: { hourly: 0, input: 0.6, output: 2.5, base: 0, finetune: 0 },
        },
      ],
    ],
    isAuthorized: byBearer,
    names: ['moonshotai/Kimi-K9'],
    facts: {
      kind: 'chat',
      displayName: 'Kimi K9',
      contextLength: 262_144,
      prices: { prompt: '0.6', completion: '2.5' },
    },
  },
  {
    slug: 'deepinfra',
    variable: 'DEEPINFRA',
    basePath: '/v1/openai',
    paths: ['/v1/openai/models'],
    pages: [
      {
        object: 'list',
        data: [
          {
            id: 'deepseek-ai/DeepSeek-V9',
            metadata: {
              context_length: 163_840,
              max_tokens: 16_384,
              pricing: { input_tokens: 0.38, output_tokens: 0.89 },
            },
          },
        ],
      },
    ],
    isAuthorized: byBearer,
    names: ['deepseek-ai/DeepSeek-V9'],
    facts: {
      contextLength: 163_840,
      maxOutputTokens: 16_384,
      prices: { prompt: '0.38', completion: '0.89' },
    },
  },
  {
    slug: 'ollama',
    variable: 'OLLAMA',
    basePath: '/v1',
    paths: ['/api/tags'],
    pages: [{ models: [{ name: 'llama9:8b', model: 'llama9:8b', size: 4_661_224_676 }] }],
    isAuthorized: byBearer,
    names: ['llama9:8b'],
    facts: {},
  },
  {
    slug: 'vllm',
    variable: 'VLLM',
    basePath: '/v1',
    paths: ['/v1/models'],
    pages: [{ object: 'list', data: [{ id: 'our-model', object: 'model', max_model_len: 8192 }] }],
    isAuthorized: byBearer,
    names: ['our-model'],
    facts: { contextLength: 8192 },
  },
  {
    slug: 'openai-compatible',
    variable: 'OPENAI_COMPATIBLE',
    basePath: '/v1',
    paths: ['/v1/models'],
    pages: [openAi('served')],
    isAuthorized: byBearer,
    names: ['served'],
    facts: {},
  },
  {
    slug: 'tei',
    variable: 'TEI',
    basePath: '/v1',
    paths: ['/info'],
    pages: [
      {
        model_id: 'BAAI/bge-reranker-v2-m3',
        model_type: { reranker: { id2label: { 0: 'LABEL_0' }, label2id: { LABEL_0: 0 } } },
        max_input_length: 512,
        max_client_batch_size: 32,
      },
    ],
    isAuthorized: byBearer,
    names: ['BAAI/bge-reranker-v2-m3'],
    facts: { kind: 'rerank', contextLength: 512 },
  },
];
