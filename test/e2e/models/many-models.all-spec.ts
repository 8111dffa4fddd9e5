// GET /models of a catalogue with 5,000 models: bounded pages of the catalogue in memory.
import { expect, it } from '@jest/globals';
import { createTestApp } from '../../support/app/app.js';
import { withCatalogueFile } from '../../support/catalogue/catalogue-file.js';
import { withoutScans } from '../../support/deliveries/notifications.js';
import { recordStatements } from '../../support/database/statements.js';

const MODELS = 5_000;
const PAGE = 100;

const modelOf = (number: number): string => `  - id: acme/model-${number}
    created_at: 2026-01-02
    native_dimensions: 8
    context_length: 100
    endpoints:
      - provider: openai
        upstream_model: new-${number}
        max_inputs_per_call: 5
        max_tokens_per_input: 100
        prices:
          - effective_from: 2026-01-02
            usd_per_million_tokens: 0.02
            source: a page
        data_policy: { retains_prompts: false, trains: false }
`;
const CATALOGUE = `models:\n${Array.from({ length: MODELS }, (_model, number) => modelOf(number)).join('')}`;

interface Page {
  readonly data: readonly { readonly id: string }[];
  readonly total_count: number;
}

it('shows every model once, page by page, and reads no model from the database', () =>
  withCatalogueFile(CATALOGUE, async (file) => {
    const app = await createTestApp({
      environment: { CATALOGUE_FILE: file, OPENAI_API_KEY: 'sk-test', RATE_LIMIT_PUBLIC_PER_MINUTE: '0' },
      override: withoutScans,
    });
    try {
      const recording = recordStatements();
      const found: string[] = [];
      let total = Infinity;
      while (found.length < total) {
        const response = await app.http.get(
          `/api/v1/models?output_modalities=embeddings&offset=${found.length}&limit=${PAGE}`,
        );
        expect(response.status).toBe(200);
        const page = response.body as Page;
        expect(page.data.length).toBeGreaterThan(0);
        expect(page.data.length).toBeLessThanOrEqual(PAGE);
        total = page.total_count;
        found.push(...page.data.map(({ id }) => id));
      }
      recording.stop();
      expect(total).toBeGreaterThanOrEqual(MODELS);
      expect(new Set(found).size).toBe(total);
      expect(
        [...recording.statements.keys()].filter((text) => /generations|usage_|activity_/.test(text)),
      ).toEqual([]);
    } finally {
      await app.close();
    }
  }));
