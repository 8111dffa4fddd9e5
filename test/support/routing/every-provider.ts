// The stubs of all providers, and the configuration of the service for them: by variables and, for self-hosted models,
// by a catalogue file, as an operator would.
import { PROVIDER_STUBS } from '../providers/index.js';
import type { RunningProviderStub } from '../providers/provider-stub.js';
import { PROVIDER_ROWS } from '../providers/rows.js';
import type { ProviderRow } from '../providers/rows.js';

export interface EveryProvider {
  /** `<PROVIDER>_BASE_URL` and `<PROVIDER>_API_KEY`. */
  readonly environment: Readonly<Record<string, string>>;
  stubOf(row: ProviderRow): RunningProviderStub;
  close(): Promise<void>;
}

export async function startEveryProvider(): Promise<EveryProvider> {
  const running = new Map(
    await Promise.all(PROVIDER_STUBS.map(async (stub) => [stub, await stub.start()] as const)),
  );
  return {
    environment: Object.fromEntries(
      [...running].flatMap(([{ slug, apiKey }, { baseUrl }]) => {
        const prefix = slug.toUpperCase().replaceAll('-', '_');
        return [
          [`${prefix}_BASE_URL`, baseUrl],
          [`${prefix}_API_KEY`, apiKey],
        ];
      }),
    ),
    stubOf: (row) => {
      const found = running.get(row.stub);
      if (!found) throw new Error(`${row.label} is not running`);
      return found;
    },
    close: async () => {
      await Promise.all([...running.values()].map((stub) => stub.close()));
    },
  };
}

// The limit of servers that have none.
const MAX_INPUTS = 512;

/** The text of a catalogue file with the models that are not shipped. JSON is YAML. */
export function inHouseCatalogue(): string {
  const models = PROVIDER_ROWS.filter(({ id }) => id.startsWith('in-house/')).map((row) => ({
    id: row.id,
    created_at: '2026-01-01',
    native_dimensions: row.width,
    other_dimensions: { least: 1, most: row.width - 1 },
    context_length: 8192,
    endpoints: [
      {
        provider: row.stub.slug,
        upstream_model: row.model,
        input_forms: row.takesTokens ? ['texts', 'tokens'] : ['texts'],
        takes_dimensions: row.dimensions !== null,
        max_inputs_per_call: row.maxInputs ?? MAX_INPUTS,
        max_tokens_per_input: 8192,
        prices: [{ effective_from: '2026-01-01', usd_per_million_tokens: 0, source: 'our own machines' }],
        data_policy: { retains_prompts: false, trains: false },
      },
    ],
  }));
  return JSON.stringify({ models });
}
