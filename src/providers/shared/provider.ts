// The contract of an embedding provider. A provider is pure: it describes a request and reads an answer. Sending,
// timing out, retrying and checking the answer's vectors happen once, for all of them, elsewhere.
import type { Pace } from '../../concurrency/yield-queue.js';
import type { EmbeddingInput, EncodingFormat } from '../../domain/embeddings/embedding.js';
import type { InputType } from '../../domain/embeddings/input-type.js';
import type { TokensByModality } from '../../domain/embeddings/modality.js';
import type { Vector } from '../../vectors/vectors.js';

/** One call to an upstream. */
export interface ProviderCall {
  readonly upstreamModel: string;
  readonly input: EmbeddingInput;
  /** Set only when the upstream is to shorten the vectors itself. */
  readonly dimensions?: number | undefined;
  /** The form that the caller wants; a provider asks for it when its upstream can. */
  readonly encodingFormat: EncodingFormat;
  readonly inputType?: string | undefined;
  /** The input types that the catalogue lists for the endpoint. */
  readonly listedInputTypes?: readonly InputType[] | undefined;
  readonly user?: string | undefined;
  /** Members of the caller's body that this service does not know. */
  readonly extra: Readonly<Record<string, unknown>>;
}

export interface ProviderConnection {
  /** Without a slash at its end. */
  readonly baseUrl: string;
  /** `<PROVIDER>_API_KEY`, or the key of a customer. A provider that needs several parts says how they are joined. */
  readonly apiKey?: string;
}

export interface UpstreamRequest {
  readonly method: 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface UpstreamResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

export interface ProviderAnswer {
  /** In the order of the inputs. How many, how wide and whether finite is checked by the caller of the provider. */
  readonly vectors: readonly Vector[];
  /** Null when the upstream does not say. */
  readonly promptTokens: number | null;
  readonly totalTokens: number | null;
  /** Only where the upstream counts them apart: their prices may differ. */
  readonly tokensByModality?: TokensByModality;
  readonly upstreamId: string | null;
}

/** Why an endpoint did not serve. */
export type FailureKind =
  /** The request itself is wrong: another endpoint would say the same. */
  | 'refused'
  /** Its input is too large for the provider. */
  | 'too_large'
  /** The credential or the account at the provider is wrong or used up: trying again cannot help. */
  | 'credential'
  | 'overloaded'
  | 'timeout'
  /** The answer came and was not what was promised. */
  | 'broken'
  | 'failed';

export interface ProviderError {
  /** The upstream's own words, to be cut before anyone sees them. */
  readonly message: string;
  /** The upstream's own code. */
  readonly code: string | null;
  /** Only where the status alone would mislead: 429 for an empty account, 424 for a broken backend. */
  readonly kind?: FailureKind;
  /** Seconds; only where the upstream says it elsewhere than in the header `retry-after`. */
  readonly retryAfter?: number;
}

/** An answer that is not what the provider promises. */
export class BrokenAnswer extends Error {}

/** Something about the request that this provider cannot do; where no other endpoint can, the caller is told. */
export class UnsupportedRequest extends Error {}

/**
 * How the members of a body that this service does not know change what an input is billed. A member that is not named
 * here counts as text of each input, with the bytes of its JSON.
 */
export interface BillingTraits {
  /** Settings that add no tokens. */
  readonly free?: readonly string[];
  /**
   * Members that change the price of a token, lift the limit of an input, or bring inputs of their own, at any depth;
   * each with the values that the listed price holds for. A call whose price has to be bounded cannot have others.
   */
  readonly repriced?: Readonly<Record<string, readonly unknown[]>>;
  /** Bytes at most of the prompt that stands before an input of an input type. */
  readonly promptBytes?: number;
  /** When a prompt stands there; absent: with an input type or one of `promptMembers`. */
  readonly hasPrompt?: 'always';
  /** Members that choose a prompt, as `input_type` does. */
  readonly promptMembers?: readonly string[];
}

/** Room for a prompt that only the operator's own server knows: instructions of models are shorter. */
export const UNKNOWN_PROMPT_BYTES = 256;

interface ProviderTraits {
  /** Also the prefix of its environment variables, in capitals. */
  readonly slug: string;
  readonly name: string;
  /** How many inputs of a form its wire can carry in one call, where that is fewer than the endpoint takes. */
  readonly maxInputsByForm?: Readonly<Partial<Record<EmbeddingInput['form'], number>>>;
  /** What answers at its address has one model, and does not look at the name that a call asks for. */
  readonly servesOneModel?: true;
  /**
   * A member of the caller's own which makes every vector depend on all inputs of its call, unless it is false: such a
   * call is never split.
   */
  readonly inputTyingMember?: string;
  readonly billing: BillingTraits;
}

export interface HttpEmbeddingProvider extends ProviderTraits {
  readonly transport: 'http';
  /** Null: only where `<PROVIDER>_BASE_URL` says. */
  readonly defaultBaseUrl: string | null;
  readonly needsApiKey: boolean;
  /** Throws UnsupportedRequest. */
  buildRequest(
    call: ProviderCall,
    connection: ProviderConnection,
  ): UpstreamRequest | Promise<UpstreamRequest>;
  /** Reads a 2xx. Throws BrokenAnswer. */
  readAnswer(response: UpstreamResponse, call: ProviderCall): ProviderAnswer;
  /** Reads anything else. */
  readError(response: UpstreamResponse): ProviderError;
}

export interface LocalEmbeddingProvider extends ProviderTraits {
  readonly transport: 'local';
  /** Computes in the pieces of `pace`. Throws UnsupportedRequest. */
  embed(call: ProviderCall, pace: Pace): Promise<ProviderAnswer>;
}

export type EmbeddingProvider = HttpEmbeddingProvider | LocalEmbeddingProvider;
