// Edits inside messages and tools that a wire needs. Without an edit the caller's own bytes are sent.
import type { ChatEndpoint } from '../../../domain/chat/chat-model.js';
import type { ChatMessage, ChatTool, JsonObject } from '../../../domain/chat/chat-request.js';
import type { ChatCall } from '../chat-wire.js';
import { withSignedCalls } from './call-signatures.js';
import { withReasoningAs } from './earlier-reasoning.js';
import type { ChatTraits } from './chat-traits.js';
import { isObject } from '../../../domain/members.js';
import { MemberFilter, withEditedList, withEditedObject, withoutEmpty } from './member-filter.js';

/** Members that every wire knows. */
const MESSAGE_MEMBERS = ['role', 'content', 'tool_calls', 'tool_call_id'];
const TOOL_MEMBERS = ['type', 'function'];
const FUNCTION_MEMBERS = ['name', 'description', 'parameters', 'strict'];
const TOOL_CALL_MEMBERS = ['id', 'type', 'function'];
const CALLED_MEMBERS = ['name', 'arguments'];
/** Media are in a member with the name of the type. */
const MEDIA_MEMBERS: Readonly<Record<string, readonly string[]>> = {
  image_url: ['url', 'detail'],
  input_audio: ['data', 'format'],
  file: ['file_data', 'filename'],
  video_url: ['url'],
  input_video: ['url'],
};
/** The schema of a function that takes nothing. */
const NO_PARAMETERS: JsonObject = { type: 'object', properties: {} };

type EditedCall = Pick<ChatCall, 'request' | 'endpoint'>;

/** Null: nothing changes. */
export function editMessages(
  { request, endpoint }: EditedCall,
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
  { request, endpoint }: EditedCall,
  { dropsStrict, needsParameters }: ChatTraits,
  edits: Set<string>,
): readonly JsonObject[] | null {
  const filter = new MemberFilter(endpoint, edits);
  const functionMembers = dropsStrict
    ? FUNCTION_MEMBERS.filter((name) => name !== 'strict')
    : FUNCTION_MEMBERS;
  const pruned = (body: JsonObject, known: readonly string[], path: string): JsonObject =>
    withoutEmpty(filter.only(body, [...known, ...filter.cacheMembers], path));
  const editFunction = (definition: JsonObject): JsonObject => {
    const kept = pruned(definition, functionMembers, 'tools.function');
    return needsParameters && !isObject(kept['parameters']) ? { ...kept, parameters: NO_PARAMETERS } : kept;
  };
  const edited = request.tools.map(({ body }: ChatTool) =>
    withEditedObject(pruned(body, TOOL_MEMBERS, 'tools'), 'function', editFunction),
  );
  return edited.every((body, index) => body === request.tools[index]?.body) ? null : edited;
}

class MessageEditor {
  private readonly filter: MemberFilter;

  constructor(
    private readonly traits: ChatTraits,
    private readonly endpoint: ChatEndpoint,
    edits: Set<string>,
  ) {
    this.filter = new MemberFilter(endpoint, edits);
  }

  edit(message: ChatMessage, isLast: boolean): JsonObject {
    const { developerRole, prefill } = this.traits.messages;
    let body = withoutEmpty(this.withKnownMembers(message));
    if (message.role === 'developer' && developerRole === 'system') body = { ...body, role: 'system' };
    if (isLast && prefill && message.role === 'assistant') body = { ...body, ...prefill };
    return this.withToolIds(withEditedList(body, 'content', (part) => this.editPart(part)));
  }

  private withKnownMembers({ role, body: sent }: ChatMessage): JsonObject {
    const { callSignatures } = this.traits;
    const signed = callSignatures ? withSignedCalls(sent, callSignatures, this.endpoint) : sent;
    const body = this.traits.messages.takesRefusals ? signed : withRefusalAsContent(signed);
    const { names, takesRefusals, members = [] } = this.traits.messages;
    const reasoning = this.endpoint.wire?.reasoningMember ?? this.traits.messages.reasoning;
    const takesName = names === 'all' || (names === 'tool' && role === 'tool');
    const known = [
      ...MESSAGE_MEMBERS,
      ...members,
      ...this.filter.cacheMembers,
      ...(takesName ? ['name'] : []),
      ...(takesRefusals ? ['refusal'] : []),
      ...(reasoning === null ? [] : [reasoning]),
    ];
    return this.filter.only(reasoning === null ? body : withReasoningAs(reasoning, body), known, 'messages');
  }

  private editPart(sent: JsonObject): JsonObject {
    const part = this.traits.messages.takesRefusals ? sent : withRefusalAsText(sent);
    const { type } = part;
    if (typeof type !== 'string') return part;
    const path = 'messages.content';
    const kept = withoutEmpty(this.filter.only(part, ['type', type, ...this.filter.cacheMembers], path));
    const known = Object.hasOwn(MEDIA_MEMBERS, type) ? (MEDIA_MEMBERS[type] ?? []) : [];
    return withEditedObject(kept, type, (media) =>
      this.editMedia(type, withoutEmpty(this.filter.only(media, known, `${path}.${type}`))),
    );
  }

  private editMedia(type: string, media: JsonObject): JsonObject {
    const isEdited = type === 'image_url' && !this.traits.messages.takesOriginalDetail;
    return isEdited && media['detail'] === 'original' ? { ...media, detail: 'high' } : media;
  }

  private withToolIds(body: JsonObject): JsonObject {
    const { toolCallId } = this.traits;
    const { tool_call_id: answered } = body;
    const isReplaced = toolCallId && typeof answered === 'string' && toolCallId(answered) !== answered;
    const edited = isReplaced ? { ...body, tool_call_id: toolCallId(answered) } : body;
    return withEditedList(edited, 'tool_calls', (call) => {
      const kept = withoutEmpty(this.knownOfCall(call));
      const { id } = kept;
      if (!toolCallId || typeof id !== 'string' || toolCallId(id) === id) return kept;
      return { ...kept, id: toolCallId(id) };
    });
  }

  private knownOfCall(call: JsonObject): JsonObject {
    const { toolCallMembers = [] } = this.traits.messages;
    const kept = this.filter.only(call, [...TOOL_CALL_MEMBERS, ...toolCallMembers], 'messages.tool_calls');
    return withEditedObject(kept, 'function', (called) =>
      this.filter.only(called, CALLED_MEMBERS, 'messages.tool_calls.function'),
    );
  }
}

/** Many servers know no refusals, and an assistant's message without content is invalid at some. */
function withRefusalAsContent(body: JsonObject): JsonObject {
  const { refusal, content, ...others } = body;
  const isContent = typeof refusal === 'string' && (content ?? '') === '';
  return isContent ? { ...others, content: refusal } : body;
}

function withRefusalAsText(part: JsonObject): JsonObject {
  const { refusal, ...others } = part;
  return part['type'] === 'refusal' && typeof refusal === 'string'
    ? { ...others, type: 'text', text: refusal }
    : part;
}
