// The service before Bedrock's stub: one model that speaks Converse, and Claude, which speaks the Messages wire.
import { createTestApp } from '../app/app.js';
import type { TestApp } from '../app/app.js';
import { withCatalogueFile } from '../catalogue/catalogue-file.js';
import { BEDROCK_KEY, startBedrockStub } from './bedrock-stub.js';
import type { BedrockStub } from './bedrock-stub.js';

export interface BedrockApp {
  readonly app: TestApp;
  readonly bedrock: BedrockStub;
  close(): Promise<void>;
}

export const NOVA = 'in-house/nova';
export const CLOUD_CLAUDE = 'in-house/cloud-claude';
const ENDPOINT = {
  provider: 'bedrock',
  max_output_tokens: 32_000,
  input_modalities: ['text', 'image', 'file'],
  data_policy: { retains_prompts: false, trains: false },
  prices: [
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
  ],
};
const SHARED = { created_at: '2026-01-01', context_length: 200_000 };

const CATALOGUE = {
  chat_models: [
    {
      id: NOVA,
      ...SHARED,
      endpoints: [
        {
          ...ENDPOINT,
          upstream_model: 'amazon.nova-stub-v1:0',
          supported_parameters:
            'max_tokens tools tool_choice structured_outputs stop temperature top_p top_k reasoning'.split(
              ' ',
            ),
          reasoning_efforts: ['low', 'medium', 'high'],
        },
      ],
    },
    {
      id: CLOUD_CLAUDE,
      ...SHARED,
      endpoints: [
        {
          ...ENDPOINT,
          wires: ['messages'],
          upstream_model: 'eu.anthropic.claude-stub-v1:0',
          supported_parameters: 'max_tokens tools tool_choice stop temperature top_p top_k reasoning'.split(
            ' ',
          ),
          reasoning_efforts: ['none', 'low', 'medium', 'high'],
          thinking: 'adaptive',
          betas: ['context-1m-2025-08-07'],
        },
      ],
    },
  ],
};

export async function startBedrockApp(): Promise<BedrockApp> {
  const bedrock = await startBedrockStub();
  const app = await withCatalogueFile(JSON.stringify(CATALOGUE), (file) =>
    createTestApp({
      environment: {
        BEDROCK_API_KEY: BEDROCK_KEY,
        BEDROCK_BASE_URL: bedrock.origin,
        CATALOGUE_FILE: file,
        PROVIDER_RETRIES: '0',
      },
    }),
  );
  return {
    app,
    bedrock,
    close: async () => {
      await app.close();
      await bedrock.close();
    },
  };
}
