// How a provider speaks its wire for models, as data. Sending, streaming, money and records are shared by all
// providers and live elsewhere (docs/contract.md#chat-providers).
import type { ProviderWire } from '../../domain/chat/model-wire.js';
import type { CancellationBilling, ChatEndpoint } from '../../domain/chat/chat-model.js';
import type { ChatRequest, JsonObject } from '../../domain/chat/chat-request.js';
import type { ReportedChatUsage } from '../../domain/chat/chat-usage.js';
import type { CallSignatures } from './chat/call-signatures.js';
import type { ProviderConnection, ProviderError, UpstreamRequest, UpstreamResponse } from './upstream.js';

/** One call to an upstream. */
export interface ChatCall {
  readonly request: ChatRequest;
  readonly endpoint: ChatEndpoint;
  /** The number that goes upstream; null: none. */
  readonly maxOutputTokens: number | null;
}

export interface ChatUpstreamRequest extends Omit<UpstreamRequest, 'body'> {
  /** In pieces: untouched members are the caller's own bytes. */
  readonly body: readonly Buffer[];
  /** Members that the wire dropped or weakened, by name. */
  readonly edits: readonly string[];
}

/** A member of a request that an endpoint cannot honour. */
export interface ChatProblem {
  /** The member, or a path into it: `messages[2].content[0]`. */
  readonly at: string;
  readonly rule: string;
  /** The endpoint cannot serve the request. Otherwise the member is dropped, unless the caller requires all of them. */
  readonly isHard: boolean;
}

export interface SentPrompt {
  readonly messages: readonly JsonObject[];
  readonly tools: readonly JsonObject[];
}

/** The provider's own count of a prompt. */
export interface TokenCounter {
  /** Null: the request cannot be counted there. */
  buildRequest(
    call: ChatCall,
    connection: ProviderConnection,
  ): ChatUpstreamRequest | Promise<ChatUpstreamRequest> | null;
  /** Reads a 2xx; null: it states no count. */
  readCount(response: UpstreamResponse): number | null;
}

/** How the frames of a wire become its events. */
export interface FrameTraits {
  /** JSON of the event; null: the frame says nothing. Throws BrokenAnswer. */
  documentOf(type: string, payload: Buffer): Buffer | null;
}

export interface ChatWire {
  /** The wire of requests and answers. */
  readonly protocol: ProviderWire;
  /** Throws UnsupportedRequest for a hard problem. */
  buildRequest(
    call: ChatCall,
    connection: ProviderConnection,
  ): ChatUpstreamRequest | Promise<ChatUpstreamRequest>;
  /** The messages as they are sent, and the tools: what a count of the prompt counts. Absent: as they came. */
  promptOf?(call: Pick<ChatCall, 'request' | 'endpoint'>): SentPrompt;
  readonly problems: (request: ChatRequest, endpoint: ChatEndpoint) => readonly ChatProblem[];
  /** Whether a request of this wire is translated to it, as those of other wires are. Absent: its bytes pass. */
  translates?(request: ChatRequest, endpoint: ChatEndpoint): boolean;
  /** Any other status than 2xx, and an error inside a 2xx. */
  readError(response: UpstreamResponse): ProviderError;
  readonly cancellation: CancellationBilling;
  /** A prompt is refused unless the whole output limit fits behind it. Absent: the context cuts the answer. */
  readonly contextHoldsOutput?: true;
  /** Absent: prompts are counted here. */
  readonly counter?: TokenCounter;
  /** Streams come in frames of AWS; absent: as server-sent events. */
  readonly frames?: FrameTraits;
  /** Whether the answer hides reasoning for which the provider bills. Absent: as the catalogue states. */
  hidesReasoning?(request: ChatRequest, endpoint: ChatEndpoint): boolean;
  /** The provider's words for OpenAI's finish reasons, beside the common ones. */
  readonly finishReasons?: Readonly<Record<string, string>>;
  /** Members of `usage` that this wire names otherwise. Absent: OpenAI's names. */
  readUsage?(usage: unknown): ReportedChatUsage | null;
  /** Tool call ids of the caller's messages are replaced in requests; the same function applies to answers. */
  readonly toolCallId?: (id: string) => string;
  /** Signatures of thoughts that must come back with their tool calls. */
  readonly callSignatures?: CallSignatures;
}
