// Reads answers in Chat's wire, streamed and whole: into events, and into the form that clients of the wire expect. Members
// that need no edit stay as their bytes.
import { JsonShape } from '../../../json/json-shape.js';
import { JsonDocument } from '../../../json/json-document.js';
import type { JsonNode, JsonOutput } from '../../../json/json-node.js';
import type { ChatWire } from '../chat-wire.js';
import { BrokenAnswer } from '../provider.js';
import { recordableId } from '../wire.js';
import type { AnswerEvents } from './answer-events.js';
import { errorOf, MAX_SMALL } from './answer-values.js';
import { choiceShape, ChoiceReader, FailedChoice, isTruthy, readUsage } from './chat-choice.js';
import type { ChoiceRules } from './chat-choice.js';

export interface ChatAnswerRules extends ChoiceRules {
  readonly wire: ChoiceRules['wire'] & Pick<ChatWire, 'readError'>;
}

/**
 * `finish`: a chunk of nothing but the finish reason of `finishedChoice`. `nothing`: a document without anything for the client.
 * `error`: one that states an error.
 */
export type ChatDocument = 'choices' | 'finish' | 'nothing' | 'error';

function answerShape(message: string): JsonShape {
  const answer = [
    'id',
    'object',
    'created',
    'model',
    'provider',
    'choices',
    'usage',
    'error',
    'system_fingerprint',
    'service_tier',
    'openrouter_metadata',
  ];
  return new JsonShape(answer, { choices: choiceShape(message) });
}

const CHUNK = answerShape('delta');
const WHOLE = answerShape('message');
const NULL = Buffer.from('null');
const ERROR_OBJECT = Buffer.from('"error"');

/** A chunk is read and written without waiting: all streams share one document. */
const CHUNKS = new JsonDocument(BrokenAnswer);

export class ChatAnswerReader {
  private readonly shape: JsonShape;
  private readonly choices: ChoiceReader;
  private document: JsonNode | null = null;
  private hasStarted = false;
  private upstreamId: string | null = null;
  private createdAt: number | null = null;
  /** The bytes of the last tier: chunks repeat it. */
  private tier = NULL;
  /** Members that this service does not know. */
  private hasMore = false;
  private hasUsage = false;
  hasFingerprint = false;

  constructor(
    private readonly rules: ChatAnswerRules,
    private readonly answer: AnswerEvents,
    private readonly json = CHUNKS,
  ) {
    this.choices = new ChoiceReader(rules, answer);
    this.shape = rules.isWhole ? WHOLE : CHUNK;
  }

  /** Throws BrokenAnswer or AnswerBoundExceeded. `large`: see JsonDocument. The result is valid until the next call. */
  read(bytes: Buffer, from: number, to: number, large: ReadonlyMap<number, number> | null): ChatDocument {
    this.hasMore = this.hasUsage = this.hasFingerprint = false;
    this.choices.begin();
    const top = (this.document = this.json.read(bytes, from, to, this.shape, large));
    if (top === null || top.isList) return this.readOther(top, bytes, from, to);
    const { choices, isError } = this.readTop(top);
    if (isError) {
      this.answer.error(errorOf(bytes.subarray(from, to), this.rules.wire));
      return 'error';
    }
    if (choices === null || choices.count === 0) return 'nothing';
    this.start();
    try {
      for (let at = 0; at < choices.count; at++) this.choices.read(choices.child(at));
    } catch (error) {
      if (!(error instanceof FailedChoice)) throw error;
      this.answer.error(errorOf(error.document, this.rules.wire));
      return 'error';
    }
    const { hasUsage, hasFinish, saysMore } = this.choices;
    const isSaid = this.hasMore || saysMore || !(this.hasUsage || hasUsage || hasFinish);
    if (isSaid || this.rules.isWhole) return 'choices';
    const only = choices.count === 1 ? choices.child(0) : null;
    if (only === null || !hasFinish) return 'nothing';
    this.choices.showFinish(only);
    return 'finish';
  }

  /** Writes the members that stay, without the braces around them. Returns whether there are any. */
  writeInside(output: JsonOutput): boolean {
    return this.document?.writeInside(output) ?? false;
  }

  release(): void {
    this.json.release();
    this.document = null;
  }

  /** `[DONE]` ends every choice. */
  finishOpenChoices(): void {
    this.choices.finishOpen();
  }

  /** Closes what is open, and ends the answer. */
  end(): void {
    this.choices.close();
    this.answer.end();
  }

  /** Of the last finish reason. */
  get finishedChoice(): number {
    return this.choices.finishedChoice;
  }

  /** Some servers wrap an error in a list. Null says nothing. */
  private readOther(list: JsonNode | null, bytes: Buffer, from: number, to: number): ChatDocument {
    const first = list?.child(0);
    if (first && isTruthy(first, first.find('error'))) {
      this.answer.error(errorOf(bytes.subarray(from, to), this.rules.wire));
      return 'error';
    }
    if (list === null && bytes.toString('latin1', from, Math.min(to, from + 64)).trim() === 'null')
      return 'nothing';
    throw new BrokenAnswer('the answer is not an object');
  }

  private readTop(top: JsonNode): { readonly choices: JsonNode | null; readonly isError: boolean } {
    let choices: JsonNode | null = null;
    let hasChoices = false;
    let isError = false;
    for (let at = 0; at < top.count; at++) {
      switch (top.nameAt(at)) {
        case null:
          this.hasMore ||= !top.isNull(at);
          break;
        case 'choices':
          if (hasChoices) throw new BrokenAnswer('choices is repeated');
          hasChoices = true;
          choices = listOf(top, at, 'choices');
          if (choices === null) top.removeAt(at);
          break;
        case 'usage':
          this.hasUsage = readUsage(top, at, this.rules.wire, this.answer) || this.hasUsage;
          break;
        case 'error':
          isError ||= isTruthy(top, at);
          top.removeAt(at);
          break;
        case 'object':
          isError ||= top.equals(at, ERROR_OBJECT);
          top.removeAt(at);
          break;
        case 'system_fingerprint':
          this.hasFingerprint = top.isString(at) || (this.rules.isWhole && top.isNull(at));
          if (!this.hasFingerprint) top.removeAt(at);
          break;
        case 'service_tier':
          this.readTier(top, at);
          break;
        case 'id':
          if (!this.hasStarted) this.upstreamId ??= recordableId(top.value(at, MAX_SMALL)) || null;
          top.removeAt(at);
          break;
        case 'created':
          if (!this.hasStarted) this.createdAt ??= secondsOf(top.value(at, MAX_SMALL));
          top.removeAt(at);
          break;
        default:
          top.removeAt(at);
      }
    }
    return { choices, isError };
  }

  private start(): void {
    if (this.hasStarted) return;
    this.hasStarted = true;
    this.answer.start(this.upstreamId, this.createdAt);
  }

  private readTier(top: JsonNode, at: number): void {
    if (!top.isString(at)) {
      if (!top.isNull(at)) top.removeAt(at);
      return;
    }
    if (top.equals(at, this.tier)) return;
    const tier = top.value(at, MAX_SMALL);
    if (typeof tier !== 'string') return;
    this.tier = Buffer.from(top.raw(at));
    this.answer.serviceTier(tier);
  }
}

/** Null: the member is null. */
function listOf(node: JsonNode, at: number, name: string): JsonNode | null {
  const list = node.child(at);
  if (list?.isList === true) return list;
  if (node.isNull(at)) return null;
  throw new BrokenAnswer(`${name} is not an array`);
}

function secondsOf(created: unknown): number | null {
  return Number.isSafeInteger(created) && (created as number) > 0 ? (created as number) : null;
}
