import { describe, expect, it } from '@jest/globals';
import * as fc from '../../../test/support/fast-check.js';
import {
  createCandidate,
  createOpenDestination,
} from '../../../test/support/generations/generation-candidate.js';
import { compileSelection, isSampled, needsContent } from './destination-selection.js';
import { REGIONS } from './destination.js';
import type { Destination } from './destination.js';
import { FILTER_FIELDS } from './filter-rules.js';
import type { FilterField, FilterRule, FilterRules } from './filter-rules.js';
import type { GenerationCandidate } from '../generations/generation-candidate.js';
import { contentOf } from '../generations/generation-content.js';

const selects = (rules: Partial<Destination>, candidate: GenerationCandidate): boolean =>
  compileSelection(createOpenDestination(rules)).selects(candidate);
const onlyIf = (...rules: FilterRule[]): FilterRules => ({
  enabled: true,
  groups: [{ logic: 'and', rules }],
});

describe('the API keys of a destination', () => {
  const hashes = fc.constantFrom(...['a', 'b', 'c', 'd'].map((digit) => digit.repeat(64)));

  it('limit it to their generations', () => {
    fc.assert(
      fc.property(fc.array(hashes, { minLength: 1 }), hashes, (apiKeyHashes, hash) => {
        expect(selects({ apiKeyHashes }, createCandidate({ key: { hash } }))).toBe(
          apiKeyHashes.includes(hash),
        );
      }),
    );
  });

  it('are all keys when none is listed', () => {
    for (const apiKeyHashes of [null, []]) expect(selects({ apiKeyHashes }, createCandidate())).toBe(true);
  });
});

describe('the regions of a destination', () => {
  it('limit it to their generations', () => {
    fc.assert(
      fc.property(fc.subarray([...REGIONS]), fc.constantFrom(...REGIONS), (regions, region) => {
        expect(selects({ regions }, createCandidate({ generation: { region } }))).toBe(
          regions.includes(region),
        );
      }),
    );
  });

  it('do not stand in for each other', () => {
    expect(selects({ regions: ['global'] }, createCandidate({ generation: { region: 'europe' } }))).toBe(
      false,
    );
    expect(selects({ regions: ['europe'] }, createCandidate({ generation: { region: 'global' } }))).toBe(
      false,
    );
  });
});

describe('the fields of filter rules', () => {
  const full = createCandidate({
    generation: {
      model: 'vendor/model',
      provider: 'azure',
      sessionId: 'session-9',
      userId: 'customer-7',
      cost: 180_000n,
      totalTokens: 12,
      promptTokens: 9,
    },
    key: { name: 'Search service' },
    content: contentOf({ form: 'texts', items: ['one', 'two'] }, null),
  });
  const bare = createCandidate({
    generation: {
      model: 'vendor/model',
      provider: null,
      sessionId: null,
      userId: null,
      cost: null,
      totalTokens: 0,
      promptTokens: 0,
    },
    key: { name: '' },
    content: contentOf({ form: 'tokens', items: [[1]] }, null),
  });
  /** The text of each field in the two generations; null: missing. */
  const TEXTS: Readonly<Record<FilterField, readonly [inFull: string | null, inBare: string | null]>> = {
    model: ['vendor/model', 'vendor/model'],
    provider: ['azure', null],
    session_id: ['session-9', null],
    user_id: ['customer-7', null],
    api_key_name: ['Search service', ''],
    finish_reason: [null, null],
    input: ['one\ntwo', null],
    output: [null, null],
    total_cost: ['0.00000018', null],
    total_tokens: ['12', '0'],
    prompt_tokens: ['9', '0'],
    completion_tokens: ['0', '0'],
  };

  const passes = (rule: FilterRule, candidate: GenerationCandidate): boolean =>
    selects({ filterRules: onlyIf(rule) }, candidate);

  it.each(FILTER_FIELDS)('%s has its text, or is missing', (field) => {
    for (const [candidate, text] of [
      [full, TEXTS[field][0]],
      [bare, TEXTS[field][1]],
    ] as const) {
      // A missing field equals nothing, not even an empty text, and contains no text.
      expect(passes({ field, operator: 'equals', value: text ?? '' }, candidate)).toBe(text !== null);
      expect(passes({ field, operator: 'contains', value: '' }, candidate)).toBe(text !== null);
      expect(passes({ field, operator: 'exists' }, candidate)).toBe(text !== null && text !== '');
      expect(passes({ field, operator: 'not_equals', value: 'another text' }, candidate)).toBe(true);
    }
  });

  it('compare amounts exactly, and counts by value', () => {
    expect(passes({ field: 'total_cost', operator: 'gte', value: 0.00000018 }, full)).toBe(true);
    expect(passes({ field: 'total_cost', operator: 'gt', value: '0.00000018' }, full)).toBe(false);
    expect(passes({ field: 'total_cost', operator: 'lt', value: 1 }, bare)).toBe(false);
    expect(passes({ field: 'prompt_tokens', operator: 'lt', value: 10 }, full)).toBe(true);
    expect(passes({ field: 'completion_tokens', operator: 'gt', value: 0 }, full)).toBe(false);
  });

  it('have no text for token ids, and only the text parts of other inputs', () => {
    const tokens = createCandidate({ content: contentOf({ form: 'tokens', items: [[1, 2], [3]] }, null) });
    expect(passes({ field: 'input', operator: 'exists' }, tokens)).toBe(false);
    expect(passes({ field: 'input', operator: 'contains', value: '1' }, tokens)).toBe(false);
    const items = [{ content: [{ type: 'image_url', image_url: { url: 'data:,x' } }] }];
    const image = createCandidate({ content: contentOf({ form: 'multimodal', items }, null) });
    expect(passes({ field: 'input', operator: 'equals', value: '' }, image)).toBe(true);
    expect(passes({ field: 'input', operator: 'exists' }, image)).toBe(false);
  });

  it('match no rule on the input when it is not stored', () => {
    const candidate = createCandidate({ content: null });
    for (const operator of ['equals', 'not_equals', 'contains', 'not_contains', 'not_exists'] as const)
      expect(passes({ field: 'input', operator, value: 'secret' }, candidate)).toBe(false);
  });

  it('never contain an error text', () => {
    const failed = createCandidate({ content: contentOf({ form: 'texts', items: ['one'] }, 'said two') });
    expect(passes({ field: 'input', operator: 'contains', value: 'two' }, failed)).toBe(false);
  });
});

describe('a destination', () => {
  it('receives generations that pass its regions, keys, sample and filter', () => {
    const rules = fc.record({
      id: fc.uuid(),
      regions: fc.subarray([...REGIONS], { minLength: 1 }),
      apiKeyHashes: fc.constantFrom(null, ['a'.repeat(64)], ['b'.repeat(64)]),
      samplingRate: fc.constantFrom(0.3, 0.7, 1),
      filterRules: fc.constantFrom(
        null,
        onlyIf({ field: 'user_id', operator: 'equals', value: 'customer-7' }),
      ),
    });
    const candidates = fc
      .record({
        id: fc.uuid(),
        region: fc.constantFrom(...REGIONS),
        userId: fc.constantFrom(null, 'customer-7', 'customer-8'),
      })
      .map((generation) => createCandidate({ generation }));
    let selected = 0;
    let runs = 0;
    fc.assert(
      fc.property(rules, candidates, (overrides, candidate) => {
        runs += 1;
        const destination = createOpenDestination(overrides);
        const passesAlone = (rule: Partial<Destination>): boolean =>
          selects({ regions: REGIONS, ...rule }, candidate);
        const expected =
          passesAlone({ regions: overrides.regions }) &&
          passesAlone({ apiKeyHashes: overrides.apiKeyHashes }) &&
          isSampled(destination, candidate.generation) &&
          passesAlone({ filterRules: overrides.filterRules });
        expect(compileSelection(destination).selects(candidate)).toBe(expected);
        selected += Number(expected);
      }),
      { numRuns: 1_000, seed: 1 },
    );
    expect(selected).toBeGreaterThan(runs / 20);
    expect(selected).toBeLessThan((runs * 19) / 20);
  });
});

describe('the stored content', () => {
  const onInput = onlyIf({ field: 'input', operator: 'exists' });

  it.each<[boolean, FilterRules | null, boolean]>([
    [false, null, true],
    [false, onInput, true],
    [true, null, false],
    [true, onlyIf({ field: 'finish_reason', operator: 'exists' }), false],
    [true, onlyIf({ field: 'output', operator: 'exists' }), true],
    [true, onInput, true],
    [true, { ...onInput, enabled: false }, false],
  ])('with privacy mode %p and the filter %j is needed: %p', (privacyMode, filterRules, expected) => {
    expect(needsContent({ privacyMode, filterRules })).toBe(expected);
  });
});
