// The service before Anthropic's stub, and before a server with Chat's wire.
import { createTestApp } from '../app/app.js';
import type { TestApp } from '../app/app.js';
import { withCatalogueFile } from '../catalogue/catalogue-file.js';
import { answerChat } from '../upstreams/chat-upstream.js';
import { startStubUpstream } from '../upstreams/stub-upstream.js';
import type { StubUpstream } from '../upstreams/stub-upstream.js';
import { startMessagesStub, STUB_KEY } from './messages-stub.js';
import type { MessagesStub } from './messages-stub.js';

export interface MessagesApp {
  readonly app: TestApp;
  readonly anthropic: MessagesStub;
  readonly chat: StubUpstream;
  close(): Promise<void>;
}

/** At Anthropic, thinking by effort. */
export const CLAUDE = 'in-house/claude';
/** The same, which searches the web for 10 USD a thousand times. */
export const SEARCHING_CLAUDE = 'in-house/claude-search';
/** The same, thinking by a budget. */
export const BUDGET_CLAUDE = 'in-house/claude-budget';
/** At a server with Chat's wire. */
export const OPEN_MODEL = 'in-house/open-model';
/** At vLLM, with a context of 32,768 tokens. */
export const SMALL_MODEL = 'in-house/small-model';

const PRICES = [
  {
    effective_from: '2020-01-01',
    source: 'the list of this test',
    usd_per_million_tokens: {
      prompt: 2,
      cache_read: 0.1,
      cache_write: 2.5,
      cache_write_1h: 4,
      completion: 10,
    },
  },
];
const SHARED = {
  created_at: '2026-01-01',
  context_length: 200_000,
};
const ENDPOINT = {
  max_output_tokens: 32_000,
  data_policy: { retains_prompts: false, trains: false },
  prices: PRICES,
};
const OF_CLAUDE = {
  ...ENDPOINT,
  provider: 'anthropic',
  upstream_model: 'claude-stub',
  input_modalities: ['text', 'image', 'file'],
};
const CLAUDE_PARAMETERS =
  'max_tokens tools tool_choice structured_outputs stop temperature top_p top_k reasoning cache_control';

const CATALOGUE = {
  chat_models: [
    {
      id: CLAUDE,
      ...SHARED,
      endpoints: [
        {
          ...OF_CLAUDE,
          supported_parameters: CLAUDE_PARAMETERS.split(' '),
          reasoning_efforts: ['none', 'low', 'medium', 'high'],
          thinking: 'adaptive',
        },
      ],
    },
    {
      id: SEARCHING_CLAUDE,
      ...SHARED,
      endpoints: [
        {
          ...OF_CLAUDE,
          supported_parameters: CLAUDE_PARAMETERS.split(' '),
          prices: [{ ...PRICES[0], usd_per_thousand_searches: 10 }],
        },
      ],
    },
    {
      id: BUDGET_CLAUDE,
      ...SHARED,
      endpoints: [
        {
          ...OF_CLAUDE,
          supported_parameters: CLAUDE_PARAMETERS.split(' '),
          is_reasoning: true,
          thinking: 'budget',
        },
      ],
    },
    {
      id: OPEN_MODEL,
      ...SHARED,
      tokenizer: 'o200k',
      endpoints: [
        {
          ...ENDPOINT,
          provider: 'openai-compatible',
          upstream_model: 'open-model',
          input_modalities: ['text', 'image'],
          supported_parameters: 'max_tokens tools tool_choice response_format stop temperature top_p'.split(
            ' ',
          ),
        },
      ],
    },
    {
      id: SMALL_MODEL,
      ...SHARED,
      context_length: 32_768,
      tokenizer: 'o200k',
      endpoints: [
        {
          ...ENDPOINT,
          provider: 'vllm',
          upstream_model: 'small-model',
          supported_parameters: ['max_tokens'],
        },
      ],
    },
  ],
};

export async function startMessagesApp(
  environment: Readonly<Record<string, string>> = {},
): Promise<MessagesApp> {
  const anthropic = await startMessagesStub();
  const chat = await startStubUpstream(answerChat);
  const app = await withCatalogueFile(JSON.stringify(CATALOGUE), (file) =>
    createTestApp({
      environment: {
        ANTHROPIC_API_KEY: STUB_KEY,
        ANTHROPIC_BASE_URL: anthropic.origin,
        OPENAI_COMPATIBLE_BASE_URL: `${chat.origin}/v1`,
        VLLM_BASE_URL: `${chat.origin}/v1`,
        CATALOGUE_FILE: file,
        PROVIDER_RETRIES: '0',
        ...environment,
      },
    }),
  );
  return {
    app,
    anthropic,
    chat,
    close: async () => {
      await app.close();
      await anthropic.close();
      await chat.close();
    },
  };
}

/** Members with a prompt that is as long as the usage of the stub states, in a cache for an hour. */
export const LONG_PROMPT = {
  system: [{ type: 'text', text: 'x'.repeat(88_000), cache_control: { type: 'ephemeral', ttl: '1h' } }],
};

interface PostOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly path?: string;
  readonly signal?: AbortSignal;
}

/** A text body passes as it is. */
export function postMessages(
  app: TestApp,
  body: object | string,
  { headers = {}, path = '/v1/messages', signal }: PostOptions = {},
): Promise<Response> {
  return fetch(`${app.origin}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': app.apiKey, ...headers },
    body:
      typeof body === 'string'
        ? body
        : JSON.stringify({
            model: CLAUDE,
            max_tokens: 2_000,
            messages: [{ role: 'user', content: 'hi' }],
            ...body,
          }),
    ...(signal && { signal }),
  });
}

export interface ReadEvent {
  readonly event: string;
  readonly data: Record<string, unknown> & { readonly type: string };
}

export async function eventsOf(response: Response): Promise<ReadEvent[]> {
  const blocks = (await response.text()).split('\n\n').filter((block) => block !== '');
  return blocks.map((block) => {
    const match = /^event: (.+)\ndata: (.+)$/.exec(block);
    if (!match) throw new Error(`no event of the wire: ${block}`);
    return { event: match[1] ?? '', data: JSON.parse(match[2] ?? '') as ReadEvent['data'] };
  });
}
