// The endpoints that may serve a chat call, and their order.
import { describe, expect, it } from '@jest/globals';
import { pricedEndpoint } from '../../../test/support/chat/charges.js';
import { chatMessage, chatRequest } from '../../../test/support/requests/chat-request.js';
import { TestClock } from '../../../test/support/app/clock.js';
import type { ChatEndpoint } from '../../domain/chat/chat-model.js';
import type { ChatRequest } from '../../domain/chat/chat-request.js';
import { NO_PREFERENCES } from '../../domain/providers/provider-preferences.js';
import type { ProviderPreferences } from '../../domain/providers/provider-preferences.js';
import type { ApiKey } from '../../domain/keys/api-key.js';
import type { CredentialAccess } from '../credentials/credential-access.js';
import type { EndpointCaller } from '../endpoints/endpoint-caller.js';
import { EndpointHealth } from '../endpoints/endpoint-health.js';
import type { EndpointHealthRegistry } from '../endpoints/endpoint-health-registry.js';
import type { ProviderNames } from '../provider-names.js';
import { ChatPlanner } from './chat-planner.js';
import type { MovingAliases } from './moving-aliases.js';
import type { UnlistedModels } from './unlisted-models.js';
import { ReasoningOrigins } from './reasoning-origins.js';
import { StickyRoutes } from './sticky-routes.js';

type Models = Readonly<Record<string, readonly ChatEndpoint[]>>;

interface Options {
  readonly request?: Partial<Omit<ChatRequest, 'members'>>;
  readonly preferences?: Partial<ProviderPreferences>;
  readonly isLimited?: boolean;
}

const HARD = { at: 'tools', rule: 'are not supported', isHard: true };

/** Providers whose name begins with `plain` take no tools. Returns the providers of the route. */
async function plan(models: Models, { request = {}, preferences = {}, isLimited = false }: Options = {}) {
  const access: Partial<CredentialAccess> = {
    credentialsOf: () => Promise.resolve(null),
    candidates: ((
      model: object,
      endpoints: readonly ChatEndpoint[],
      _key: unknown,
      _own: unknown,
      priceOf: (of: ChatEndpoint) => bigint | null,
    ) =>
      endpoints.map((endpoint) => ({
        target: {
          model,
          endpoint,
          provider: {
            slug: endpoint.provider,
            name: endpoint.provider,
            chat: {
              problems: ({ tools }: ChatRequest) =>
                tools.length > 0 && endpoint.provider.startsWith('plain') ? [HARD] : [],
            },
          },
          credential: null,
        },
        health: new EndpointHealth(),
        price: priceOf(endpoint),
      }))) as unknown as CredentialAccess['candidates'],
  };
  const find = (name: string) => models[name] && { model: { id: name, endpoints: models[name] }, sort: null };
  const planner = new ChatPlanner(
    { find } as unknown as MovingAliases,
    {} as UnlistedModels,
    { resolve: (sent) => sent } as Partial<ProviderNames> as ProviderNames,
    {} as EndpointCaller,
    { random: () => 0 } as unknown as EndpointHealthRegistry,
    access as CredentialAccess,
    new TestClock(),
    new StickyRoutes(),
    new ReasoningOrigins(),
  );
  const { targets } = await planner.plan({
    caller: { key: { accountId: 'account', workspaceId: 'workspace' } as ApiKey, guardrails: null },
    request: chatRequest([chatMessage('user', 'hi')], { models: Object.keys(models), ...request }),
    sessionId: null,
    preferences: { ...NO_PREFERENCES, ...preferences },
    limits: { isLimited, includesByok: false },
  });
  return targets.map(({ endpoint }) => endpoint.provider);
}

const endpoint = (provider: string, more: Partial<ChatEndpoint> = {}) =>
  pricedEndpoint({ provider, ...more });
const TOOLS = [{}] as unknown as ChatRequest['tools'];

describe('the route of a chat call', () => {
  it('has the endpoints of the first model before those of the next', async () => {
    const models = { 'a/one': [endpoint('one')], 'a/two': [endpoint('two')] };
    expect(await plan(models)).toEqual(['one', 'two']);
  });

  it('leaves out endpoints that cannot honour a hard member, and models without another', async () => {
    const models = { 'a/one': [endpoint('plain')], 'a/two': [endpoint('plain-two'), endpoint('able')] };
    expect(await plan(models, { request: { tools: TOOLS } })).toEqual(['able']);
  });

  it('is refused with the member that no endpoint honours', async () => {
    const planning = plan({ 'a/one': [endpoint('plain')] }, { request: { tools: TOOLS } });
    await expect(planning).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining('tools'),
    });
  });

  it('leaves out endpoints without a price where a limit is in force', async () => {
    const models = { 'a/one': [endpoint('unpriced', { prices: [] }), endpoint('priced')] };
    expect(await plan(models, { isLimited: true })).toEqual(['priced']);
    expect((await plan(models)).toSorted()).toEqual(['priced', 'unpriced']);
    const unpriced = { 'a/one': [endpoint('unpriced', { prices: [] })] };
    await expect(plan(unpriced, { isLimited: true })).rejects.toMatchObject({ code: 'not_found' });
  });

  it('begins with endpoints that can give the output that the caller asks for', async () => {
    const models = { 'a/one': [endpoint('openai', { maxOutputTokens: 100 }), endpoint('mistral')] };
    const preferences = { order: ['openai', 'mistral'] };
    expect(await plan(models, { preferences })).toEqual(['openai', 'mistral']);
    expect(await plan(models, { preferences, request: { maxOutputTokens: 1_000 } })).toEqual([
      'mistral',
      'openai',
    ]);
  });

  it('has one endpoint without fallbacks', async () => {
    const models = { 'a/one': [endpoint('one'), endpoint('two')] };
    expect(await plan(models, { preferences: { allowFallbacks: false } })).toHaveLength(1);
  });
});
