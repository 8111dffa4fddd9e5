// The service before Google's stub: one model of each generation in Gemini's wire, and one that speaks Chat as well.
import { createTestApp } from '../app/app.js';
import type { TestApp } from '../app/app.js';
import { withCatalogueFile } from '../catalogue/catalogue-file.js';
import { GEMINI_KEY, startGeminiStub } from './gemini-stub.js';
import type { GeminiStub } from './gemini-stub.js';

export interface GeminiApp {
  readonly app: TestApp;
  readonly google: GeminiStub;
  close(): Promise<void>;
}

export const GEMINI = 'in-house/gemini-3';
export const GEMINI_25 = 'in-house/gemini-2.5';
/** In Gemini's wire, and in Chat's. */
export const BOTH_WIRES = 'in-house/gemini-both';

const PARAMETERS =
  'max_tokens tools tool_choice response_format structured_outputs stop temperature top_p reasoning';

function model(id: string, upstreamModel: string, more: object = {}): object {
  return {
    id,
    created_at: '2026-01-01',
    context_length: 1_000_000,
    endpoints: [
      {
        provider: 'google',
        upstream_model: upstreamModel,
        max_output_tokens: 32_000,
        wires: ['gemini'],
        supported_parameters: PARAMETERS.split(' '),
        input_modalities: ['text', 'image'],
        reasoning_efforts: ['low', 'medium', 'high'],
        data_policy: { retains_prompts: false, trains: false },
        prices: [
          {
            effective_from: '2020-01-01',
            source: 'the list of this test',
            usd_per_million_tokens: { prompt: 1.25, cache_read: 0.625, completion: 10 },
          },
        ],
        ...more,
      },
    ],
  };
}

const CATALOGUE = {
  chat_models: [
    model(GEMINI, 'gemini-3-stub'),
    model(GEMINI_25, 'gemini-2.5-stub'),
    model(BOTH_WIRES, 'gemini-3-stub', { wires: ['gemini', 'chat'] }),
  ],
};

export async function startGeminiApp(environment: Readonly<Record<string, string>> = {}): Promise<GeminiApp> {
  const google = await startGeminiStub();
  const app = await withCatalogueFile(JSON.stringify(CATALOGUE), (file) =>
    createTestApp({
      environment: {
        GOOGLE_API_KEY: GEMINI_KEY,
        GOOGLE_BASE_URL: `${google.origin}/v1beta`,
        CATALOGUE_FILE: file,
        PROVIDER_RETRIES: '0',
        ...environment,
      },
    }),
  );
  return {
    app,
    google,
    close: async () => {
      await app.close();
      await google.close();
    },
  };
}
