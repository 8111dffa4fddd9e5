// The delta of a chunk's choice in Chat's wire, or the message of a whole answer's: role, texts, reasoning and tool calls.
import type { JsonObject } from '../../../domain/chat/chat-request.js';
import { OPEN_ARRAY } from '../../../json/json-cursor.js';
import { JsonShape } from '../../../json/json-shape.js';
import type { JsonNode } from '../../../json/json-node.js';
import { signatureDetail } from '../chat/call-signatures.js';
import type { ChatWire } from '../chat-wire.js';
import { BrokenAnswer } from '../provider.js';
import type { AnswerBlock, AnswerEvents, BlockKind } from './answer-events.js';
import { TOOL_CALL, ToolCalls } from './chat-tool-calls.js';
import type { CallIds } from './chat-tool-calls.js';
import { CONTENT_PART, contentOfParts } from './content-parts.js';

export const MESSAGE = new JsonShape(
  [
    'role',
    'content',
    'refusal',
    'reasoning',
    'reasoning_content',
    'reasoning_details',
    'tool_calls',
    'audio',
  ],
  { content: CONTENT_PART, tool_calls: TOOL_CALL },
);

export interface MessageRules {
  readonly wire: Pick<ChatWire, 'callSignatures'>;
  /** The answer carries no reasoning. */
  readonly excludesReasoning: boolean;
  /** A whole answer has messages, a chunk has deltas. */
  readonly isWhole: boolean;
}

/** One choice between its chunks. */
export class ChoiceState {
  hasBegun = false;
  hasFinished = false;
  /** Its last chunk has an empty finish reason: it ends the choice when the stream ends. */
  hasEmptyFinish = false;
  /** The open block of a text. */
  block: AnswerBlock | null = null;
  /** Signatures of its calls that have come. */
  signatureCount = 0;
  readonly calls: ToolCalls;

  constructor(
    readonly index: number,
    ids: CallIds,
    answer: AnswerEvents,
  ) {
    this.calls = new ToolCalls(index, ids, answer);
  }
}

const NONE: readonly null[] = [];
const NULL = Buffer.from('null');
const EMPTY_TEXT = Buffer.from('""');
const ASSISTANT = Buffer.from('"assistant"');
const EMPTY_DELTA = Buffer.from('{}');
const EMPTY_MESSAGE = Buffer.from('{"role":"assistant","content":null}');
const FIRST_DELTA = Buffer.from('{"role":"assistant","content":""}');

interface Places {
  role: number;
  content: number;
  refusal: number;
  reasoning: number;
  reasoningContent: number;
  toolCalls: number;
}

/** Shared by all messages: each is read without waiting. */
const PLACES: Places = {
  role: -1,
  content: -1,
  refusal: -1,
  reasoning: -1,
  reasoningContent: -1,
  toolCalls: -1,
};

export class MessageReader {
  /** Content, reasoning, a refusal or a tool call has come. */
  hasContent = false;
  /** Beside content: members that this service does not know. */
  hasMore = false;
  private hasDetails = false;

  constructor(
    private readonly rules: MessageRules,
    private readonly answer: AnswerEvents,
  ) {}

  /** `isEnded`: the choice has a finish reason. Google sends one without a message for a prompt that it blocks. */
  read(choice: JsonNode, state: ChoiceState, isEnded: boolean): void {
    const { isWhole } = this.rules;
    const name = isWhole ? 'message' : 'delta';
    const at = choice.find(name);
    const message = choice.child(at);
    if (message !== null && !message.isList) this.readMembers(message, state);
    else if (!choice.isNothing(at)) throw new BrokenAnswer(`${name} is not an object`);
    else if (isWhole && !isEnded) throw new BrokenAnswer('a choice has no message');
    else choice.set(name, isWhole ? EMPTY_MESSAGE : state.hasBegun ? EMPTY_DELTA : FIRST_DELTA);
  }

  private readMembers(message: JsonNode, state: ChoiceState): void {
    const at = this.places(message);
    this.readRole(message, state, at.role);
    this.readReasoning(message, state, at.reasoning, at.reasoningContent);
    // Before the calls: in wires with an order of blocks it comes first.
    const hasContent = this.readContent(message, state, at.content);
    this.text(state, 'refusal', message, at.refusal);
    const hasCalls = this.readToolCalls(message, state, at.toolCalls);
    if (!hasContent) this.completeContent(message, state, at.content, hasCalls);
  }

  /** Where the known members are; those that clients must not get are removed. */
  private places(message: JsonNode): Places {
    const { excludesReasoning } = this.rules;
    const places = PLACES;
    places.role = places.content = places.refusal = -1;
    places.reasoning = places.reasoningContent = places.toolCalls = -1;
    this.hasDetails = false;
    for (let at = 0; at < message.count; at++) {
      const isNull = message.isNull(at);
      switch (message.nameAt(at)) {
        case 'role':
          places.role = at;
          break;
        case 'content':
          places.content = at;
          break;
        case 'refusal':
          places.refusal = at;
          break;
        case 'reasoning':
          places.reasoning = at;
          if (excludesReasoning || !(isNull || message.isString(at))) message.removeAt(at);
          break;
        case 'reasoning_content':
          places.reasoningContent = at;
          if (excludesReasoning) message.removeAt(at);
          break;
        case 'reasoning_details':
          this.hasDetails = message.firstByte(at) === OPEN_ARRAY;
          this.hasContent ||= this.hasDetails && message.toOf(at) - message.fromOf(at) > 2;
          if (excludesReasoning || !this.hasDetails) message.removeAt(at);
          break;
        case 'tool_calls':
          places.toolCalls = at;
          if (isNull) message.removeAt(at);
          break;
        case 'audio':
          this.hasContent ||= !isNull;
          if (isNull) message.removeAt(at);
          break;
        default:
          this.hasMore ||= !isNull;
          if (message.isString(at)) this.answer.unread(message.toOf(at) - message.fromOf(at));
      }
    }
    return places;
  }

  /** With the first delta of a choice only: some clients join the roles of its deltas. */
  private readRole(message: JsonNode, { hasBegun }: ChoiceState, at: number): void {
    if (hasBegun && !this.rules.isWhole) {
      if (at !== -1) message.remove('role');
    } else if (!message.equals(at, ASSISTANT)) message.set('role', ASSISTANT);
  }

  /** Clients read `reasoning`, some read `reasoning_content`: both are sent where the provider sends the second. */
  private readReasoning(message: JsonNode, state: ChoiceState, own: number, other: number): void {
    const hasOwn = message.isString(own);
    this.text(state, 'reasoning', message, hasOwn ? own : other);
    if (!hasOwn && message.isString(other) && !this.rules.excludesReasoning)
      message.set('reasoning', message.raw(other));
  }

  /** Returns whether there is any. */
  private readContent(message: JsonNode, state: ChoiceState, at: number): boolean {
    const parts = message.child(at);
    if (message.isString(at)) this.text(state, 'text', message, at);
    else if (parts?.isList === true) this.readParts(message, parts, state);
    else if (message.isNothing(at)) return false;
    else throw new BrokenAnswer('content is neither a text nor a list of parts');
    return true;
  }

  private completeContent(message: JsonNode, state: ChoiceState, at: number, hasCalls: boolean): void {
    if (this.rules.isWhole) {
      if (at === -1) message.set('content', NULL);
    } else if (!state.hasBegun && !hasCalls) message.set('content', EMPTY_TEXT);
  }

  private readParts(message: JsonNode, parts: JsonNode, state: ChoiceState): void {
    const { text, reasoning } = contentOfParts(parts);
    this.spelled(state, 'reasoning', reasoning, 1, reasoning.length - 1);
    this.spelled(state, 'text', text, 1, text.length - 1);
    message.set('content', text);
    if (reasoning.length > 2 && !this.rules.excludesReasoning) message.set('reasoning', reasoning);
  }

  /** Returns whether clients get a call. */
  private readToolCalls(message: JsonNode, state: ChoiceState, at: number): boolean {
    if (message.isNothing(at)) return false;
    const calls = message.child(at);
    if (calls?.isList !== true) throw new BrokenAnswer('tool_calls is not an array');
    this.closeText(state);
    // Before the edits: a signature is read from the bytes of its call.
    const signatures = this.signaturesIn(calls);
    const ids = this.rules.isWhole ? state.calls.readCalls(calls) : state.calls.readFragments(calls);
    if (signatures.length > 0) this.repeatSignatures(message, state, signatures, ids);
    const isSent = ids.some((id) => id !== null);
    if (!isSent && ids.length > 0) message.removeAt(at);
    this.hasContent ||= isSent;
    return isSent;
  }

  private signaturesIn(calls: JsonNode): readonly (string | null)[] {
    const { wire, excludesReasoning } = this.rules;
    const { callSignatures } = wire;
    if (!callSignatures || excludesReasoning || this.hasDetails) return NONE;
    return Array.from({ length: calls.count }, (_, at) => {
      const call = calls.value(at);
      return typeof call === 'object' && call !== null ? callSignatures.read(call as JsonObject) : null;
    });
  }

  /** Clients that drop unknown members of a tool call keep these. */
  private repeatSignatures(
    message: JsonNode,
    state: ChoiceState,
    signatures: readonly (string | null)[],
    ids: readonly (string | null)[],
  ): void {
    const format = this.rules.wire.callSignatures?.format ?? '';
    const details = signatures.flatMap((data, at) => {
      const id = ids[at] ?? null;
      return data === null || id === null
        ? []
        : [signatureDetail(format, { id, data, index: state.signatureCount++ })];
    });
    if (details.length > 0) message.set('reasoning_details', Buffer.from(JSON.stringify(details)));
  }

  private text(state: ChoiceState, kind: BlockKind, message: JsonNode, at: number): void {
    if (message.hasText(at))
      this.spelled(state, kind, message.bytes, message.fromOf(at) + 1, message.toOf(at) - 1);
  }

  private spelled(state: ChoiceState, kind: BlockKind, bytes: Buffer, from: number, to: number): void {
    if (from === to) return;
    this.hasContent = true;
    if (state.block?.kind !== kind) {
      this.closeText(state);
      state.block = this.answer.open(state.index, kind);
    }
    if (state.block !== null) this.answer.delta(state.block, bytes, from, to);
  }

  private closeText(state: ChoiceState): void {
    if (state.block !== null) this.answer.close(state.block);
    state.block = null;
  }
}
