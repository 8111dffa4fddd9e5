// The traits by which providers differ in the chat completions wire, as data.
import type {
  CancellationBilling,
  ChatEndpoint,
  ReasoningMember,
  StreamUsage,
} from '../../../domain/chat/chat-model.js';
import type { ProviderWire } from '../../../domain/chat/model-wire.js';
import type { JsonObject } from '../../../domain/chat/chat-request.js';
import type { ChatCall, ChatWire } from '../chat-wire.js';
import type { ProviderConnection } from '../upstream.js';

export type OutputLimitName = 'max_tokens' | 'max_completion_tokens';

/** `dropped`: not sent and recorded. `omitted`: not sent, because the upstream does the same without it. */
export type MemberEdit =
  | 'dropped'
  | 'omitted'
  | {
      /** Absent: unchanged. */
      readonly name?: string;
      /** JSON text. */
      readonly value: Buffer | string;
      /** The caller gets less than the member asks for. */
      readonly isWeaker?: true;
    };

/** `listed`: sent where the endpoint lists the parameter. A function receives the caller's JSON text. */
export type MemberRule = 'keep' | 'listed' | 'drop' | ((value: Buffer, call: ChatCall) => MemberEdit);

export interface MessageTraits {
  /** The role that the wire knows for `developer`. */
  readonly developerRole: 'developer' | 'system';
  /** The messages whose `name` is sent. */
  readonly names: 'all' | 'tool' | 'none';
  /** The wire's name for the model's earlier reasoning, which callers send back under either name; null: it is not sent. */
  readonly reasoning: ReasoningMember | null;
  /** Refusals are sent as such, in members and parts; otherwise as texts. */
  readonly takesRefusals?: true;
  /** Members that are sent beside those above. */
  readonly members?: readonly string[];
  /** Members of a tool call that are sent beside `id`, `type` and `function`. */
  readonly toolCallMembers?: readonly string[];
  /** The image detail `original` is sent; otherwise `high` takes its place. */
  readonly takesOriginalDetail?: true;
  /** Added to an assistant's message at the end, which the model continues. */
  readonly prefill?: JsonObject;
}

/** The traits that decide what an endpoint honours. */
export type SupportTraits = Pick<
  ChatTraits,
  'members' | 'lacks' | 'reasoningModelsLack' | 'mediaUrls' | 'files' | 'reasoningSwitch'
> & {
  /** The wire whose unknown parts the endpoint takes; absent: Chat. */
  readonly protocol?: ProviderWire;
};

export interface ChatTraits extends Pick<
  ChatWire,
  'readError' | 'contextHoldsOutput' | 'finishReasons' | 'readUsage' | 'toolCallId' | 'callSignatures'
> {
  /** Absent: `/chat/completions` below the base URL. */
  url?(connection: ProviderConnection, endpoint: ChatEndpoint): string;
  /** Absent: a bearer token. */
  headers?(apiKey: string | undefined): Readonly<Record<string, string>>;
  outputLimit(endpoint: ChatEndpoint, connection: ProviderConnection): OutputLimitName;
  streamUsage(connection: ProviderConnection): StreamUsage;
  /** Further members of `stream_options`, where usage is requested. */
  readonly streamOptions?: JsonObject;
  /** Rules of members beside the common ones. Members without a rule are dropped. */
  readonly members: Readonly<Record<string, MemberRule>>;
  readonly messages: MessageTraits;
  /** `strict` of a tool is not sent. */
  readonly dropsStrict?: true;
  /** A tool without parameters is refused: an empty schema is sent in their place. */
  readonly needsParameters?: true;
  /** Parameters that no model of the provider has, although a catalogue may list them. */
  readonly lacks?: readonly string[];
  /** The same for reasoning models only. */
  readonly reasoningModelsLack?: readonly string[];
  /** Media by address: sent, refused, or sent where the endpoint lists `image_url`. No wire fetches them here. */
  readonly mediaUrls: 'sent' | 'refused' | 'listed';
  /** Files are sent as the data of a PDF only, or of a text as well and by address; absent: any, by the rule of media. */
  readonly files?: 'inline_pdf' | 'documents';
  /** The member that switches reasoning on and off where an endpoint has no efforts. */
  readonly reasoningSwitch?: true;
  readonly cancellation: CancellationBilling;
}
