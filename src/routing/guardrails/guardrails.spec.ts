// Endpoints that guardrails leave to a call, and the refusal of a call without one.
import { describe, expect, it } from '@jest/globals';
import {
  createEndpoint,
  createOwnCredential,
  createTarget,
} from '../../../test/support/routing/endpoints.js';
import { NO_RULES } from '../../domain/guardrails/guardrail.js';
import type { GuardrailRules } from '../../domain/guardrails/guardrail.js';
import { inForce } from '../../domain/guardrails/guardrails-in-force.js';
import type { AppliedGuardrail, GuardrailsInForce } from '../../domain/guardrails/guardrails-in-force.js';
import type { OwnCredential } from '../endpoint-target.js';
import { EndpointHealth } from '../endpoints/endpoint-health.js';
import { noAllowedProviders } from '../unreachable-models.js';
import { NO_PREFERENCES } from '../../domain/providers/provider-preferences.js';
import { refusalOf, withGuardrails, withinGuardrails } from './guardrails.js';

const KEEPS = { retainsPrompts: true, trains: false };
const TRAINS = { retainsPrompts: true, trains: true };

const APPLIED = {
  ...NO_RULES,
  scope: 'api_key' as const,
  limit: null,
  limitReset: null,
  includeByokInBudgets: false,
  contentFilters: [],
  builtinFilters: [],
  rejectUnscannable: false,
};

const of = (...rules: readonly Partial<GuardrailRules>[]): GuardrailsInForce =>
  inForce(
    rules.map((one, index): AppliedGuardrail =>
      Object.assign({}, APPLIED, one, { id: `guardrail-${index}`, name: `Rule ${index}` }),
    ),
  )!;
const candidate = (
  endpoint: Parameters<typeof createEndpoint>[0],
  credential: OwnCredential | null = null,
  price: bigint | null = 1n,
) => ({ target: createTarget(createEndpoint(endpoint), credential), health: new EndpointHealth(), price });
const providersOf = (left: readonly ReturnType<typeof candidate>[]): string[] =>
  left.map(({ target }) => target.provider.slug);

describe('endpoints within guardrails', () => {
  it('zero data retention of a vendor leaves the endpoints that keep nothing, and own keys that declare it', () => {
    const guardrails = of({ enforceZdr: { ...NO_RULES.enforceZdr, other: true } });
    const left = withinGuardrails(
      [
        candidate({ provider: 'together' }),
        candidate({ provider: 'openai', dataPolicy: KEEPS }),
        candidate({ provider: 'azure', dataPolicy: KEEPS }, createOwnCredential(0, { declaredZdr: true })),
        candidate({ provider: 'deepinfra' }, createOwnCredential(1, { declaredZdr: false })),
      ],
      guardrails,
    );
    expect(providersOf(left)).toEqual(['together', 'azure']);
  });

  it('zero data retention of another vendor leaves all endpoints', () => {
    const guardrails = of({ enforceZdr: { ...NO_RULES.enforceZdr, openai: true } });
    expect(withinGuardrails([candidate({ dataPolicy: KEEPS })], guardrails)).toHaveLength(1);
  });

  it('training is judged by the price of the endpoint', () => {
    const all = [
      candidate({ provider: 'openai', dataPolicy: TRAINS }),
      candidate({ provider: 'together', dataPolicy: TRAINS }, null, 0n),
      candidate({ provider: 'azure', dataPolicy: KEEPS }),
    ];
    const paid = withinGuardrails(all, of({ enablePaidModelTraining: false }));
    const free = withinGuardrails(all, of({ enableFreeModelTraining: false }));
    expect([providersOf(paid), providersOf(free)]).toEqual([
      ['together', 'azure'],
      ['openai', 'azure'],
    ]);
  });

  it('a caller without guardrails has the same list', () => {
    const all = [candidate({})];
    expect(withinGuardrails(all, null)).toBe(all);
  });
});

describe('a refusal', () => {
  it('a refusal names the guardrails that have excluded something, and no other', () => {
    const guardrails = of({ ignoredProviders: ['openai'] }, { ignoredProviders: ['azure'] });
    const all = [candidate({ provider: 'openai' })];
    const error = withGuardrails(noAllowedProviders([], NO_PREFERENCES), guardrails, all);
    expect(error).toMatchObject({
      status: 404,
      code: 'guardrail_excluded',
      message: 'No allowed providers are available for the selected model.: excluded by guardrail Rule 0',
      metadata: {
        available_providers: [],
        requested_providers: [],
        guardrails: [{ id: 'guardrail-0', name: 'Rule 0', scope: 'api_key' }],
      },
    });
  });

  it('a refusal stays that of the preferences where guardrails exclude nothing', () => {
    const error = noAllowedProviders([], NO_PREFERENCES);
    const all = [candidate({ provider: 'openai' })];
    expect(withGuardrails(error, of({ ignoredProviders: ['azure'] }), all)).toBe(error);
    expect(withGuardrails(error, null, all)).toBe(error);
  });

  it('a model is refused where its id is not permitted, with the guardrail that excludes it', () => {
    const guardrails = of({}, { allowedModels: ['vendor/a'] });
    expect(refusalOf(guardrails, { id: 'vendor/a' })).toBeNull();
    expect(refusalOf(guardrails, { id: 'vendor/b' })?.metadata['guardrails']).toEqual([
      { id: 'guardrail-1', name: 'Rule 1', scope: 'api_key' },
    ]);
  });
});
