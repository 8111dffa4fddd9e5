// The service before OpenAI's stub, which speaks Responses and Chat.
import { createTestApp } from '../app/app.js';
import type { TestApp } from '../app/app.js';
import { withCatalogueFile } from '../catalogue/catalogue-file.js';
import { startResponsesStub, STUB_KEY } from './responses-stub.js';
import type { ResponsesStub } from './responses-stub.js';

export interface ResponsesApp {
  readonly app: TestApp;
  readonly openai: ResponsesStub;
  close(): Promise<void>;
}

/** Reasons, and takes tools in Chat's wire only without. */
export const GPT = 'in-house/gpt';
/** Does not reason. */
export const PLAIN = 'in-house/plain';
/** Speaks Responses alone, with functions only. */
export const FUNCTIONS = 'in-house/functions';

const SHARED = { created_at: '2026-01-01', context_length: 400_000, tokenizer: 'o200k' };
const ENDPOINT = {
  provider: 'openai',
  max_output_tokens: 32_000,
  input_modalities: ['text', 'image', 'file'],
  data_policy: { retains_prompts: false, trains: false },
  prices: [
    {
      effective_from: '2020-01-01',
      source: 'the list of this test',
      usd_per_million_tokens: { prompt: 2, cache_read: 0.1, cache_write: 2.5, completion: 10 },
    },
  ],
};
const PARAMETERS =
  'max_tokens tools tool_choice parallel_tool_calls response_format structured_outputs'.split(' ');
const REASONING = {
  supported_parameters: [
    ...PARAMETERS,
    'seed',
    'reasoning',
    'reasoning_effort',
    'verbosity',
    'prompt_cache_key',
  ],
  reasoning_efforts: ['none', 'low', 'medium', 'high'],
};

const CATALOGUE = {
  chat_models: [
    {
      id: GPT,
      ...SHARED,
      endpoints: [
        {
          ...ENDPOINT,
          ...REASONING,
          upstream_model: 'gpt-stub',
          tools_only_without_reasoning: true,
          wires: ['responses', 'chat'],
        },
      ],
    },
    {
      id: PLAIN,
      ...SHARED,
      endpoints: [
        {
          ...ENDPOINT,
          upstream_model: 'plain-stub',
          supported_parameters: [...PARAMETERS, 'temperature', 'top_p', 'stop', 'seed', 'n'],
          wires: ['responses', 'chat'],
        },
      ],
    },
    {
      id: FUNCTIONS,
      ...SHARED,
      endpoints: [
        { ...ENDPOINT, ...REASONING, upstream_model: 'gpt-stub', wires: ['responses'], custom_tools: false },
      ],
    },
  ],
};

export async function startResponsesApp(
  environment: Readonly<Record<string, string>> = {},
): Promise<ResponsesApp> {
  const openai = await startResponsesStub();
  const app = await withCatalogueFile(JSON.stringify(CATALOGUE), (file) =>
    createTestApp({
      environment: {
        OPENAI_API_KEY: STUB_KEY,
        OPENAI_BASE_URL: `${openai.origin}/v1`,
        CATALOGUE_FILE: file,
        PROVIDER_RETRIES: '0',
        ...environment,
      },
    }),
  );
  return {
    app,
    openai,
    close: async () => {
      await app.close();
      await openai.close();
    },
  };
}
