// The texts of the body of a call of any operation and wire, after JSON has been decoded: everything that a provider can read
// (docs/contract.md#guardrails). Members that this service reads itself, and identifiers, are none of them.
import { AppError } from '../../domain/errors.js';
import { memberPath } from '../../domain/text/member-path.js';

export type BodyPath = readonly (string | number)[];

/**
 * text: matches can be replaced. json: the text of a JSON document, in whose strings matches can be replaced. fixed: an edit would
 * break the call.
 */
export type TextKind = 'text' | 'json' | 'fixed';

export interface BodyText {
  readonly path: BodyPath;
  readonly text: string;
  readonly kind: TextKind;
  /** Of a message of the user, or of a call without messages. */
  readonly isUser: boolean;
}

export interface BodyTexts {
  readonly texts: readonly BodyText[];
  /** The first part that patterns cannot read: media, files, addresses, tokens. */
  readonly unscannable: BodyPath | null;
  /** Tokens are texts in another form. */
  readonly tokens: BodyPath | null;
}

/** Settings and labels that no model reads, some of them with texts of the caller. */
const SETTINGS: ReadonlySet<string> = new Set([
  'model',
  'models',
  'route',
  'provider',
  'preset',
  'plugins',
  'stream',
  'usage',
  'user',
  'session_id',
  'trace',
  'metadata',
  'service_tier',
  'prompt_cache_key',
  'prompt_cache_retention',
  'safety_identifier',
  'store',
  'background',
  'previous_response_id',
  'conversation',
  'encoding_format',
]);
/** Members of a few words each: a filter for such a word must not refuse every call. Any other text in them is read. */
const WORDS: ReadonlySet<string> = new Set([
  'type',
  'role',
  'detail',
  'format',
  'status',
  'effort',
  'summary',
  'display',
  'tool_choice',
  'reasoning_effort',
  'verbosity',
  'modalities',
  'include',
  'truncation',
  'transforms',
  'input_type',
]);
const WORD = /^[a-z][a-z_.-]{0,39}$/;
const IDENTIFIERS: ReadonlySet<string> = new Set(['id', 'tool_call_id', 'tool_use_id', 'call_id']);
const IDENTIFIER = /^[\w-]{1,64}$/;
const MEDIA_TYPES: ReadonlySet<string> = new Set(['media_type', 'mime_type']);
const MEDIA_TYPE = /^[a-z]+\/[a-z0-9.+-]{1,80}$/;
/** Made by providers, which check them. */
const SEALED: ReadonlySet<string> = new Set(['signature', 'encrypted_content']);
const SEAL = /^[\w+/=.-]*$/;
/** Members whose strings a provider reads as texts of the conversation. */
const CONVERSATION: ReadonlySet<string> = new Set([
  'messages',
  'input',
  'instructions',
  'system',
  'query',
  'documents',
]);
const EDITABLE: ReadonlySet<string> = new Set([
  'content',
  'text',
  'output',
  'input',
  'instructions',
  'system',
  'query',
  'documents',
]);
/** Signed, or bound to an encrypted form. */
const BOUND: ReadonlySet<string> = new Set([
  'reasoning_details',
  'thinking',
  'reasoning',
  'reasoning_content',
]);
/** Of known forms, unlike members that are unknown here. */
const FORMS: ReadonlySet<string> = new Set([
  'tools',
  'tool_choice',
  'response_format',
  'output_config',
  'text',
  'prediction',
  'reasoning',
  'thinking',
  'stream_options',
  'cache_control',
]);
/** Schemas: members of any name, whose names are texts as well. */
const SCHEMAS: ReadonlySet<string> = new Set(['parameters', 'input_schema', 'schema']);
const SCHEMA_WORDS: ReadonlySet<string> = new Set([
  'type',
  'properties',
  'required',
  'description',
  'title',
  'items',
  'enum',
  'const',
  'default',
  'format',
  'pattern',
  'anyOf',
  'oneOf',
  'allOf',
  'additionalProperties',
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'strict',
  '$ref',
  '$defs',
  'definitions',
]);
const ENCRYPTED: ReadonlySet<unknown> = new Set(['redacted_thinking', 'reasoning.encrypted']);
const MEDIA = /^(?:input_)?(?:image|audio|video|file)(?:_url)?$|^document$/;
/** Members of media with data, addresses or names of stored files. */
const PAYLOADS = /^(?:data|url|uri|source|(?:input_)?(?:image|audio|video|file)(?:_(?:url|uri|data|id))?)$/;
export const MAX_DEPTH = 128;

interface Place {
  readonly path: BodyPath;
  /** The nearest name of a member. */
  readonly name: string;
  readonly isConversation: boolean;
  readonly isBound: boolean;
  readonly isFree: boolean;
  readonly isMedia: boolean;
  readonly isUser: boolean;
}

export function textsOfBody(body: Readonly<Record<string, unknown>>): BodyTexts {
  const reader = new BodyReader();
  for (const [name, value] of Object.entries(body)) {
    if (SETTINGS.has(name)) continue;
    const isConversation = CONVERSATION.has(name);
    reader.readName(name, []);
    reader.read(value, {
      path: [name],
      name,
      isConversation,
      isBound: false,
      isFree: !isConversation && !FORMS.has(name),
      isMedia: false,
      isUser: name !== 'system' && name !== 'instructions',
    });
  }
  return reader;
}

class BodyReader implements BodyTexts {
  readonly texts: BodyText[] = [];
  unscannable: BodyPath | null = null;
  tokens: BodyPath | null = null;

  read(value: unknown, place: Place): void {
    if (place.path.length > MAX_DEPTH)
      throw new AppError('invalid_request', {
        detail: `${memberPath(place.path.slice(0, 1))}: is nested too deeply`,
      });
    if (typeof value === 'string') this.text(value, place);
    else if (Array.isArray(value)) this.list(value as readonly unknown[], place);
    else if (typeof value === 'object' && value !== null) this.object(value as Members, place);
  }

  /** Providers of the caller's wire receive members of any name. */
  readName(name: string, path: BodyPath, isUser = true): void {
    if (!NAME.test(name)) this.texts.push({ path, text: name, kind: 'fixed', isUser });
  }

  private text(text: string, place: Place): void {
    const { path, name, isConversation, isBound, isFree, isUser } = place;
    if (isLabel(text, place)) return;
    const isEditable = isConversation && !isBound && (isFree || EDITABLE.has(name));
    const kind = isConversation && name === 'arguments' ? 'json' : isEditable ? 'text' : 'fixed';
    this.texts.push({ path, text, kind, isUser });
  }

  private list(values: readonly unknown[], place: Place): void {
    if (place.path[0] === 'input' && place.path.length < 3 && typeof values[0] === 'number') {
      this.tokens ??= place.path;
      return;
    }
    for (const [index, value] of values.entries())
      this.read(value, { ...place, path: [...place.path, index] });
  }

  private object(members: Members, place: Place): void {
    const { type, role } = members;
    const isUser = typeof role === 'string' ? role === 'user' : place.isUser;
    if (place.isFree) this.free(members, { ...place, isUser });
    else this.form(members, { ...place, isUser, isMedia: place.isMedia || isMediaOf(type) });
  }

  /** With members of any name, whose names are texts as well. */
  private free(members: Members, place: Place): void {
    for (const [name, value] of Object.entries(members)) {
      if (!SCHEMA_WORDS.has(name))
        this.texts.push({ path: place.path, text: name, kind: 'fixed', isUser: place.isUser });
      this.read(value, { ...place, path: [...place.path, name] });
    }
  }

  /** Of a wire. */
  private form(members: Members, place: Place): void {
    const { type } = members;
    const isBound = place.isBound || typeof members['signature'] === 'string';
    for (const [name, value] of Object.entries(members)) {
      this.readName(name, place.path, place.isUser);
      const isSealed = SEALED.has(name) || (name === 'data' && ENCRYPTED.has(type));
      if (isSealed && typeof value === 'string' && SEAL.test(value)) continue;
      // The source of a document may be a text.
      const isText = type === 'text' || type === 'content';
      if (place.isMedia && !isText && PAYLOADS.test(name)) {
        if (typeof value === 'string') {
          this.unscannable ??= place.path;
          continue;
        }
        if (!isTextSource(value)) this.unscannable ??= place.path;
      }
      // The input of a tool call is an object of any members; elsewhere it is a text or a list.
      const isFree = SCHEMAS.has(name) || (name === 'input' && type === 'tool_use');
      const shown = name === 'data' && isText ? 'text' : name;
      this.read(value, {
        ...place,
        path: [...place.path, name],
        name: shown,
        isFree,
        isBound: isBound || BOUND.has(name),
      });
    }
  }
}

/** Names of the members of all wires. */
const NAME = /^[a-z][a-z0-9_]{0,39}$/;

/** Whether a member of a wire has one of the values that it is meant for. In a conversation, any member may be a text. */
function isLabel(text: string, { path, isFree, isConversation }: Place): boolean {
  const name = path.findLast((step) => typeof step === 'string') ?? '';
  if (isFree && (isConversation || name !== 'type')) return false;
  if (WORDS.has(name)) return WORD.test(text);
  if (IDENTIFIERS.has(name)) return IDENTIFIER.test(text);
  return MEDIA_TYPES.has(name) && MEDIA_TYPE.test(text);
}

function isMediaOf(type: unknown): boolean {
  return typeof type === 'string' && MEDIA.test(type);
}

function isTextSource(source: unknown): boolean {
  const type = typeof source === 'object' && source !== null ? (source as Members)['type'] : undefined;
  return type === 'text' || type === 'content';
}

type Members = Readonly<Record<string, unknown>>;
