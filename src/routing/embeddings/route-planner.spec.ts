// A route never leaves the requested model, and never uses own keys of others.
import { describe, expect, it } from '@jest/globals';
import * as fc from '../../../test/support/fast-check.js';
import { createEndpoint, createModel } from '../../../test/support/routing/endpoints.js';
import { Catalogue, ChatCatalogue, RerankCatalogue } from '../../catalogue/catalogue.js';
import { YieldQueue } from '../../concurrency/yield-queue.js';
import type { AppConfig } from '../../config/app-config.js';
import type { ApiKey } from '../../domain/keys/api-key.js';
import type { Clock } from '../../domain/clock.js';
import type { EmbeddingRequest } from '../../domain/embeddings/embedding.js';
import { NO_PREFERENCES } from '../../domain/providers/provider-preferences.js';
import type { ProviderPreferences } from '../../domain/providers/provider-preferences.js';
import type { ProviderCredential } from '../../domain/providers/provider-credential.js';
import { HttpClient } from '../../outbound/http-client.js';
import { EndpointCaller } from '../endpoints/endpoint-caller.js';
import { EndpointHealthRegistry } from '../endpoints/endpoint-health-registry.js';
import { CredentialAccess } from '../credentials/credential-access.js';
import type { OwnCredentialsCache } from '../credentials/credential-access.js';
import type { UnlistedModels } from '../chat/unlisted-models.js';
import { ProviderNames } from '../provider-names.js';
import { RoutePlanner } from './route-planner.js';

const WORKSPACE = 'workspace-1';
const CLOCK: Clock = { now: () => new Date('2026-11-18T12:00:00.000Z') };
const HTTP = new HttpClient();
const KEY = { workspaceId: WORKSPACE, hash: 'ab', creatorUserId: 'user-1' } as ApiKey;
const CALLER = { key: KEY, guardrails: null };
const PROVIDERS = ['openai', 'deepinfra', 'together', 'azure', 'local', 'unknown'];
const MODELS = ['vendor/one', 'vendor/two'];
const REQUEST: EmbeddingRequest = {
  model: 'vendor/one',
  input: { form: 'texts', items: ['a'] },
  encodingFormat: 'float',
  extra: {},
};

const models = fc
  .array(
    fc
      .subarray(PROVIDERS, { minLength: 1 })
      .map((names) => names.map((provider) => createEndpoint({ provider }))),
    { minLength: 2, maxLength: 2 },
  )
  .map((lists) => lists.map((endpoints, index) => createModel(endpoints, MODELS[index])));
const credentials: fc.Arbitrary<readonly ProviderCredential[]> = fc.array(
  fc.record({
    id: fc.uuid(),
    accountId: fc.constant('account-1'),
    workspaceId: fc.constantFrom(WORKSPACE, 'workspace-2'),
    provider: fc.constantFrom(...PROVIDERS),
    name: fc.constant(null),
    label: fc.constant('****'),
    apiKey: fc.constantFrom('secret', null),
    disabled: fc.boolean(),
    isFallback: fc.boolean(),
    isRequired: fc.boolean(),
    isByokOnly: fc.boolean(),
    sortOrder: fc.nat(3),
    allowedModels: fc.subarray(MODELS),
    allowedApiKeyHashes: fc.subarray(['ab', 'cd']),
    allowedUserIds: fc.subarray(['user-1', 'user-2']),
    declaredZdr: fc.constant(null),
    createdAt: fc.constant(new Date(0)),
    updatedAt: fc.constant(null),
  }),
  { maxLength: 6 },
);

function createPlanner(
  catalogue: Catalogue,
  stored: readonly ProviderCredential[],
  shared: readonly string[],
): RoutePlanner {
  const providers = new Map(shared.map((slug) => [slug, { apiKey: 'operator', baseUrl: 'http://upstream' }]));
  const caller = new EndpointCaller(
    HTTP,
    { providers } as Pick<AppConfig, 'providers'> as AppConfig,
    CLOCK,
    new YieldQueue(),
  );
  const cache: Partial<OwnCredentialsCache> = { find: () => Promise.resolve(stored) };
  const health = new EndpointHealthRegistry();
  const access = new CredentialAccess(caller, health, cache as OwnCredentialsCache);
  const names = new ProviderNames(catalogue, new ChatCatalogue([]), new RerankCatalogue([]));
  return new RoutePlanner(catalogue, {} as UnlistedModels, names, caller, health, access, CLOCK);
}

describe('plan', () => {
  it('contains endpoints of the requested model only, with credentials that may serve the call', async () => {
    await fc.assert(
      fc.asyncProperty(models, credentials, fc.subarray(PROVIDERS), async (known, stored, shared) => {
        const planner = createPlanner(new Catalogue(known), stored, shared);
        const route = await planner.plan(CALLER, REQUEST, NO_PREFERENCES).catch(() => null);
        const may = ({
          allowedModels,
          allowedApiKeyHashes,
          allowedUserIds,
          ...credential
        }: ProviderCredential) =>
          !credential.disabled &&
          credential.workspaceId === WORKSPACE &&
          (allowedModels.length === 0 || allowedModels.includes('vendor/one')) &&
          (allowedApiKeyHashes.length === 0 || allowedApiKeyHashes.includes('ab')) &&
          (allowedUserIds.length === 0 || allowedUserIds.includes('user-1'));
        for (const { model, endpoint, provider, credential } of route?.targets ?? []) {
          expect(model.id).toBe('vendor/one');
          expect(known[0]?.endpoints).toContain(endpoint);
          expect(provider.slug).toBe(endpoint.provider);
          const ofProvider = stored.filter((own) => own.provider === provider.slug && may(own));
          if (credential === null) {
            expect(ofProvider.some((own) => own.isRequired || own.isByokOnly)).toBe(false);
          } else {
            expect(ofProvider.find(({ id }) => id === credential.id)?.apiKey).toBe('secret');
          }
        }
      }),
    );
  });

  it('rejects the call instead of changing the model when no endpoint is left', async () => {
    const known = [
      createModel([createEndpoint({ provider: 'openai' })], 'vendor/one'),
      createModel([createEndpoint({ provider: 'local' })], 'vendor/two'),
    ];
    const planner = createPlanner(new Catalogue(known), [], []);
    await expect(planner.plan(CALLER, REQUEST, NO_PREFERENCES)).rejects.toMatchObject({
      code: 'not_found',
      message: expect.stringContaining(
        'no provider of vendor/one is configured; the operator can set OPENAI_API_KEY',
      ),
    });
  });
});

describe('a variant of the model', () => {
  const priced = (provider: string, perToken: bigint) =>
    createEndpoint({ provider, prices: [{ effectiveFrom: '2026-01-01', perToken, source: 'test' }] });
  const known = createModel([priced('openai', 2n), priced('together', 1n)], 'vendor/one');
  const planner = createPlanner(new Catalogue([known]), [], ['openai', 'together']);
  const planFor = async (model: string, sort: ProviderPreferences['sort'] = null): Promise<string[]> => {
    const { targets } = await planner.plan(CALLER, { ...REQUEST, model }, { ...NO_PREFERENCES, sort });
    return targets.map(({ provider }) => provider.slug);
  };

  it.each([
    ['vendor/one:floor', null, ['together', 'openai']],
    ['one:floor', null, ['together', 'openai']],
    ['vendor/one:exacto', null, ['openai', 'together']],
    // The body wins over the name.
    ['vendor/one:floor', 'exacto', ['openai', 'together']],
    ['vendor/one:exacto', 'price', ['together', 'openai']],
  ] as const)('%s with the sort %s tries %j', async (model, sort, expected) => {
    expect(await planFor(model, sort)).toEqual(expected);
  });
});

describe('require_parameters', () => {
  const known = {
    ...createModel([
      createEndpoint({ provider: 'openai' }),
      createEndpoint({ provider: 'together', inputTypes: ['search_query'], takesDimensions: false }),
    ]),
    id: 'vendor/one',
    otherDimensions: [2],
  };
  const planner = createPlanner(new Catalogue([known]), [], ['openai', 'together']);
  const planFor = async (request: Partial<EmbeddingRequest>, requireParameters = true): Promise<string[]> => {
    const preferences = { ...NO_PREFERENCES, requireParameters };
    const { targets } = await planner.plan(CALLER, { ...REQUEST, ...request }, preferences);
    return targets.map(({ provider }) => provider.slug).toSorted();
  };

  it.each([
    ['nothing special', {}, ['openai', 'together']],
    ['a width', { dimensions: 2 }, ['openai']],
    ['the native width', { dimensions: 4 }, ['openai', 'together']],
    ['an input type', { inputType: 'search_query' }, ['together']],
    ["an input type in an upstream's own words", { inputType: 'query' }, ['together']],
  ])('keeps endpoints that support %s themselves', async (_name, request, expected) => {
    expect(await planFor(request)).toEqual(expected);
    expect(await planFor(request, false)).toEqual(['openai', 'together']);
  });

  it.each([{ inputType: 'clustering' }, { inputType: 'search_query', dimensions: 2 }])(
    'keeps none for %j',
    async (request) => {
      await expect(planFor(request)).rejects.toMatchObject({ code: 'no_allowed_providers' });
    },
  );
});

describe('require_parameters with members that are unknown here', () => {
  const open = { input: { form: 'texts', items: ['a'] }, extra: { priority: 1 } } as const;
  const known = createModel(
    [
      createEndpoint({ provider: 'vllm', upstreamModel: 'closed' }),
      createEndpoint({
        provider: 'vllm',
        tag: 'vllm/open',
        upstreamModel: 'open',
        allowedMembers: ['priority'],
      }),
      createEndpoint({ provider: 'openai' }),
    ],
    'vendor/one',
  );
  const planner = createPlanner(new Catalogue([known]), [], ['openai', 'vllm']);

  it('leaves out endpoints that would not get one', async () => {
    const planFor = async (requireParameters: boolean) => {
      const preferences = { ...NO_PREFERENCES, requireParameters };
      const { targets } = await planner.plan(CALLER, { ...REQUEST, ...open }, preferences);
      return targets.map(({ endpoint }) => endpoint.upstreamModel).toSorted();
    };
    expect(await planFor(true)).toEqual(['open', 'some-model']);
    expect(await planFor(false)).toEqual(['closed', 'open', 'some-model']);
  });
});

describe('a width above the native one', () => {
  const known = {
    ...createModel([
      createEndpoint({ provider: 'openai' }),
      createEndpoint({ provider: 'together', takesDimensions: false }),
    ]),
    id: 'vendor/one',
    otherDimensions: [2, 8],
  };
  const planFor = (dimensions: number, shared: readonly string[]) =>
    createPlanner(new Catalogue([known]), [], shared).plan(
      CALLER,
      { ...REQUEST, dimensions },
      NO_PREFERENCES,
    );

  it.each([
    [8, ['openai']],
    [2, ['openai', 'together']],
    [4, ['openai', 'together']],
  ])('of %d is planned at endpoints that provide it', async (dimensions, expected) => {
    const { targets } = await planFor(dimensions, ['openai', 'together']);
    expect(targets.map(({ provider }) => provider.slug).toSorted()).toEqual(expected);
  });

  it('is rejected when no endpoint provides it', async () => {
    await expect(planFor(8, ['together'])).rejects.toMatchObject({
      code: 'not_found',
      message: expect.stringContaining('no provider of vendor/one is configured that gives vectors of 8'),
    });
  });
});

describe('the vectors of a call', () => {
  const planFor = (native: number, count: number) => {
    const known = createModel([createEndpoint({ maxInputsPerCall: 10 })], 'vendor/one');
    const planner = createPlanner(new Catalogue([{ ...known, nativeDimensions: native }]), [], ['openai']);
    const items = Array.from({ length: count }, () => 'a');
    return planner.plan(CALLER, { ...REQUEST, input: { form: 'texts', items } }, NO_PREFERENCES);
  };

  it.each([
    [4096, 4032],
    [1536, 10_485],
    [8, 233_016],
    [1_000_000, 16],
    [100_000_000, 1],
  ])('with %d numbers each are limited to %d, however the call is split', async (native, most) => {
    expect((await planFor(native, most)).targets).toHaveLength(1);
    await expect(planFor(native, most + 1)).rejects.toMatchObject({ code: 'invalid_request' });
  });
});

describe('a credential that cannot be read', () => {
  const known = { ...createModel([createEndpoint({ provider: 'openai' })]), id: 'vendor/one' };
  const stored = (options: Partial<ProviderCredential>): ProviderCredential => ({
    id: 'credential-1',
    accountId: 'account-1',
    workspaceId: WORKSPACE,
    provider: 'openai',
    name: null,
    label: '****',
    apiKey: null,
    disabled: false,
    isFallback: false,
    isRequired: false,
    isByokOnly: false,
    sortOrder: 0,
    allowedModels: [],
    allowedApiKeyHashes: [],
    allowedUserIds: [],
    declaredZdr: null,
    createdAt: new Date(0),
    updatedAt: null,
    ...options,
  });
  const plan = (credential: ProviderCredential) =>
    createPlanner(new Catalogue([known]), [credential], ['openai']).plan(CALLER, REQUEST, NO_PREFERENCES);

  it('is not used', async () => {
    expect((await plan(stored({}))).targets.map(({ credential }) => credential)).toEqual([null]);
  });

  it.each([{ isRequired: true }, { isByokOnly: true }])(
    'does not enable endpoints that it excludes: %j',
    async (options) => {
      await expect(plan(stored(options))).rejects.toMatchObject({ code: 'no_allowed_providers' });
    },
  );
});
