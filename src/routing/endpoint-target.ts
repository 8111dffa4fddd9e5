// One endpoint with the credential that it is called with.
import { endpointTag } from '../catalogue/catalogue-model.js';
import type { CatalogueModel, ModelEndpoint } from '../catalogue/catalogue-model.js';
import type { RerankEndpoint, RerankModel } from '../catalogue/rerank-model.js';
import type { ChatEndpoint, ChatModel } from '../domain/chat/chat-model.js';
import { wireOf } from '../domain/chat/chat-request.js';
import type { ChatRequest } from '../domain/chat/chat-request.js';
import type { ProviderWire } from '../domain/chat/model-wire.js';
import type { UnpaidCost } from '../domain/spend/charge.js';
import type { ProviderCredential } from '../domain/providers/provider-credential.js';
import type { ChatProblem, ChatWire } from '../providers/shared/chat-wire.js';
import { chatWiresOf } from '../providers/shared/provider.js';
import type { EmbeddingProvider, LocalChat, Provider, RerankWire } from '../providers/shared/provider.js';

/** A customer's own key at a provider. */
export interface OwnCredential extends Pick<ProviderCredential, 'id' | 'isFallback' | 'declaredZdr'> {
  readonly apiKey: string;
  /** Another one after every change of the credential. */
  readonly version: number;
  /** Its provider's shared endpoints may not take over from it. */
  readonly excludesShared: boolean;
  /** Among the credentials of its workspace: lower ones are tried first. */
  readonly position: number;
}

/** The facts of a target that routing needs, whatever its operation is. */
export interface ServingTarget {
  readonly model: Pick<CatalogueModel, 'id' | 'expiresOn' | 'successor'>;
  readonly endpoint: Pick<
    ModelEndpoint,
    'provider' | 'tag' | 'upstreamModel' | 'quantization' | 'dataPolicy'
  >;
  readonly provider: Provider;
  /** Null: the operator's own credential. */
  readonly credential: OwnCredential | null;
}

export interface EndpointTarget extends ServingTarget {
  readonly provider: EmbeddingProvider;
  readonly model: CatalogueModel;
  readonly endpoint: ModelEndpoint;
}

export interface RerankTarget extends ServingTarget {
  readonly model: RerankModel;
  readonly endpoint: RerankEndpoint;
  readonly wire: RerankWire;
}

export interface ChatTarget extends ServingTarget {
  readonly model: ChatModel;
  readonly endpoint: ChatEndpoint;
  /** How it is called for this call. */
  readonly wire: ChatWire | LocalChat;
  /** The moving alias that the call named; absent: the model itself. */
  readonly requestedModel?: string;
}

/** `tag/upstream-model`, as the log names an endpoint; the tag of most is the provider's slug. */
export function endpointName({ endpoint }: ServingTarget): string {
  return `${endpointTag(endpoint)}/${endpoint.upstreamModel}`;
}

/** The endpoint in bills that the caller does not pay. */
export function billedAt(target: ServingTarget): Pick<UnpaidCost, 'provider' | 'endpoint' | 'isOwn'> {
  const { provider, credential } = target;
  return { provider: provider.slug, endpoint: endpointName(target), isOwn: credential !== null };
}

/** A wire of an endpoint, with the members of the call that it cannot honour there. */
export interface WireForCall extends Pick<ChatTarget, 'wire'> {
  readonly problems: readonly ChatProblem[];
}

/**
 * The client's own wire where the endpoint speaks it and serves the call in it, else the first that does; one that keeps the
 * reasoning of the call comes before others. Undefined: its provider has no chat models.
 */
export function wireFor(
  request: ChatRequest,
  { provider, endpoint }: Pick<ChatTarget, 'provider' | 'endpoint'>,
): WireForCall | undefined {
  const client = wireOf(request);
  const isOther = (wire: ChatTarget['wire']) => Number(protocolOf({ wire }) !== client);
  const ordered = wiresAt(provider, endpoint).toSorted((one, other) => isOther(one) - isOther(other));
  let first: WireForCall | undefined;
  let able: WireForCall | undefined;
  for (const wire of ordered) {
    const problems = wire.problems(request, endpoint);
    const isAble = !problems.some(({ isHard }) => isHard);
    if (isAble && !problems.some(({ at }) => at === 'reasoning')) return { wire, problems };
    first ??= { wire, problems };
    if (isAble) able ??= { wire, problems };
  }
  return able ?? first;
}

/** The wires of the catalogue that the provider speaks; without any there, the provider's first. */
function wiresAt(provider: Provider, { wires }: ChatEndpoint): readonly ChatTarget['wire'][] {
  if (provider.transport === 'local') return [provider.chat];
  const spoken = chatWiresOf(provider);
  return (
    wires?.flatMap((name) => spoken.find(({ protocol }) => protocol === name) ?? []) ?? spoken.slice(0, 1)
  );
}

/** The wire in which the provider speaks. */
export function protocolOf({ wire }: Pick<ChatTarget, 'wire'>): ProviderWire {
  return 'protocol' in wire ? wire.protocol : 'chat';
}
