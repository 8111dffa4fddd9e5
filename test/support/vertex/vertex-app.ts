// The service before Vertex on loopback.
import { createTestApp } from '../app/app.js';
import type { TestApp } from '../app/app.js';
import { withCatalogueFile } from '../catalogue/catalogue-file.js';
import { keyOf, serviceAccount } from './service-account.js';
import { BETA, startVertexStub } from './vertex-stub.js';
import type { VertexStub } from './vertex-stub.js';

export { BETA } from './vertex-stub.js';

export const ON_VERTEX = 'in-house/gemini-on-vertex';
export const SOMEWHERE = 'in-house/gemini-somewhere';

/** Claude, with one beta. */
export const CLAUDE_ON_VERTEX = 'in-house/claude-on-vertex';

const ENDPOINT = {
  max_output_tokens: 32_000,
  supported_parameters: ['max_tokens', 'tools', 'tool_choice', 'reasoning'],
  reasoning_efforts: ['low', 'high'],
  data_policy: { retains_prompts: false, trains: false },
  prices: [
    {
      effective_from: '2020-01-01',
      source: 'the list of this test',
      usd_per_million_tokens: { prompt: 1.25, completion: 10 },
    },
  ],
};
const AT_VERTEX = { provider: 'google-vertex', upstream_model: 'gemini-3-stub', ...ENDPOINT };
const MODEL = { created_at: '2026-01-01', context_length: 1_000_000 };
const CATALOGUE = {
  chat_models: [
    { id: ON_VERTEX, ...MODEL, endpoints: [AT_VERTEX] },
    {
      id: CLAUDE_ON_VERTEX,
      ...MODEL,
      endpoints: [
        {
          ...ENDPOINT,
          provider: 'vertex',
          upstream_model: 'claude-stub@20261001',
          wires: ['messages'],
          thinking: 'adaptive',
          betas: [BETA],
        },
      ],
    },
    {
      id: SOMEWHERE,
      ...MODEL,
      endpoints: [AT_VERTEX, { ...ENDPOINT, provider: 'openai-compatible', upstream_model: 'open-model' }],
    },
  ],
};

export interface VertexApp {
  readonly app: TestApp;
  readonly vertex: VertexStub;
  close(): Promise<void>;
}

/** `otherOrigin`: of a server with Chat's wire. */
export async function startVertexApp(otherOrigin = 'http://127.0.0.1:1'): Promise<VertexApp> {
  const vertex = await startVertexStub();
  const account = serviceAccount('operator', { token_uri: `${vertex.origin}/token` });
  const app = await withCatalogueFile(JSON.stringify(CATALOGUE), (file) =>
    createTestApp({
      environment: {
        // As Google's console writes it.
        VERTEX_API_KEY: JSON.stringify(account, null, 2),
        VERTEX_BASE_URL: `${vertex.origin}/v1`,
        OPENAI_COMPATIBLE_BASE_URL: `${otherOrigin}/v1`,
        CATALOGUE_FILE: file,
        PROVIDER_RETRIES: '0',
      },
    }),
  );
  return {
    app,
    vertex,
    close: async () => {
      await app.close();
      await vertex.close();
    },
  };
}

/** Of a customer. */
export const CUSTOMER_KEY = keyOf(serviceAccount('customer'));
