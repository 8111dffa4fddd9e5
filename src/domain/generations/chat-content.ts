// The messages, tools and answers of a chat call as they are stored and traced: in the form of the wire, without media,
// and within bounds. The longest texts are cut first, and every value stays whole JSON.
import type { ChatChoice } from '../chat/chat-outcome.js';
import type {
  ChatMediaPart,
  ChatMessage,
  ChatPart,
  ChatRequest,
  ChatTool,
  ChatToolCall,
  JsonObject,
  JsonValue,
} from '../chat/chat-request.js';
import { boundedText } from '../text/bounded-text.js';
import { keepText, levelOf, MAX_ROOM } from '../text/kept-text.js';

export type ContentPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image_url'; readonly image_url: { readonly url: string } }
  | { readonly type: 'video_url'; readonly video_url: { readonly url: string } };

export interface ContentToolCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
}

export interface ContentMessage {
  readonly role: string;
  readonly content: string | readonly ContentPart[] | null;
  readonly tool_calls?: readonly ContentToolCall[];
  readonly tool_call_id?: string;
  readonly name?: string;
}

export interface ChatContent {
  readonly messages: readonly ContentMessage[];
  /** Definitions as the caller sent them: `{type: "function", function: {name, description, parameters, strict}}`. */
  readonly tools: readonly JsonObject[];
  readonly stop: readonly string[];
  /** The schema of the answer; null: none. */
  readonly responseSchema: JsonValue;
  readonly choices: readonly ChatChoice[];
  readonly isOutputTruncated: boolean;
}

// Entries (messages, parts, calls, choices), each with its overhead in JSON: many short ones take at most half the room.
const MAX_ENTRIES = 1_024;
const ENTRY_BYTES = 128;
// Parts of one message or answer.
const MAX_PARTS = 500;
// Bytes of the definitions of tools and of the schema as JSON: a part of them would not be a schema.
const MAX_TOOLS_BYTES = 64 * 1024;
const MAX_TOOLS = 128;
const MAX_SCHEMA_BYTES = 16 * 1024;
const MAX_STOPS = 4;
const MAX_STOP_LENGTH = 256;
// Characters. Longer addresses are named by their length.
const MAX_URL_LENGTH = 2_048;
const MAX_ID_LENGTH = 256;

type TextMap = (text: string) => string;
const unchanged: TextMap = (text) => text;

export function keepChat(
  request: ChatRequest,
  choices: readonly ChatChoice[],
): { readonly content: ChatContent; readonly isInputTruncated: boolean } {
  const tools = keepTools(request.tools);
  const schema = keepSchema(request.responseSchema);
  const input = keepWithin(MAX_ROOM - tools.bytes - schema.bytes, {
    entries: entriesWithin(request.messages, entriesOfMessage),
    write: (messages, map) => messages.map((message) => toContentMessage(message, map)),
  });
  const output = keepWithin(MAX_ROOM, {
    entries: entriesWithin(choices, ({ toolCalls }) => 1 + toolCalls.length),
    write: (kept, map) => kept.map((choice) => mapChoice(choice, map, map)),
  });
  const content: ChatContent = {
    messages: input.items,
    tools: tools.item,
    stop: stopsOf(request),
    responseSchema: schema.item,
    choices: output.items,
    isOutputTruncated: !output.isWhole,
  };
  return { content, isInputTruncated: !(input.isWhole && tools.isWhole && schema.isWhole) };
}

/** All texts of messages and answers changed by `map`; ids, names and roles stay. */
export function mapTexts(content: ChatContent, map: TextMap): Pick<ChatContent, 'messages' | 'choices'> {
  return {
    messages: content.messages.map((message) => mapMessage(message, map)),
    choices: content.choices.map((choice) => mapChoice(choice, map, unchanged)),
  };
}

/** The first and the last of a list: the beginning of a conversation and its latest part. */
export function ends<Item>(list: readonly Item[], most: number): readonly Item[] {
  if (list.length <= most) return list;
  const first = Math.ceil(most / 2);
  return [...list.slice(0, first), ...list.slice(list.length - (most - first))];
}

interface Bounded<Item, Written> {
  readonly entries: { readonly items: readonly Item[]; readonly count: number; readonly isWhole: boolean };
  readonly write: (items: readonly Item[], map: TextMap) => readonly Written[];
}

function keepWithin<Item, Written>(
  room: number,
  { entries, write }: Bounded<Item, Written>,
): { readonly items: readonly Written[]; readonly isWhole: boolean } {
  const sizes: number[] = [];
  const whole = write(entries.items, (text) => {
    // A longer text is cut in any case, and need not be measured.
    sizes.push(text.length > room ? text.length : Buffer.byteLength(text));
    return text.toWellFormed();
  });
  const level = levelOf(sizes, room - entries.count * ENTRY_BYTES);
  if (level === Infinity) return { items: whole, isWhole: entries.isWhole };
  return { items: write(entries.items, (text) => keepText(text, level).item), isWhole: false };
}

/** Takes items from both ends while there is room for their entries. */
function entriesWithin<Item>(
  items: readonly Item[],
  entriesOf: (item: Item) => number,
): Bounded<Item, never>['entries'] {
  const total = items.reduce((sum, item) => sum + Math.min(entriesOf(item), 2 * MAX_PARTS + 1), 0);
  if (total <= MAX_ENTRIES) return { items, count: total, isWhole: true };
  let most = Math.min(items.length, MAX_ENTRIES);
  for (;;) {
    const kept = ends(items, most);
    const count = kept.reduce((sum, item) => sum + Math.min(entriesOf(item), 2 * MAX_PARTS + 1), 0);
    if (count <= MAX_ENTRIES || most <= 1)
      return { items: kept, count: Math.min(count, MAX_ENTRIES), isWhole: false };
    most = Math.floor(most / 2);
  }
}

const entriesOfMessage = ({ content, toolCalls }: ChatMessage): number =>
  1 + toolCalls.length + (Array.isArray(content) ? content.length : 0);

function toContentMessage(
  { role, content, toolCalls, toolCallId, name }: ChatMessage,
  map: TextMap,
): ContentMessage {
  return {
    role,
    content: contentOf(content, map),
    ...(toolCalls.length === 0 ? {} : { tool_calls: keptCalls(toolCalls, map, map).map(toContentCall) }),
    ...(toolCallId === null ? {} : { tool_call_id: map(boundedText(toolCallId, MAX_ID_LENGTH)) }),
    ...(name === null ? {} : { name: map(boundedText(name, MAX_ID_LENGTH)) }),
  };
}

function contentOf(content: ChatMessage['content'], map: TextMap): ContentMessage['content'] {
  if (content === null) return null;
  return typeof content === 'string'
    ? map(content)
    : content.slice(0, MAX_PARTS).map((part) => toContentPart(part, map));
}

/** Media become a text: they are never stored and never leave in a trace. Public addresses stay. */
function toContentPart(part: ChatPart, map: TextMap): ContentPart {
  if (part.type === 'text') return { type: 'text', text: map(part.text) };
  if (part.type === 'unknown') return { type: 'text', text: `[${boundedText(part.name, 100)}]` };
  const { type, url } = part;
  if (url !== null && url.length <= MAX_URL_LENGTH && /^https:/i.test(url)) {
    const address = { url: map(url) };
    if (type === 'image') return { type: 'image_url', image_url: address };
    if (type === 'video') return { type: 'video_url', video_url: address };
  }
  return { type: 'text', text: mediaInWords(part) };
}

function mediaInWords({ type, mediaType, detail, url, bytes }: ChatMediaPart): string {
  const name = boundedText(
    mediaType ?? (type === 'audio' && detail !== null ? `audio/${detail}` : type),
    100,
  );
  return url === null ? `[${name}, ${bytes} bytes]` : `[${name}, an address of ${url.length} characters]`;
}

function keptCalls(calls: readonly ChatToolCall[], map: TextMap, mapId: TextMap): readonly ChatToolCall[] {
  return calls.slice(0, MAX_PARTS).map((call) => ({
    id: mapId(boundedText(call.id, MAX_ID_LENGTH)),
    name: mapId(boundedText(call.name, MAX_ID_LENGTH)),
    arguments: map(call.arguments),
  }));
}

/** A call in the form of the wire. */
export function toContentCall({ id, name, arguments: text }: ChatToolCall): ContentToolCall {
  return { id, type: 'function', function: { name, arguments: text } };
}

function mapChoice(choice: ChatChoice, map: TextMap, mapId: TextMap): ChatChoice {
  return {
    index: choice.index,
    content: choice.content === null ? null : map(choice.content),
    reasoning: choice.reasoning === null ? null : map(choice.reasoning),
    refusal: choice.refusal === null ? null : map(choice.refusal),
    toolCalls: keptCalls(choice.toolCalls, map, mapId),
    finishReason: choice.finishReason && boundedText(choice.finishReason, MAX_ID_LENGTH),
    nativeFinishReason: choice.nativeFinishReason && boundedText(choice.nativeFinishReason, MAX_ID_LENGTH),
  };
}

function mapMessage(message: ContentMessage, map: TextMap): ContentMessage {
  const { content, tool_calls: calls } = message;
  const mapped =
    typeof content === 'string'
      ? map(content)
      : (content?.map((part): ContentPart =>
          part.type === 'text' ? { type: 'text', text: map(part.text) } : part,
        ) ?? null);
  return {
    ...message,
    content: mapped,
    ...(calls && {
      tool_calls: calls.map(({ id, function: { name, arguments: text } }) =>
        toContentCall({ id, name, arguments: map(text) }),
      ),
    }),
  };
}

interface KeptJson<Item> {
  readonly item: Item;
  readonly bytes: number;
  readonly isWhole: boolean;
}

/** Whole definitions while there is room, then names only. */
function keepTools(tools: readonly ChatTool[]): KeptJson<readonly JsonObject[]> {
  let bytes = 0;
  let isWhole = tools.length <= MAX_TOOLS;
  const item = tools.slice(0, MAX_TOOLS).map(({ name, body }): JsonObject => {
    const definition = { type: 'function', function: body['function'] ?? { name } };
    const size = Buffer.byteLength(JSON.stringify(definition));
    if (bytes + size <= MAX_TOOLS_BYTES) {
      bytes += size;
      return definition;
    }
    isWhole = false;
    bytes += ENTRY_BYTES;
    return { type: 'function', function: { name: boundedText(name, MAX_ID_LENGTH) } };
  });
  return { item, bytes, isWhole };
}

function keepSchema(schema: JsonValue): KeptJson<JsonValue> {
  if (schema === null) return { item: null, bytes: 0, isWhole: true };
  const bytes = Buffer.byteLength(JSON.stringify(schema));
  return bytes <= MAX_SCHEMA_BYTES
    ? { item: schema, bytes, isWhole: true }
    : { item: null, bytes: 0, isWhole: false };
}

function stopsOf({ members }: ChatRequest): readonly string[] {
  const json = members.get('stop')?.toString();
  if (json === undefined) return [];
  const stops = [JSON.parse(json) as JsonValue].flat();
  return stops
    .filter((stop) => typeof stop === 'string')
    .slice(0, MAX_STOPS)
    .map((stop) => boundedText(stop, MAX_STOP_LENGTH));
}
