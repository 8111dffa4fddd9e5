// Chat models that a provider lists and the catalogue does not have: priced by a ceiling, or reached by own provider keys
// (docs/contract.md#unlisted-models).
import { Injectable } from '@nestjs/common';
import { Catalogue, ChatCatalogue, RerankCatalogue, UnlistedCatalogue } from '../../catalogue/catalogue.js';
import type { NamedModel } from '../../catalogue/catalogue-model.js';
import { matches } from '../../catalogue/unlisted-rule.js';
import type { UnlistedRule } from '../../catalogue/unlisted-rule.js';
import type { ChatEndpoint, ChatModality, ChatModel } from '../../domain/chat/chat-model.js';
import { AppError } from '../../domain/errors.js';
import { DiscoveredNames } from '../discovered-names.js';
import type { NamedFacts } from '../discovered-names.js';
import { rejectModelName } from '../unreachable-models.js';
import type { FoundChatModel } from './moving-aliases.js';

// By the first part of an id.
const PROVIDER_OF_VENDOR: ReadonlyMap<string, string> = new Map([
  ['openai', 'openai'],
  ['anthropic', 'anthropic'],
  ['google', 'google'],
  ['mistralai', 'mistral'],
  ['cohere', 'cohere'],
]);
// Hosts whose names for models are ids.
const NAMED_BY_ID = ['together', 'deepinfra'];

/** Of a model without a rule: the provider decides about each member. */
const UNKNOWN_CONTEXT = 1_000_000;
const ALL_MODALITIES: readonly ChatModality[] = ['text', 'image', 'audio', 'file', 'video'];
const ALL_PARAMETERS =
  'max_tokens temperature top_p top_k stop seed frequency_penalty presence_penalty tools tool_choice parallel_tool_calls response_format structured_outputs'.split(
    ' ',
  );

export interface UnlistedName {
  readonly provider: string;
  readonly name: string;
  readonly facts: NamedFacts;
}

@Injectable()
export class UnlistedModels {
  /** The names that the catalogue has, of disabled models as well: by provider. Made once for each change of the catalogue. */
  private listed: { readonly of: readonly unknown[]; readonly names: ReadonlySet<string> } | null = null;

  constructor(
    private readonly names: DiscoveredNames,
    private readonly rules: UnlistedCatalogue,
    private readonly chats: ChatCatalogue,
    private readonly embeddings: Catalogue,
    private readonly reranks: RerankCatalogue,
  ) {}

  /**
   * A chat model that providers list under the name, and that the catalogue does not have. `only`: the providers that the caller
   * names. Throws `not_found` with the reason.
   */
  find(name: string, only: readonly string[]): FoundChatModel {
    const found = this.candidates(name, only).filter(({ facts }) => mayChat(facts));
    return found.length === 0
      ? this.reject(name, 'chat')
      : { model: toModel(found, this.rules.list()), sort: null };
  }

  /** The error for a name that no model of the catalogue has. */
  reject(name: string, kind: 'embedding' | 'chat' | 'rerank'): never {
    const [found] =
      kind === 'chat' ? [] : this.candidates(name, []).filter(({ facts }) => facts.kind !== 'chat');
    if (found && kind !== 'chat')
      throw new AppError('not_found', {
        detail: `${found.provider} offers ${name}, but it is not in the catalogue; ${REASONS[kind]}`,
      });
    const base = name.endsWith(':free') ? this.chats.get(name.slice(0, -':free'.length)) : undefined;
    if (base) throw new AppError('not_found', { detail: `${name} is another model than ${base.id}` });
    return rejectModelName(name, kind);
  }

  /** Those that the catalogue does not have, without a price, under the ids that calls may use. */
  list(): ChatModel[] {
    const byId = new Map<string, UnlistedName[]>();
    for (const found of this.names.list()) {
      if (!mayChat(found.facts) || this.isListed(found)) continue;
      const id = idOf(found);
      byId.set(id, [...(byId.get(id) ?? []), found]);
    }
    return [...byId.values()].map((found) => toModel(found, []));
  }

  private candidates(name: string, only: readonly string[]): UnlistedName[] {
    const separator = name.indexOf('/');
    const rest = name.slice(separator + 1);
    const [chosen] = only.length === 1 ? only : [];
    const vendor = separator < 0 ? undefined : PROVIDER_OF_VENDOR.get(name.slice(0, separator));
    const places: (readonly [provider: string, upstream: string])[] =
      chosen === undefined
        ? [
            ...(vendor === undefined ? [] : [[vendor, rest] as const]),
            ...(separator < 0 ? [] : NAMED_BY_ID.map((slug) => [slug, name] as const)),
          ]
        : [[chosen, name], ...(separator < 0 ? [] : [[chosen, rest] as const])];
    const found = places
      .filter(([provider]) => only.length === 0 || only.includes(provider))
      .flatMap(([provider, upstream]) => {
        const facts = this.names.find(provider, upstream);
        return facts ? [{ provider, name: upstream, facts }] : [];
      });
    const unlisted = found.filter((one) => !this.isListed(one));
    return chosen === undefined ? unlisted : unlisted.slice(0, 1);
  }

  /** Whether the catalogue has the name at the provider, or its id. */
  private isListed(found: Pick<UnlistedName, 'provider' | 'name'>): boolean {
    const id = idOf(found);
    return (
      this.listedNames().has(`${found.provider} ${found.name}`) ||
      [this.chats, this.embeddings, this.reranks].some((models) => models.idOf(id) !== undefined)
    );
  }

  private listedNames(): ReadonlySet<string> {
    const lists: readonly (readonly NamedModel[])[] = [
      this.chats.listAll(),
      this.embeddings.listAll(),
      this.reranks.listAll(),
    ];
    if (this.listed?.of.every((list, index) => list === lists[index])) return this.listed.names;
    const names = new Set<string>();
    for (const { endpoints } of lists.flat())
      for (const endpoint of endpoints as readonly ChatEndpoint[])
        names.add(`${endpoint.provider} ${endpoint.upstreamModel}`);
    this.listed = { of: lists, names };
    return names;
  }
}

/**
 * With the prices of the rules; without one they are unknown. Its id is one of the name, not the caller's: guardrails and sums know the
 * model by it.
 */
function toModel(found: readonly UnlistedName[], rules: readonly UnlistedRule[]): ChatModel {
  const id = found.map(idOf)[0] ?? '';
  const endpoints = found.map(({ provider, name, facts }): ChatEndpoint => {
    const rule = rules.find((one) => one.template.provider === provider && matches(one, name));
    if (!rule) return unknownEndpoint(provider, name, facts);
    const { template } = rule;
    return Object.assign({ upstreamModel: name }, template);
  });
  return {
    id,
    name: found[0]?.facts.displayName ?? id,
    description: '',
    createdAt: '1970-01-01',
    contextLength: Math.max(...endpoints.map(({ contextLength }) => contextLength)),
    tokenizer: null,
    endpoints,
    isUnlisted: true,
  };
}

/** Other names need the provider beside them, in `provider.only`. */
function idOf({ provider, name }: Pick<UnlistedName, 'provider' | 'name'>): string {
  for (const [vendor, slug] of PROVIDER_OF_VENDOR) if (slug === provider) return `${vendor}/${name}`;
  return name.includes('/') ? name : `${provider}/${name}`;
}

const REASONS = {
  embedding: 'embedding models must be listed, because their vectors are stored',
  rerank: 'rerank models must be listed, because their units are facts',
} as const;

/** A name of unknown kind may be one: the provider answers 400 otherwise. */
export function mayChat({ kind }: Pick<NamedFacts, 'kind'>): boolean {
  return kind === null || kind === 'chat';
}

/** No credential of the operator may call it, and no own key that a limit counts. */
export function unpricedError({ id, endpoints: [endpoint] }: ChatModel): AppError {
  return new AppError('not_found', {
    detail: `${endpoint?.provider ?? ''} offers ${id}, but it has no price here: the operator can add it to the catalogue; own provider keys can use it now`,
  });
}

function unknownEndpoint(provider: string, upstreamModel: string, facts: NamedFacts): ChatEndpoint {
  const contextLength = facts.contextLength ?? UNKNOWN_CONTEXT;
  return {
    provider,
    upstreamModel,
    contextLength,
    ...(facts.maxOutputTokens !== null && {
      maxOutputTokens: Math.min(facts.maxOutputTokens, contextLength),
    }),
    supportedParameters: ALL_PARAMETERS,
    inputModalities: ALL_MODALITIES,
    reasoningEfforts: [],
    isReasoning: false,
    hidesReasoning: false,
    prices: [],
    quantization: null,
    dataPolicy: { retainsPrompts: true, trains: true },
  };
}
