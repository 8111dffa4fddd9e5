// One answer between the wires: it checks the order of its events, and keeps what money, routing and the record need of them.
import type { ChatChoice } from '../../domain/chat/chat-outcome.js';
import type { ReportedChatUsage } from '../../domain/chat/chat-usage.js';
import type { ProviderError } from '../../providers/shared/provider.js';
import { BrokenAnswer } from '../../providers/shared/provider.js';
import { AnswerBoundExceeded } from '../../providers/shared/wires/answer-events.js';
import type {
  AnswerBlock,
  AnswerEvents,
  BlockKind,
  OpaqueReasoning,
  ToolCallStart,
} from '../../providers/shared/wires/answer-events.js';
import { OutputTexts } from './output-texts.js';
import type { OutputCount, OutputText } from './output-texts.js';

// Of all choices together: far above any answer.
const MAX_TOOL_CALLS = 1_024;
/** Kept ones. */
const MAX_SIGNATURES = 64;
const EMPTY_ARGUMENTS = '{}';

interface AnsweredCall {
  readonly id: string;
  readonly name: OutputText;
  readonly arguments: OutputText;
}

export interface AnsweredChoice {
  readonly index: number;
  /** Null: nothing of that kind has come. */
  readonly texts: Record<Exclude<BlockKind, 'call'>, OutputText | null>;
  readonly calls: AnsweredCall[];
  /** Null: the choice goes on. */
  finishReason: string | null;
  nativeFinishReason: string | null;
}

class Block implements AnswerBlock {
  isOpen = true;

  constructor(
    readonly index: number,
    readonly kind: BlockKind,
    readonly of: AnsweredChoice,
    readonly text: OutputText,
  ) {}

  get choice(): number {
    return this.of.index;
  }
}

/** Receives the blocks of an answer as they come, for a client of another wire. */
export interface BlockListener {
  opened(block: AnswerBlock, call?: ToolCallStart): void;
  /** `bytes[from, to)`: as in AnswerEvents. */
  grew(block: AnswerBlock, bytes: Buffer, from: number, to: number): void;
  closed(block: AnswerBlock, opaque?: OpaqueReasoning): void;
}

export class Answer implements AnswerEvents {
  /** Content, reasoning, a refusal, a tool call or a finish reason has come. */
  hasContent = false;
  usageSnapshot: ReportedChatUsage | null = null;
  /** The numbers of the prompt in it are final. */
  hasExactPrompt = false;
  tier: string | null = null;
  upstreamId: string | null = null;
  /** Seconds; null: the provider states none. */
  createdAt: number | null = null;
  stated: ProviderError | null = null;
  /** Events that came in a wrong order, and were repaired. */
  repairs = 0;
  /** Events of types that their reader does not know. */
  unknownEvents = 0;
  /** Of them, and of texts under unknown names. */
  unreadBytes = 0;
  /** Texts that came behind the finish reason of their choice. */
  continuations = 0;
  readonly texts = new OutputTexts();
  /** Signatures and encrypted texts of its thoughts, the first ones. */
  readonly signatures: string[] = [];
  private readonly byIndex: (AnsweredChoice | undefined)[] = [];
  private choiceCount = 0;
  private finishedCount = 0;
  private callCount = 0;
  private blockCount = 0;
  private openBlocks = 0;
  private state: 'waiting' | 'started' | 'ended' = 'waiting';

  /** `expectedChoices`: `n` of the request. */
  constructor(
    private readonly expectedChoices: number,
    private readonly listener: BlockListener | null = null,
  ) {}

  start(upstreamId: string | null, createdAt: number | null): void {
    this.state = 'started';
    this.upstreamId ??= upstreamId;
    this.createdAt ??= createdAt;
  }

  begin(index: number): void {
    this.expect(
      this.state === 'started' && this.byIndex[index] === undefined,
      'a choice outside of its place',
    );
    const { expectedChoices } = this;
    if (index >= expectedChoices)
      throw new AnswerBoundExceeded(
        `the answer has a choice ${index}: the request asked for ${expectedChoices}`,
      );
    const texts = { text: null, reasoning: null, refusal: null };
    this.byIndex[index] = { index, texts, calls: [], finishReason: null, nativeFinishReason: null };
    this.choiceCount++;
  }

  open(index: number, kind: BlockKind, call?: ToolCallStart): AnswerBlock {
    const choice = this.begun(index);
    const text = kind === 'call' ? this.addCall(choice, call) : (choice.texts[kind] ??= this.texts.create());
    this.openBlocks++;
    const block = new Block(this.blockCount++, kind, choice, text);
    this.listener?.opened(block, call);
    return block;
  }

  delta(block: AnswerBlock, bytes: Buffer, from: number, to: number): void {
    const { of, text } = this.opened(block);
    this.continues(of);
    this.texts.append(text, bytes, from, to);
    this.listener?.grew(block, bytes, from, to);
  }

  close(block: AnswerBlock, opaque?: OpaqueReasoning): void {
    this.opened(block).isOpen = false;
    this.openBlocks--;
    if (opaque && this.signatures.length < MAX_SIGNATURES) this.signatures.push(opaque.text);
    this.listener?.closed(block, opaque);
  }

  finish(index: number, reason: string, native: string | null): void {
    const choice = this.begun(index);
    if (choice.finishReason === null) this.finishedCount++;
    choice.finishReason = reason;
    choice.nativeFinishReason = native;
    this.hasContent = true;
  }

  usage(snapshot: ReportedChatUsage, isPromptExact = false): void {
    this.hasExactPrompt ||= isPromptExact;
    const stated = Object.entries(snapshot).filter(([, tokens]) => tokens !== null);
    this.usageSnapshot = {
      ...(this.usageSnapshot ?? snapshot),
      ...(Object.fromEntries(stated) as Partial<ReportedChatUsage>),
    };
  }

  serviceTier(tier: string): void {
    this.tier = tier;
  }

  error(error: ProviderError): void {
    this.stated = error;
    // An answer whose choices have all finished ends as it would without the error.
    if (!this.isComplete) this.state = 'ended';
  }

  end(): void {
    this.expect(
      this.state === 'started' && this.openBlocks === 0,
      'the end of an answer that is not complete',
    );
    this.state = 'ended';
  }

  repaired(): void {
    this.repairs++;
  }

  skipped(bytes: number): void {
    this.unknownEvents++;
    this.unread(bytes);
  }

  unread(bytes: number): void {
    this.unreadBytes += bytes;
  }

  get outputCount(): OutputCount {
    const { texts, unreadBytes } = this;
    return { texts: texts.keptTexts, factor: texts.shareOfKept, unreadBytes };
  }

  /** Every choice that has begun has its finish reason. */
  get hasFinishedChoices(): boolean {
    return this.choiceCount > 0 && this.finishedCount === this.choiceCount;
  }

  /** As hasFinishedChoices, and no further choice is to come. */
  get isComplete(): boolean {
    return this.hasFinishedChoices && this.choiceCount >= this.expectedChoices;
  }

  choiceAt(index: number): AnsweredChoice | null {
    return this.byIndex[index] ?? null;
  }

  /** Choices that have begun, in the order of their indexes. */
  get choices(): readonly AnsweredChoice[] {
    return this.byIndex.filter((choice) => choice !== undefined);
  }

  toJSON(): ChatChoice[] {
    this.texts.cut();
    return this.choices.map(({ index, texts, calls, finishReason, nativeFinishReason }) => ({
      index,
      content: texts.text?.value ?? null,
      reasoning: texts.reasoning?.value ?? null,
      refusal: texts.refusal?.value ?? null,
      toolCalls: calls.map(({ id, name, arguments: text }) => ({
        id,
        name: name.value,
        arguments: text.length === 0 && finishReason !== null ? EMPTY_ARGUMENTS : text.value,
      })),
      finishReason,
      nativeFinishReason,
    }));
  }

  private addCall({ calls }: AnsweredChoice, call: ToolCallStart | undefined): OutputText {
    if (call === undefined) throw new Error('a call has an id and a name');
    if (this.callCount++ === MAX_TOOL_CALLS)
      throw new AnswerBoundExceeded(`the answer has more than ${MAX_TOOL_CALLS} tool calls`);
    this.hasContent = true;
    const name = this.texts.create();
    const escaped = Buffer.from(JSON.stringify(call.name));
    this.texts.append(name, escaped, 1, escaped.length - 1);
    const text = this.texts.create();
    calls.push({ id: call.id, name, arguments: text });
    return text;
  }

  private begun(index: number): AnsweredChoice {
    return this.byIndex[index] ?? this.reject('an event before the start of its choice');
  }

  private opened(block: AnswerBlock): Block {
    if (block instanceof Block && block.isOpen) return block;
    return this.reject('a text outside of its block');
  }

  /** Content has come: also behind a finish reason, which ended nothing then. */
  private continues({ finishReason }: AnsweredChoice): void {
    this.hasContent = true;
    if (finishReason === null) return;
    this.continuations++;
    this.repairs++;
  }

  private expect(isInOrder: boolean, event: string): void {
    if (!isInOrder) this.reject(event);
  }

  private reject(event: string): never {
    this.repairs++;
    throw new BrokenAnswer(`the answer has ${event}`);
  }
}
