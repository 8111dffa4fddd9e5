// Guardrails together permit what each of them permits.
import { describe, expect, it } from '@jest/globals';
import * as fc from '../../../test/support/fast-check.js';
import { DATA_REGIONS } from './guardrail.js';
import { inForce, intersect, permitsEndpoint, permitsModel, permitsRegion } from './guardrails-in-force.js';
import type { AppliedGuardrail } from './guardrails-in-force.js';
import { NO_RULES } from './guardrail.js';

const MODELS = ['openai/a', 'anthropic/b', 'x-ai/c', 'vendor/d'];
const TAGS = ['openai', 'bedrock', 'bedrock/eu', 'bedrock/us', 'Bedrock/EU'];
const listOf = (names: readonly string[]) => fc.option(fc.subarray([...names]));
const flag = fc.option(fc.boolean());

const guardrail: fc.Arbitrary<AppliedGuardrail> = fc.record({
  id: fc.uuid(),
  name: fc.constant('Any'),
  scope: fc.constantFrom('workspace' as const, 'member' as const, 'api_key' as const),
  allowedModels: listOf(MODELS),
  ignoredModels: listOf(MODELS),
  allowedProviders: listOf(TAGS),
  ignoredProviders: listOf(TAGS),
  enforceZdr: fc.record({ anthropic: flag, openai: flag, google: flag, xai: flag, other: flag }),
  enablePaidModelTraining: flag,
  enableFreeModelTraining: flag,
  allowedDataRegions: fc.option(fc.subarray([...DATA_REGIONS])),
  limit: fc.constant(null),
  limitReset: fc.constant(null),
  includeByokInBudgets: fc.boolean(),
  contentFilters: fc.constant([]),
  builtinFilters: fc.constant([]),
  rejectUnscannable: fc.boolean(),
});
const endpoint = fc.record({
  modelId: fc.constantFrom(...MODELS),
  tag: fc.constantFrom(...TAGS, 'openai-other'),
  trains: fc.boolean(),
  keepsNothing: fc.boolean(),
  isFree: flag,
});

describe('guardrails in force', () => {
  it('any three guardrails permit together what each of them permits', () => {
    fc.assert(
      fc.property(
        fc.array(guardrail, { minLength: 1, maxLength: 3 }),
        endpoint,
        fc.constantFrom(...MODELS),
        (guardrails, target, id) => {
          const { rules } = inForce(guardrails)!;
          expect(permitsModel(rules, { id })).toBe(guardrails.every((one) => permitsModel(one, { id })));
          expect(permitsEndpoint(rules, target)).toBe(
            guardrails.every((one) => permitsEndpoint(one, target)),
          );
          expect(permitsRegion(rules)).toBe(guardrails.every((one) => permitsRegion(one)));
        },
      ),
    );
  });

  it('no guardrail is in force where none applies', () => {
    expect(inForce([])).toBeNull();
  });

  it('lists without a common name permit nothing', () => {
    const rules = intersect(
      { ...NO_RULES, allowedModels: ['vendor/a'] },
      { ...NO_RULES, allowedModels: ['vendor/b'] },
    );
    expect(rules.allowedModels).toEqual([]);
    expect(permitsModel(rules, { id: 'vendor/a' })).toBe(false);
  });

  it('an ignored model is not permitted, whatever list allows it', () => {
    const rules = { ...NO_RULES, allowedModels: ['vendor/a-2026'], ignoredModels: ['vendor/a-2025'] };
    const model = { id: 'vendor/a', canonicalSlug: 'vendor/a-2026' };
    expect(permitsModel(rules, model)).toBe(true);
    expect(permitsModel(rules, { ...model, aliases: ['vendor/a-2025'] })).toBe(false);
  });

  it('a provider that is allowed by its slug keeps the endpoint that another guardrail allows by its tag', () => {
    const rules = intersect(
      { ...NO_RULES, allowedProviders: ['bedrock'] },
      { ...NO_RULES, allowedProviders: ['bedrock/eu', 'openai'] },
    );
    expect(rules.allowedProviders).toEqual(['bedrock/eu']);
  });

  it('an endpoint of an unknown price that trains is left out by the rule for either price', () => {
    const target = { modelId: 'vendor/a', tag: 'openai', trains: true, keepsNothing: false, isFree: null };
    for (const rule of [{ enablePaidModelTraining: false }, { enableFreeModelTraining: false }])
      expect(permitsEndpoint({ ...NO_RULES, ...rule }, target)).toBe(false);
  });
});
