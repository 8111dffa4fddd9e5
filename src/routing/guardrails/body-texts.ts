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

/** Settings and labels that no model reads. */
const SETTINGS: ReadonlySet<string> = new Set([
  'model',
  'models',
  'route',
  'provider',
  'preset',
  'plugins',
  'transforms',
  'stream',
  'stream_options',
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
  'include',
  'previous_response_id',
  'conversation',
  'modalities',
  'reasoning',
  'reasoning_effort',
  'thinking',
  'output_config',
  'truncation',
  'encoding_format',
  'input_type',
  'cache_control',
]);
/** Inside messages, items and tools. */
const LABELS: ReadonlySet<string> = new Set([
  'type',
  'role',
  'id',
  'tool_call_id',
  'tool_use_id',
  'call_id',
  'cache_control',
  'detail',
  'format',
  'status',
  'signature',
  'encrypted_content',
  'media_type',
  'mime_type',
]);
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
const FORMS: ReadonlySet<string> = new Set(['tools', 'tool_choice', 'response_format', 'text', 'prediction']);
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
export const MAX_DEPTH = 128;

interface Place {
  readonly path: BodyPath;
  /** The nearest name of a member. */
  readonly name: string;
  readonly isConversation: boolean;
  readonly isBound: boolean;
  readonly isFree: boolean;
  readonly isUser: boolean;
}

export function textsOfBody(body: Readonly<Record<string, unknown>>): BodyTexts {
  const reader = new BodyReader();
  for (const [name, value] of Object.entries(body)) {
    if (SETTINGS.has(name)) continue;
    const isConversation = CONVERSATION.has(name);
    reader.read(value, {
      path: [name],
      name,
      isConversation,
      isBound: false,
      isFree: !isConversation && !FORMS.has(name),
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

  private text(text: string, { path, name, isConversation, isBound, isFree, isUser }: Place): void {
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
    const isMedia = !place.isFree && typeof type === 'string' && MEDIA.test(type);
    const isUser = typeof role === 'string' ? role === 'user' : place.isUser;
    const isBound = place.isBound || (!place.isFree && typeof members['signature'] === 'string');
    for (const [name, value] of Object.entries(members)) {
      const path = [...place.path, name];
      if (place.isFree) {
        if (!SCHEMA_WORDS.has(name)) this.texts.push({ path: place.path, text: name, kind: 'fixed', isUser });
        if (name !== 'type' || place.isConversation) this.read(value, { ...place, path, isUser });
        continue;
      }
      if (typeof value === 'string' && (LABELS.has(name) || (name === 'data' && ENCRYPTED.has(type))))
        continue;
      if (isMedia && isMediaMember(name, value)) {
        this.unscannable ??= place.path;
        continue;
      }
      // The input of a tool call is an object of any members; elsewhere it is a text or a list.
      const isFree = SCHEMAS.has(name) || (name === 'input' && type === 'tool_use');
      const shown = name === 'data' && type === 'text' ? 'text' : name;
      this.read(value, { ...place, path, name: shown, isUser, isFree, isBound: isBound || BOUND.has(name) });
    }
  }
}

type Members = Readonly<Record<string, unknown>>;

/** Data and addresses; a document may be a text. */
function isMediaMember(name: string, value: unknown): boolean {
  if (name === 'source' && typeof value === 'object' && value !== null)
    return !['text', 'content'].includes(String((value as Members)['type']));
  return !['text', 'content', 'title', 'context', 'name', 'filename', 'citations'].includes(name);
}
