// Edits inside messages and tools that a wire needs. Without an edit the caller's own bytes are sent.
import type { ChatEndpoint } from '../../../domain/chat/chat-model.js';
import type { ChatMessage, ChatTool, JsonObject, JsonValue } from '../../../domain/chat/chat-request.js';
import type { ChatCall } from '../chat-wire.js';
import { withSignedCalls } from './call-signatures.js';
import { schemaOf } from './chat-members.js';
import type { ChatTraits } from './chat-traits.js';
import { isArray, isObject } from './json-values.js';

const REASONING_MEMBERS = ['reasoning', 'reasoning_content', 'reasoning_details'];
const CACHE_MEMBERS = ['cache_control', 'prompt_cache_breakpoint'];
/** Members that every wire knows. */
const COMMON_MEMBERS = ['role', 'content', 'tool_calls', 'tool_call_id'];
/** Members of a tool and of its function that a closed schema takes. */
const TOOL_MEMBERS = ['type', 'function'];
const FUNCTION_MEMBERS = ['name', 'description', 'parameters', 'strict'];
/** The same of the function of a tool call. */
const CALLED_MEMBERS = ['name', 'arguments'];
/** The schema of a function that takes nothing. */
const NO_PARAMETERS: JsonObject = { type: 'object', properties: {} };

/** Null: nothing changes. */
export function editMessages(
  { request, endpoint }: ChatCall,
  traits: ChatTraits,
  edits: Set<string>,
): readonly JsonObject[] | null {
  const editor = new MessageEditor(traits, endpoint, edits);
  const { messages } = request;
  const edited = messages.map((message, index) => editor.edit(message, index === messages.length - 1));
  return edited.every((body, index) => body === messages[index]?.body) ? null : edited;
}

/** Null: nothing changes. */
export function editTools(
  { request, endpoint }: ChatCall,
  traits: ChatTraits,
  edits: Set<string>,
): readonly JsonObject[] | null {
  const { dropsStrict, needsParameters } = traits;
  const takesCache = endpoint.supportedParameters.includes('cache_control');
  const isClosed = schemaOf(endpoint, traits) === 'closed';
  const pruned = (body: JsonObject, known: readonly string[], path: string): JsonObject => {
    const kept = takesCache ? body : without(body, CACHE_MEMBERS, path, edits);
    if (!isClosed) return kept;
    return only(kept, takesCache ? [...known, ...CACHE_MEMBERS] : known, path, edits);
  };
  const editFunction = (definition: JsonObject): JsonObject => {
    const taken = dropsStrict ? without(definition, ['strict'], 'tools', edits) : definition;
    const kept = withoutEmpty(pruned(taken, FUNCTION_MEMBERS, 'tools.function'));
    return needsParameters && !isObject(kept['parameters']) ? { ...kept, parameters: NO_PARAMETERS } : kept;
  };
  const edited = request.tools.map(({ body }: ChatTool) =>
    withEditedObject(withoutEmpty(pruned(body, TOOL_MEMBERS, 'tools')), 'function', editFunction),
  );
  return edited.every((body, index) => body === request.tools[index]?.body) ? null : edited;
}

class MessageEditor {
  private readonly takesCacheControl: boolean;

  constructor(
    private readonly traits: ChatTraits,
    private readonly endpoint: ChatEndpoint,
    private readonly edits: Set<string>,
  ) {
    this.takesCacheControl = endpoint.supportedParameters.includes('cache_control');
  }

  edit(message: ChatMessage, isLast: boolean): JsonObject {
    const { developerRole, prefill } = this.traits.messages;
    let body = withoutEmpty(this.withoutRefusedMembers(message));
    if (message.role === 'developer' && developerRole === 'system') body = { ...body, role: 'system' };
    if (isLast && prefill && message.role === 'assistant') body = { ...body, ...prefill };
    return this.withToolIds(this.withEditedParts(body));
  }

  private withoutRefusedMembers({ role, body: sent }: ChatMessage): JsonObject {
    const { callSignatures } = this.traits;
    const body = callSignatures ? withSignedCalls(sent, callSignatures, this.endpoint) : sent;
    const { names, reasoning, members } = this.traits.messages;
    const takesName = names === 'all' || (names === 'tool' && role === 'tool');
    const refused = [
      ...(takesName ? [] : ['name']),
      ...REASONING_MEMBERS.filter((name) => !reasoning.includes(name)),
      ...(this.takesCacheControl ? [] : CACHE_MEMBERS),
    ];
    const kept = without(body, refused, 'messages', this.edits);
    if (!members) return kept;
    const known = [...COMMON_MEMBERS, ...members, ...reasoning, ...(takesName ? ['name'] : [])];
    return only(kept, known, 'messages', this.edits);
  }

  private withEditedParts(body: JsonObject): JsonObject {
    const { content } = body;
    if (!isArray(content)) return body;
    const edited = content.map((part) => (isObject(part) ? this.editPart(part) : part));
    return edited.every((part, index) => part === content[index]) ? body : { ...body, content: edited };
  }

  private editPart(part: JsonObject): JsonObject {
    const kept = withoutEmpty(
      this.takesCacheControl ? part : without(part, CACHE_MEMBERS, 'messages', this.edits),
    );
    const { type } = kept;
    if (typeof type !== 'string') return kept;
    // Media are in a member with the name of the type.
    return withEditedObject(kept, type, (media) => this.editMedia(type, withoutEmpty(media)));
  }

  private editMedia(type: string, media: JsonObject): JsonObject {
    const isEdited = type === 'image_url' && !this.traits.messages.takesOriginalDetail;
    return isEdited && media['detail'] === 'original' ? { ...media, detail: 'high' } : media;
  }

  private withToolIds(body: JsonObject): JsonObject {
    const { toolCallId } = this.traits;
    const { toolCallMembers } = this.traits.messages;
    const { tool_calls: calls, tool_call_id: answered } = body;
    let edited = body;
    if (toolCallId && typeof answered === 'string' && toolCallId(answered) !== answered)
      edited = { ...edited, tool_call_id: toolCallId(answered) };
    if (!isArray(calls)) return edited;
    const editedCalls = calls.map((call) => {
      if (!isObject(call)) return call;
      const kept = withoutEmpty(toolCallMembers ? this.knownOfCall(call, toolCallMembers) : call);
      const { id } = kept;
      if (!toolCallId || typeof id !== 'string' || toolCallId(id) === id) return kept;
      return { ...kept, id: toolCallId(id) };
    });
    return editedCalls.every((call, index) => call === calls[index])
      ? edited
      : { ...edited, tool_calls: editedCalls };
  }

  private knownOfCall(call: JsonObject, known: readonly string[]): JsonObject {
    const kept = only(call, known, 'messages.tool_calls', this.edits);
    return withEditedObject(kept, 'function', (called) =>
      only(called, CALLED_MEMBERS, 'messages.tool_calls.function', this.edits),
    );
  }
}

/** The same object when it has none of the names. Null members are lost without a record: they mean nothing. */
function without(body: JsonObject, names: readonly string[], path: string, edits: Set<string>): JsonObject {
  return filtered(body, (name) => !names.includes(name), path, edits);
}

function only(body: JsonObject, names: readonly string[], path: string, edits: Set<string>): JsonObject {
  return filtered(body, (name) => names.includes(name), path, edits);
}

function filtered(
  body: JsonObject,
  isKept: (name: string) => boolean,
  path: string,
  edits: Set<string>,
): JsonObject {
  const dropped = Object.keys(body).filter((name) => !isKept(name));
  if (dropped.length === 0) return body;
  for (const name of dropped) if (body[name] !== null) edits.add(`${path}.${name}`);
  return Object.fromEntries(Object.entries(body).filter(([name]) => isKept(name)));
}

/**
 * The same object when it has no empty member. Callers may send them as absent (docs/contract.md#chat-request), but many
 * providers refuse them.
 */
function withoutEmpty(body: JsonObject): JsonObject {
  const members = Object.entries(body);
  const given = members.filter(([name, value]) => !isEmpty(name, value));
  return given.length === members.length ? body : Object.fromEntries(given);
}

/** The content of an assistant that only calls tools is null, not absent. */
function isEmpty(name: string, value: JsonValue): boolean {
  if (value === null) return name !== 'content';
  return name === 'tool_calls' && isArray(value) && value.length === 0;
}

/** The same object when the edit changes nothing, or the member is no object. */
function withEditedObject(
  body: JsonObject,
  name: string,
  edit: (value: JsonObject) => JsonObject,
): JsonObject {
  const value = body[name];
  if (!isObject(value)) return body;
  const edited = edit(value);
  return edited === value ? body : { ...body, [name]: edited };
}
