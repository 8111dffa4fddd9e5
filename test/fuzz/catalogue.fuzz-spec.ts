// The reader of the operator's catalogue file, with valid, corrupted and foreign files: it returns consistent models,
// or throws CatalogueError with one line, quickly.
import { readFileSync } from 'node:fs';
import { afterAll, expect, it } from '@jest/globals';
import * as fc from '../support/fast-check.js';
import { CatalogueError } from '../../src/catalogue/reader/cursor.js';
import { readLayer } from '../../src/catalogue/reader/layer.js';
import type { CatalogueContents } from '../../src/catalogue/reader/kinds.js';
import { parseYaml } from '../../src/catalogue/reader/yaml.js';
import { RULES, shippedCatalogue } from '../../src/routing/catalogue-source.js';
import { reportCounts, share, TEST_TIMEOUT, tryOut } from '../support/fuzz/budget.js';
import { hostileText, hostileValue, corrupted } from '../support/fuzz/hostile-values.js';
import { inHouseCatalogue } from '../support/routing/every-provider.js';

const read = (text: string): CatalogueContents =>
  readLayer([parseYaml(text, 'catalogue.yaml')], shippedCatalogue(), RULES);
const EXAMPLE = readFileSync(new URL('../../docs/catalogue.example.yaml', import.meta.url), 'utf8');
// Milliseconds of the processor. A start waits for it.
const LONGEST = 5_000;
const counts = { files: 0, read: 0, rejected: 0 };
afterAll(() => reportCounts('catalogue files', counts));

const PIECES = [
  '&a [*a, *a]',
  '*unknown',
  '!!js/function "function(){}"',
  '!!binary x',
  '<<: {models: []}',
  '? {a: b} : c',
  '---',
  '...',
  '\t',
  '- - - -',
  '|',
  '>-',
  '{',
  ']',
  '%YAML 9.9',
  '__proto__: {a: 1}',
  '.nan',
  '.inf',
  '0o17',
  '1_000',
  '2026-02-30',
  'yes',
];
// Ten levels of ten: ten thousand million if they were copied.
const LAUGHS = [
  'l0: &l0 [x, x]',
  ...Array.from({ length: 10 }, (_one, at) => `l${at + 1}: &l${at + 1} [${`*l${at}, `.repeat(10)}]`),
  'models: *l10',
].join('\n');

const damagedExample = fc
  .array(
    fc.record({
      at: fc.nat(EXAMPLE.length),
      length: fc.nat(30),
      by: fc.oneof(fc.constantFrom(...PIECES), hostileText),
    }),
    { minLength: 1, maxLength: 4 },
  )
  .map((damages) =>
    damages.reduce((text, { at, length, by }) => text.slice(0, at) + by + text.slice(at + length), EXAMPLE),
  );
const asText = (values: fc.Arbitrary<unknown>) => values.map((value) => JSON.stringify(value) ?? '');
const files = fc.oneof(
  { weight: 5, arbitrary: damagedExample },
  { weight: 5, arbitrary: asText(corrupted(fc.constant(JSON.parse(inHouseCatalogue())))) },
  { weight: 1, arbitrary: asText(hostileValue) },
  { weight: 1, arbitrary: hostileText },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      LAUGHS,
      '['.repeat(3_000),
      'a: '.repeat(3_000),
      `models:\n${'  - {}\n'.repeat(5_000)}`,
    ),
  },
);

it('reads the example and the catalogue of the tests', () => {
  for (const text of [EXAMPLE, inHouseCatalogue()])
    expect(read(text).models.length).toBeGreaterThan(shippedCatalogue().models.length);
});

it(
  'reads a catalogue file, or rejects it with one line',
  async () => {
    await tryOut(
      'a catalogue file',
      share(0.1),
      fc.property(files, (text) => {
        counts.files++;
        const before = process.cpuUsage();
        try {
          const { models } = read(text);
          counts.read++;
          expect(new Set(models.map(({ id }) => id)).size).toBe(models.length);
          for (const { nativeDimensions, endpoints } of models) {
            expect(Number.isInteger(nativeDimensions) && nativeDimensions > 0).toBe(true);
            expect(endpoints.every(({ provider }) => RULES.providers.includes(provider))).toBe(true);
          }
        } catch (error) {
          if (!(error instanceof CatalogueError)) throw error;
          counts.rejected++;
          expect(error.message).toMatch(/^catalogue\.yaml:\d+: ?.*$/);
          expect(error.message).not.toMatch(/[\r\n]/);
        }
        expect(process.cpuUsage(before).user / 1_000).toBeLessThan(LONGEST);
      }),
    );
  },
  TEST_TIMEOUT,
);
