// The contract of a provider of embeddings and reranking. A provider is pure: it describes a request and reads an answer. Sending,
// time-outs, retries and the validation of vectors are shared by all providers and live elsewhere.
import type { Pace } from '../../concurrency/yield-queue.js';
import type { EmbeddingInput, EncodingFormat, InputType } from '../../domain/embeddings/embedding.js';
import type { RankedDocument, RerankDocuments, RerankUnit } from '../../domain/rerank/rerank.js';
import type { ModelFamilies } from '../../domain/providers/provider.js';
import type { ProviderModel } from '../../domain/providers/provider-model.js';
import { memberName } from '../../domain/errors.js';
import type { InputPosition } from '../../domain/errors.js';
import type { TokensByModality } from '../../domain/embeddings/modality.js';
import type { Vector } from '../../vectors/vectors.js';
import type { ChatWire, ChatCall } from './chat-wire.js';
import type { EmbeddingMembers } from './embedding-members.js';
import type { TokenExchange } from './token-exchange.js';
import type { ProviderConnection, ProviderError, UpstreamRequest, UpstreamResponse } from './upstream.js';

export type { ProviderConnection, ProviderError, UpstreamRequest, UpstreamResponse } from './upstream.js';

/** One call to an upstream. */
export interface ProviderCall {
  readonly upstreamModel: string;
  /** As the catalogue states it; absent: by the name of the model. */
  readonly family?: string | undefined;
  readonly input: EmbeddingInput;
  /** Set only when the upstream shortens the vectors itself. */
  readonly dimensions?: number | undefined;
  /** The form that the caller wants. A provider requests it if its upstream can. */
  readonly encodingFormat: EncodingFormat;
  readonly inputType?: string | undefined;
  /** The input types that the catalogue lists for the endpoint. */
  readonly listedInputTypes?: readonly InputType[] | undefined;
  readonly user?: string | undefined;
  /** Members of the caller's body that this service does not know, without those that the provider must not get. */
  readonly extra: Readonly<Record<string, unknown>>;
}

export interface ProviderAnswer extends ReportedUsage {
  /** In the order of the inputs. The caller of the provider checks count, width and finiteness. */
  readonly vectors: readonly Vector[];
  readonly upstreamId: string | null;
}

/** The usage of a call as the upstream reports it; null where it reports none. */
export interface ReportedUsage {
  readonly promptTokens: number | null;
  readonly totalTokens: number | null;
  /** Only if the upstream counts them separately: their prices may differ. */
  readonly tokensByModality?: TokensByModality;
  /** Rerank only. */
  readonly searchUnits?: number;
}

/** One call of reranking to an upstream. */
export interface RerankCall {
  readonly upstreamModel: string;
  readonly query: string;
  readonly documents: RerankDocuments;
  /** At most the number of documents. */
  readonly topN: number;
  /** As the catalogue states them for the endpoint. */
  readonly maxTokensPerDocument: number | undefined;
  readonly path: string | undefined;
  /** Members of the caller's body that this service does not know, without those that the provider must not get. */
  readonly extra: Readonly<Record<string, unknown>>;
}

export interface RerankAnswer extends ReportedUsage {
  /** In any order. The caller of the wire checks indexes and scores. */
  readonly results: readonly RankedDocument[];
  readonly upstreamId: string | null;
}

export interface RerankWire {
  /** Several where the operator of the server decides. */
  readonly bills: readonly RerankUnit[];
  /** The catalogue may state another path of the operation. */
  readonly takesPath?: true;
  readonly billing: BillingTraits;
  /** Absent: a public API, which gets all unknown members and checks them. */
  readonly members?: EmbeddingMembers;
  /** Throws UnsupportedRequest. */
  buildRequest(call: RerankCall, connection: ProviderConnection): UpstreamRequest | Promise<UpstreamRequest>;
  /** Reads a 2xx. Throws BrokenAnswer. */
  readAnswer(response: UpstreamResponse, call: RerankCall): RerankAnswer;
  /** Reads the usage of a 2xx whose results cannot be used. Throws BrokenAnswer. */
  readUsage(response: UpstreamResponse): ReportedUsage;
  readError(response: UpstreamResponse): ProviderError;
}

/** A page of the models that a provider lists. */
export interface ModelPage {
  /** Those with a name that can be stored. */
  readonly models: readonly ProviderModel[];
  /** Parameters of the next page; null: this is the last one. */
  readonly next: Readonly<Record<string, string>> | null;
}

export interface ModelListWire {
  /** `cursor`: of the page before; null: the first page. */
  buildRequest(
    connection: ProviderConnection,
    cursor: ModelPage['next'],
  ): Omit<UpstreamRequest, 'method' | 'body'> & { readonly method: 'GET' };
  /** Reads a 2xx. Throws BrokenAnswer. */
  readPage(response: UpstreamResponse): ModelPage;
}

/** An answer without the form that the provider promises. */
export class BrokenAnswer extends Error {}

/** An answer of the promised form with a value that is no vector: a model may break on single inputs. */
export class UnusableVector extends BrokenAnswer {}

/** A request that this provider cannot serve. The caller receives the problem when no other endpoint can serve it. */
export class UnsupportedRequest extends Error {
  constructor(
    /** A member of the body, or an input by its index in the provider's call. */
    readonly at: string | InputPosition,
    /** The provider's requirement. */
    readonly rule: string,
  ) {
    super(`${memberName(at)}: ${rule}`);
  }
}

/**
 * How unknown members of a body change the bill of an input. A member that is not named here counts as text of each
 * input, with the bytes of its JSON.
 */
export interface BillingTraits {
  /** Settings that add no tokens. */
  readonly free?: readonly string[];
  /**
   * Members that change the price of a token, lift the limit of an input, or add inputs, at any depth; each with the
   * values for which the listed price holds. A call that needs a price bound cannot have other values.
   */
  readonly repriced?: Readonly<Record<string, readonly unknown[]>>;
  /** Maximum bytes of the prompt before an input with an input type. */
  readonly promptBytes?: number;
  /** When a prompt is added; absent: with an input type or one of `promptMembers`. */
  readonly hasPrompt?: 'always';
  /** Members that select a prompt, as `input_type` does. */
  readonly promptMembers?: readonly string[];
}

/** Bytes reserved for a prompt that only the operator's own server knows. Instructions of models are shorter. */
export const UNKNOWN_PROMPT_BYTES = 256;

export type UpstreamModel = Pick<ProviderCall, 'family' | 'upstreamModel'>;

interface ProviderTraits {
  /** Also the prefix of its environment variables, in upper case. */
  readonly slug: string;
  readonly name: string;
  /** Other slugs of the provider, such as those of the API's owner. Callers and operators may use them for `slug`. */
  readonly aliases?: readonly string[];
  /** Maximum inputs of a form in one call of the wire, if that is fewer than the endpoint accepts. */
  readonly maxInputsByForm?: Readonly<Partial<Record<EmbeddingInput['form'], number>>>;
  /** The server at its address has one model and ignores the requested name. */
  readonly servesOneModel?: true;
  /**
   * A caller's member that makes every vector depend on all inputs of its call, unless it is false. Such a call is
   * never split.
   */
  readonly inputTyingMember?: string;
  /** Absent: all models have one body. */
  readonly families?: ModelFamilies;
  readonly billing: BillingTraits;
  /** The unknown members of a server that operators run themselves. Absent: a public API, which gets all and checks them. */
  readonly members?: EmbeddingMembers;
  /**
   * Whether it embeds the beginning of an input that exceeds its limit, by its own members of the call. Absent: it
   * rejects such an input.
   */
  truncatesLongInputs?(extra: ProviderCall['extra'], model: UpstreamModel): boolean;
}

export interface HttpProvider extends ProviderTraits {
  readonly transport: 'http';
  /** Null: `<PROVIDER>_BASE_URL` is required. */
  readonly defaultBaseUrl: string | null;
  readonly needsApiKey: boolean;
  /** Absent: the provider has no chat models. */
  readonly chat?: ChatWire;
  /** Further ones, for endpoints that the catalogue says speak them. */
  readonly otherWires?: readonly ChatWire[];
  /** Absent: the provider has no rerank models. */
  readonly rerank?: RerankWire;
  /** Absent: the provider has no list of its models for the same credential. */
  readonly models?: ModelListWire;
  /** Throws UnsupportedRequest. */
  buildRequest(
    call: ProviderCall,
    connection: ProviderConnection,
  ): UpstreamRequest | Promise<UpstreamRequest>;
  /** Reads a 2xx. Throws BrokenAnswer. */
  readAnswer(response: UpstreamResponse, call: ProviderCall): ProviderAnswer;
  /** Reads the usage of a 2xx whose vectors cannot be used: the upstream charges for it. Throws BrokenAnswer. */
  readUsage(response: UpstreamResponse): ReportedUsage;
  /** Reads any other status, and an error inside a 2xx. */
  readError(response: UpstreamResponse): ProviderError;
}

export interface LocalProvider extends ProviderTraits {
  readonly transport: 'local';
  readonly chat: LocalChat;
  /** Computes in pieces and yields by `pace`. Throws UnsupportedRequest. */
  embed(call: ProviderCall, pace: Pace): Promise<ProviderAnswer>;
}

/** A provider without embeddings. */
export interface ChatProvider extends Pick<
  HttpProvider,
  'transport' | 'slug' | 'name' | 'aliases' | 'defaultBaseUrl' | 'needsApiKey' | 'otherWires' | 'models'
> {
  readonly chat: ChatWire;
  /** Absent: the key itself is sent. */
  readonly tokens?: TokenExchange;
}

export type EmbeddingProvider = HttpProvider | LocalProvider;
export type Provider = EmbeddingProvider | ChatProvider;

/** The wires of a provider's chat models. */
export function chatWiresOf(provider: Provider): readonly ChatWire[] {
  if (provider.transport === 'local' || provider.chat === undefined) return [];
  return [provider.chat, ...(provider.otherWires ?? [])];
}

/** Undefined: the provider has no rerank models. */
export function rerankWireOf(provider: Provider): RerankWire | undefined {
  return 'rerank' in provider ? provider.rerank : undefined;
}

/** Undefined: the provider lists no models. */
export function modelListOf(provider: Provider): ModelListWire | undefined {
  return provider.transport === 'http' ? provider.models : undefined;
}

/** The address and the key of the operator; null: the environment does not say enough. */
export function operatorConnection(
  provider: Provider,
  settings: Partial<ProviderConnection> = {},
): ProviderConnection | null {
  if (provider.transport === 'local') return null;
  const { apiKey, baseUrl = provider.defaultBaseUrl } = settings;
  if (baseUrl === null || (provider.needsApiKey && apiKey === undefined)) return null;
  return { baseUrl, ...(apiKey !== undefined && { apiKey }) };
}

export function embeds(provider: Provider): provider is EmbeddingProvider {
  return 'billing' in provider;
}

export interface LocalChat extends Pick<ChatWire, 'problems' | 'cancellation'> {
  /**
   * The bytes that an upstream would answer with status 200: server-sent events for a stream, else JSON. They pass through
   * the same relay. Yields by `pace`. Throws UnsupportedRequest before the first bytes.
   */
  respond(call: ChatCall, pace: Pace): AsyncIterable<Buffer>;
}
