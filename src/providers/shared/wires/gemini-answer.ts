// Reads answers in Gemini's wire, streamed and whole, into the kernel's events. Every chunk of a stream is a whole answer with the next
// parts of its candidate, and with usage that counts from the beginning.
import { JsonDocument } from '../../../json/json-document.js';
import type { JsonNode } from '../../../json/json-node.js';
import { JsonShape } from '../../../json/json-shape.js';
import { integerAt } from '../../../json/json-node.js';
import type { ChatWire } from '../chat-wire.js';
import { BrokenAnswer } from '../provider.js';
import { recordableId } from '../wire.js';
import type { AnswerEvents, EventResult } from './answer-events.js';
import { errorOf, MAX_SMALL } from './answer-values.js';
import { finishReasonOf } from './finish-reasons.js';
import { GeminiBlocks, PART } from './gemini-blocks.js';
import { readGeminiUsage } from './gemini-usage.js';

const ANSWER = new JsonShape(['candidates', 'promptFeedback', 'usageMetadata', 'responseId', 'error'], {
  candidates: new JsonShape(['index', 'content', 'finishReason'], {
    content: new JsonShape(['parts'], { parts: PART }),
  }),
  promptFeedback: new JsonShape(['blockReason']),
});
/** The request asks for one. */
const CHOICE = 0;

/** A chunk is read without waiting: all streams share one document. */
const CHUNKS = new JsonDocument(BrokenAnswer);

export interface GeminiAnswerRules {
  readonly wire: Pick<ChatWire, 'readError' | 'finishReasons'>;
}

export class GeminiAnswerReader {
  private readonly blocks: GeminiBlocks;
  private hasStarted = false;
  private hasFinished = false;

  constructor(
    private readonly rules: GeminiAnswerRules,
    private readonly answer: AnswerEvents,
    private readonly json = CHUNKS,
  ) {
    this.blocks = new GeminiBlocks(answer);
  }

  /** Throws BrokenAnswer or AnswerBoundExceeded. */
  readEvent(bytes: Buffer, from: number, to: number, large: ReadonlyMap<number, number> | null): EventResult {
    const document = this.json.read(bytes, from, to, ANSWER, large);
    // Some addresses wrap an error in a list.
    const top = document?.isList === true ? document.child(0) : document;
    if (top === null || top.isList) throw new BrokenAnswer('the answer is not an object');
    if (!top.isNothing(top.find('error'))) {
      this.answer.error(errorOf(bytes.subarray(from, to), this.rules.wire));
      return 'error';
    }
    if (document?.isList === true) throw new BrokenAnswer('the answer is not an object');
    this.readCandidates(top);
    const snapshot = readGeminiUsage(top.value(top.find('usageMetadata'), MAX_SMALL));
    if (snapshot !== null) this.answer.usage(snapshot);
    return 'more';
  }

  /** Throws BrokenAnswer or AnswerBoundExceeded. */
  readWhole(bytes: Buffer, from: number, to: number, large: ReadonlyMap<number, number> | null): void {
    if (this.readEvent(bytes, from, to, large) !== 'error') this.end();
  }

  release(): void {
    this.json.release();
  }

  /** The marker `[DONE]`, which the wire does not have: some servers add it. */
  done(): void {
    if (!this.hasFinished) throw new BrokenAnswer('the stream ended before the answer was complete');
  }

  /** Closes what is open, and ends the answer. */
  end(): void {
    if (!this.hasStarted) throw new BrokenAnswer('the answer has no candidates');
    this.blocks.end();
    this.answer.end();
  }

  private readCandidates(top: JsonNode): void {
    const candidates = top.child(top.find('candidates'));
    if (candidates !== null && !candidates.isList) throw new BrokenAnswer('candidates is not an array');
    for (let at = 0; at < (candidates?.count ?? 0); at++) {
      const candidate = candidates?.child(at) ?? null;
      if (candidate === null) throw new BrokenAnswer('a candidate is not an object');
      this.readCandidate(top, candidate);
    }
    const feedback = top.child(top.find('promptFeedback'));
    const blocked = feedback?.text(feedback.find('blockReason')) ?? '';
    if (blocked === '' || (candidates?.count ?? 0) > 0) return;
    // A prompt that is blocked has no candidates.
    this.start(top);
    this.finish('content_filter', blocked);
  }

  private readCandidate(top: JsonNode, candidate: JsonNode): void {
    const index = integerAt(candidate, candidate.find('index')) ?? CHOICE;
    if (index !== CHOICE) throw new BrokenAnswer('the answer has several candidates: one was asked for');
    this.start(top);
    const content = candidate.child(candidate.find('content'));
    const parts = content?.child(content.find('parts')) ?? null;
    if (parts?.isList === true) this.blocks.readParts(parts);
    const word = candidate.text(candidate.find('finishReason'));
    if (word === '') return;
    const { finishReasons } = this.rules.wire;
    this.finish(finishReasonOf(word, finishReasons, this.blocks.calls > 0), word);
  }

  private start(top: JsonNode): void {
    if (this.hasStarted) return;
    this.hasStarted = true;
    const id = recordableId(top.value(top.find('responseId'), MAX_SMALL)) || null;
    this.answer.start(id, null);
    this.answer.begin(CHOICE);
  }

  private finish(reason: string, native: string): void {
    this.hasFinished = true;
    this.answer.finish(CHOICE, reason, native);
  }
}
