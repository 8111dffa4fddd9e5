// The choices of a chunk in Chat's wire, or of a whole answer: index, message and finish reason.
import { readReportedChatUsage } from '../../../domain/chat/chat-usage.js';
import { integerAt } from '../../../json/json-node.js';
import type { JsonNode } from '../../../json/json-node.js';
import { JsonShape } from '../../../json/json-shape.js';
import type { ChatWire } from '../chat-wire.js';
import { BrokenAnswer } from '../provider.js';
import type { AnswerEvents } from './answer-events.js';
import { ENDED_WITH_ERROR, MAX_SMALL } from './answer-values.js';
import { ChoiceState, MESSAGE, MessageReader } from './chat-message.js';
import type { MessageRules } from './chat-message.js';
import { CallIds } from './chat-tool-calls.js';
import { finishReasonOf, isFailure } from './finish-reasons.js';

export interface ChoiceRules extends MessageRules {
  readonly wire: Pick<ChatWire, 'readUsage' | 'finishReasons' | 'toolCallId' | 'callSignatures'>;
}

const NULL = Buffer.from('null');
const ZERO = Buffer.from('0');

/** `message`: the member with the message or its delta. */
export function choiceShape(message: string): JsonShape {
  const names = ['index', message, 'finish_reason', 'native_finish_reason', 'usage', 'error'];
  return new JsonShape(names, { [message]: MESSAGE });
}

/** A choice that the provider ended with an error. */
export class FailedChoice extends Error {
  constructor(readonly document: Buffer) {
    super(ENDED_WITH_ERROR);
  }
}

export class ChoiceReader {
  /** Beside content: a choice begins, or has members that this service does not know. */
  private hasMore = false;
  hasUsage = false;
  hasFinish = false;
  /** The choice of the last finish reason. */
  finishedChoice = -1;
  private finished = { reason: '', native: '' };
  private readonly states = new Map<number, ChoiceState>();
  private readonly ids: CallIds;
  private readonly message: MessageReader;

  constructor(
    private readonly rules: ChoiceRules,
    private readonly answer: AnswerEvents,
  ) {
    const { toolCallId } = rules.wire;
    this.ids = new CallIds(toolCallId ? (id) => toolCallId(id) : null);
    this.message = new MessageReader(rules, answer);
  }

  /** Before the choices of a document. */
  begin(): void {
    this.hasMore = this.hasUsage = this.hasFinish = false;
    this.message.hasContent = this.message.hasMore = false;
  }

  /** More than usage and finish reasons has come. */
  get saysMore(): boolean {
    return this.hasMore || this.message.hasContent || this.message.hasMore;
  }

  read(choice: JsonNode | null): void {
    if (choice === null) throw new BrokenAnswer('a choice is not an object');
    const state = this.stateOf(choice);
    this.hasMore ||= !state.hasBegun;
    for (let at = 0; at < choice.count; at++) {
      const name = choice.nameAt(at);
      if (name === null || name === 'error') this.hasMore ||= !choice.isNull(at);
      else if (name === 'usage')
        this.hasUsage = readUsage(choice, at, this.rules.wire, this.answer) || this.hasUsage;
      else if (name === 'native_finish_reason') choice.removeAt(at);
    }
    const finish = choice.find('finish_reason');
    this.message.read(choice, state, choice.hasText(finish));
    state.hasBegun = true;
    if (finish === -1) choice.set('finish_reason', NULL);
    else if (!choice.isNull(finish)) this.readFinish(choice, finish, state);
  }

  /** The reason of a chunk is held back: whatever ends the answer writes the last one. */
  private readFinish(choice: JsonNode, at: number, state: ChoiceState): void {
    if (!choice.isString(at)) throw new BrokenAnswer('finish_reason is not a string');
    const { isWhole, wire } = this.rules;
    const word = (choice.value(at, MAX_SMALL) ?? '') as string;
    state.hasEmptyFinish = word === '';
    if (!isWhole) choice.set('finish_reason', NULL);
    if (word === '' && !isWhole) return;
    if (isFailure(word) && !isWhole) throw new FailedChoice(errorIn(choice));
    const reason = finishReasonOf(word || 'stop', wire.finishReasons, state.calls.count > 0);
    const own = choice.find('native_finish_reason');
    const native = choice.isString(own) ? ((choice.value(own, MAX_SMALL) ?? word) as string) : word;
    this.answer.finish(state.index, reason, native);
    this.hasFinish = state.hasFinished = true;
    this.finishedChoice = state.index;
    this.finished = { reason, native };
    if (isWhole) this.showFinish(choice);
  }

  /** Puts the last finish reason into the choice. */
  showFinish(choice: JsonNode): void {
    const { reason, native } = this.finished;
    choice.set('finish_reason', Buffer.from(JSON.stringify(reason)));
    choice.set('native_finish_reason', Buffer.from(JSON.stringify(native)));
  }

  private stateOf(choice: JsonNode): ChoiceState {
    const at = choice.find('index');
    const isAbsent = choice.isNothing(at);
    if (isAbsent) choice.set('index', ZERO);
    const index = isAbsent ? 0 : integerAt(choice, at);
    if (index === null || index < 0) throw new BrokenAnswer('a choice has an invalid index');
    const known = this.states.get(index);
    if (known) return known;
    this.answer.begin(index);
    const state = new ChoiceState(index, this.ids, this.answer);
    this.states.set(index, state);
    return state;
  }

  /** `[DONE]` ends every choice. Clients need a finish reason of each. */
  finishOpen(): void {
    if (this.states.size === 0) throw new BrokenAnswer('the stream ended without an answer');
    for (const choice of this.states.values()) {
      if (choice.hasFinished) continue;
      const reason = choice.calls.count > 0 ? 'tool_calls' : 'stop';
      this.answer.finish(choice.index, reason, choice.hasEmptyFinish ? '' : null);
      this.answer.repaired();
    }
  }

  /** Closes all blocks. */
  close(): void {
    for (const { block, calls } of this.states.values()) {
      if (block !== null) this.answer.close(block);
      if (calls.close()) this.answer.repaired();
    }
  }
}

/** Takes the usage out of its object. Returns whether there is any. */
export function readUsage(
  node: JsonNode,
  at: number,
  { readUsage: readOwn }: Pick<ChatWire, 'readUsage'>,
  answer: AnswerEvents,
): boolean {
  node.removeAt(at);
  if (node.isNull(at)) return false;
  const value = node.value(at, MAX_SMALL);
  const snapshot = readOwn ? readOwn(value) : readReportedChatUsage(value);
  if (snapshot) answer.usage(snapshot);
  return snapshot !== null;
}

function errorIn(choice: JsonNode): Buffer {
  const at = choice.find('error');
  const error = isTruthy(choice, at)
    ? choice.raw(at)
    : Buffer.from(JSON.stringify({ message: ENDED_WITH_ERROR }));
  return Buffer.concat([Buffer.from('{"error":'), error, Buffer.from('}')]);
}

/** As JavaScript sees the value. */
export function isTruthy(node: JsonNode, at: number): boolean {
  if (node.isNothing(at)) return false;
  const isShort = node.toOf(at) - node.fromOf(at) < MAX_SMALL;
  return !isShort || Boolean(node.value(at));
}
