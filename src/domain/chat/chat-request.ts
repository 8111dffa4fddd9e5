// The kernel's form of a model call, whatever the wire of its client: checked members, and the bytes of every member for the
// provider. Names are those of Chat, in which calls are recorded as well.
import type { CallerTrace } from '../caller-trace.js';
import type { AppliedPreset } from '../preset.js';
import type { ModelWire } from './model-wire.js';

export type JsonValue =
  null | boolean | number | string | readonly JsonValue[] | { readonly [name: string]: JsonValue };
export type JsonObject = { readonly [name: string]: JsonValue };

export interface ChatTextPart {
  readonly type: 'text';
  readonly text: string;
}

/** A part that is not text. `body` is the part as the caller sent it. */
export interface ChatMediaPart {
  readonly type: 'image' | 'audio' | 'file' | 'video';
  readonly body: JsonObject;
  /** The address of an `https:` part; null where the data is inline. */
  readonly url: string | null;
  /** The size of inline data, decoded; 0 for addresses. */
  readonly bytes: number;
  readonly mediaType: string | null;
  /** Images: the caller's detail. Audio: the caller's format. */
  readonly detail: string | null;
}

/** A part that only its own wire knows: other wires refuse it. */
export interface ChatUnknownPart {
  readonly type: 'unknown';
  readonly wire: ModelWire;
  readonly name: string;
  readonly body: JsonObject;
}

export type ChatPart = ChatTextPart | ChatMediaPart | ChatUnknownPart;

export interface ChatToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON text, as the model wrote it. */
  readonly arguments: string;
}

export interface ChatMessage {
  readonly role: 'system' | 'developer' | 'user' | 'assistant' | 'tool';
  /** A string as the caller sent it, parts, or null. */
  readonly content: string | readonly ChatPart[] | null;
  readonly toolCalls: readonly ChatToolCall[];
  readonly toolCallId: string | null;
  readonly name: string | null;
  /** The whole message as the caller sent it. */
  readonly body: JsonObject;
}

export interface ChatTool {
  readonly name: string;
  readonly body: JsonObject;
}

export interface ReasoningSettings {
  /** max | xhigh | high | medium | low | minimal | none; null: by maxTokens, or the endpoint's default. */
  readonly effort: string | null;
  readonly maxTokens: number | null;
  /** The answer carries no reasoning. */
  readonly isExcluded: boolean;
  readonly isEnabled: boolean;
}

/** An element that no provider may get: of a list, or of the list `content` of its element. */
export interface NativeCut {
  readonly member: 'messages' | 'input' | 'tools';
  readonly index: number;
  /** Null: the whole element. */
  readonly inner: readonly number[] | null;
}

/** A tool whose name or kind another wire does not have: its calls come back as the client declared it. */
export interface DeclaredTool {
  readonly type: 'function' | 'custom';
  readonly name: string;
  readonly namespace: string | null;
}

/** The parts of a request that an answer in the Responses wire depends on. */
export interface ResponsesForm {
  /** Members of the request that the answer repeats: JSON text, without braces. */
  readonly echo: Buffer;
  /** By the name in the kernel. */
  readonly tools: ReadonlyMap<string, DeclaredTool>;
  /** Reasoning comes with the content that its producer reads. */
  readonly wantsEncryptedReasoning: boolean;
  /** It declares custom tools or namespaces, or has called custom tools. */
  readonly hasCustomTools: boolean;
  /** Its members have parts that only this service knows: no endpoint can get its bytes. */
  readonly hasOwnSettings: boolean;
}

/** A search of the web that the provider runs itself, and bills by use. */
export interface WebSearchTool {
  /** As the client's wire names it. */
  readonly type: string;
  /** In the client's `tools`. */
  readonly index: number;
  /** Null: the client states no bound. */
  readonly maxUses: number | null;
  /** The client forces a call of it, or declares nothing else: without it the answer is useless. */
  readonly isNeeded: boolean;
}

/** A request as the client of another wire than Chat sent it: endpoints of its wire get its bytes. */
export interface NativeRequest {
  readonly wire: ModelWire;
  /** Every top-level member: its JSON text byte for byte, in the caller's order. Long ones are removed as those of `members`. */
  readonly members: Map<string, Buffer>;
  /** Headers of the wire that go upstream, in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly cuts: readonly NativeCut[];
  /** Members that the cuts lose, as attempts record them. */
  readonly edits: readonly string[];
  /** Members that endpoints of other wires do not get. */
  readonly unshared: readonly string[];
  /** Only endpoints of this wire that have a price for it get it. Absent: none is declared. */
  readonly webSearch?: WebSearchTool;
  /** Absent: another wire. */
  readonly responses?: ResponsesForm;
}

/** The wire of the client. */
export function wireOf({ native }: Pick<ChatRequest, 'native'>): ModelWire {
  return native?.wire ?? 'chat';
}

export interface ChatRequest {
  /** Its members are part of the request. Absent: the caller names none. */
  readonly preset?: AppliedPreset;
  /** Null: the client speaks Chat, and `members` are its bytes. */
  readonly native: NativeRequest | null;
  /** As the caller names them, the preferred one first; at least one. */
  readonly models: readonly string[];
  readonly isStreamed: boolean;
  /** `stream_options.include_usage`: the form of the usage chunk. */
  readonly includesUsageChunk: boolean;
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly ChatTool[];
  /** none | auto | required, or the name of a function; null: absent. */
  readonly toolChoice:
    { readonly mode: 'none' | 'auto' | 'required' } | { readonly functionName: string } | null;
  /** text | json_object | json_schema | grammar | python */
  readonly responseFormat: string;
  readonly responseSchema: JsonValue;
  /** The smaller of max_tokens and max_completion_tokens; null: no limit by the caller. */
  readonly maxOutputTokens: number | null;
  readonly choiceCount: number;
  readonly wantsLogprobs: boolean;
  /** Alternatives of each token. */
  readonly topLogprobs: number;
  readonly reasoning: ReasoningSettings | null;
  readonly serviceTier: string | null;
  /** The text of `prediction`; null: absent. */
  readonly prediction: string | null;
  /** 5m | 1h where a cache write can happen; null: none is asked for. */
  readonly cacheWriteTtl: '5m' | '1h' | null;
  readonly wantsEnforcedSchema: boolean;
  readonly user: string | null;
  readonly sessionId: string | null;
  readonly trace: CallerTrace | null;
  readonly metadata: Readonly<Record<string, string>> | null;
  readonly promptCacheKey: string | null;
  /**
   * Every top-level member that is not null, in the caller's order: its JSON text byte for byte. Members that the router
   * reads (model, models, provider, trace, session_id, ...) are not in it; all others are, known and unknown. Long ones are
   * removed once no further provider can be tried.
   */
  readonly members: Map<string, Buffer>;
}

/** The model must call a tool. */
export function forcesCall(choice: ChatRequest['toolChoice']): boolean {
  return choice !== null && (!('mode' in choice) || choice.mode === 'required');
}
