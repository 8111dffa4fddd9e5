// The top of a chunk or of a whole answer: the members that this service writes itself are cut out, usage is kept aside.
import { readReportedChatUsage } from '../../../domain/chat/chat-usage.js';
import type { ReportedChatUsage } from '../../../domain/chat/chat-usage.js';
import type { ChatChoice } from '../../../domain/chat/chat-outcome.js';
import type { ChatWire } from '../../../providers/shared/chat-wire.js';
import { recordableId } from '../../../providers/shared/wire.js';
import { ChoiceSplicer } from './choice-splicer.js';
import type { ChoiceRules } from './delta-splicer.js';
import { ChoiceState } from './choice-state.js';
import { Edits } from './edits.js';
import { OPEN_OBJECT } from '../../../vectors/json-cursor.js';
import type { MemberName } from './member-names.js';
import { BrokenChunk, Span } from './object-splicer.js';
import { OutputTexts } from './output-texts.js';
import type { GrowingBuffer } from '../growing-buffer.js';

// More than any request can ask for.
const MAX_CHOICES = 128;
const ERROR_OBJECT = Buffer.from('"error"');
// No JSON text begins with it.
const NO_TIER = Buffer.from('\0');

export interface AnswerRules extends ChoiceRules {
  readonly wire: ChoiceRules['wire'] & Pick<ChatWire, 'readUsage'>;
}

/** `error`: the document states an error. `empty`: it has no choices, or is a chunk of nothing but usage. */
export type ScanResult = 'choices' | 'empty' | 'error';

export class AnswerScanner extends ChoiceSplicer {
  readonly choices: ChoiceState[] = [];
  /** The last numbers that the provider reported; null: none. */
  usage: ReportedChatUsage | null = null;
  serviceTier: string | null = null;
  upstreamId: string | null = null;
  /** Seconds. */
  created: number | null = null;
  readonly outputTexts: OutputTexts;
  private readonly usedToolCallIds = new Set<string>();
  private bodyFrom = 0;
  private bodyTo = 0;
  private hasError = false;
  private hasChoices = false;
  private hasFingerprint = false;
  /** The document has usage. */
  private hasUsage = false;
  private readonly tier = new Span();
  /** The bytes of the last tier: chunks repeat it. */
  private tierBytes = NO_TIER;

  constructor(protected override readonly rules: AnswerRules) {
    const texts = new OutputTexts();
    super(new Edits(), texts, rules);
    this.outputTexts = texts;
  }

  /** Throws BrokenChunk or FailedChoice. The result is valid until the next call. */
  scan(bytes: Buffer, from: number, to: number): ScanResult {
    this.open(bytes, from, to);
    this.edits.clear();
    this.hasError = false;
    this.hasChoices = false;
    this.hasFingerprint = false;
    this.hasUsage = false;
    this.choiceCount = 0;
    this.hasContent = false;
    this.hasMore = false;
    if (this.peek() !== OPEN_OBJECT) {
      this.skipValue();
      // Some servers wrap an error in a list.
      if (/^\s*\[\s*\{\s*"error"/.test(bytes.toString('latin1', from, Math.min(to, from + 100))))
        return 'error';
      throw new BrokenChunk('the answer is not an object');
    }
    this.bodyFrom = this.at + 1;
    this.members(this.readMember, null);
    this.bodyTo = this.at - 1;
    this.skipSpace();
    if (this.at !== to) throw new BrokenChunk('the answer is not valid JSON');
    if (this.hasError) return 'error';
    return this.choiceCount === 0 || this.isUsageOnly ? 'empty' : 'choices';
  }

  /** Some providers send usage beside an empty delta. */
  private get isUsageOnly(): boolean {
    return !this.rules.isWhole && this.hasUsage && !this.hasContent && !this.hasMore;
  }

  /** Writes the members that stay, without the braces around them. */
  copyTo(output: GrowingBuffer): void {
    this.edits.copyTo(output, this.bytes, this.bodyFrom, this.bodyTo);
  }

  /** Releases the document. */
  release(): void {
    this.close();
  }

  get hasStatedFingerprint(): boolean {
    return this.hasFingerprint;
  }

  outputChoices(): ChatChoice[] {
    return this.choices
      .filter((choice) => choice.hasBegun)
      .sort((one, other) => one.index - other.index)
      .map((choice) => choice.toJSON());
  }

  private readonly readMember = (name: MemberName | null): boolean => {
    switch (name) {
      case 'id':
        if (this.upstreamId === null) this.upstreamId = recordableId(this.value());
        else this.skipValue();
        return false;
      case 'created':
        if (this.created === null) this.created = secondsOf(this.value());
        else this.skipValue();
        return false;
      case 'object':
        this.readObject();
        return false;
      case 'model':
      case 'provider':
      case 'openrouter_metadata':
        this.skipValue();
        return false;
      case 'usage':
        if (this.isNull()) this.skipValue();
        else this.noteUsage(this.value());
        return false;
      case 'error':
        this.noteError(Boolean(this.value()));
        return false;
      case 'system_fingerprint':
        this.hasFingerprint = this.isString() || (this.rules.isWhole && this.isNull());
        this.skipValue();
        return this.hasFingerprint;
      case 'service_tier':
        return this.readServiceTier();
      case 'choices':
        return this.readAllChoices();
      default:
        this.skipValue();
        return true;
    }
  };

  private readObject(): void {
    this.peek();
    const from = this.at;
    this.skipValue();
    this.noteError(this.at - from === ERROR_OBJECT.length && this.matches(ERROR_OBJECT, from));
  }

  private readServiceTier(): boolean {
    this.span(this.tier);
    const { from, to, isString, isNull } = this.tier;
    if (isString && !this.matches(this.tierBytes, from)) {
      this.serviceTier = this.parse(from, to) as string;
      this.tierBytes = Buffer.from(this.bytes.subarray(from, to));
    }
    return isString || isNull;
  }

  private noteError(isError: boolean): void {
    this.hasError ||= isError;
  }

  private readAllChoices(): boolean {
    if (this.hasChoices) throw new BrokenChunk('choices is repeated');
    this.hasChoices = true;
    if (this.isNull()) {
      this.skipValue();
      return false;
    }
    this.readChoices();
    return true;
  }

  private value(): unknown {
    this.peek();
    const from = this.at;
    this.skipValue();
    return this.parse(from, this.at);
  }

  protected override usageSpan(from: number, to: number): void {
    this.noteUsage(this.parse(from, to));
  }

  /** A later number replaces an earlier one; an absent one does not. */
  private noteUsage(value: unknown): void {
    const { readUsage } = this.rules.wire;
    const reported = readUsage ? readUsage(value) : readReportedChatUsage(value);
    if (!reported) return;
    this.hasUsage = true;
    const stated = Object.entries(reported).filter(([, tokens]) => tokens !== null);
    this.usage = {
      ...(this.usage ?? reported),
      ...(Object.fromEntries(stated) as Partial<ReportedChatUsage>),
    };
  }

  protected override hasBegun(index: number): boolean {
    return this.choices.some((choice) => choice.index === index && choice.hasBegun);
  }

  protected override choiceOf(index: number): ChoiceState {
    if (!Number.isInteger(index) || index < 0 || index >= MAX_CHOICES) {
      throw new BrokenChunk('a choice has an invalid index');
    }
    for (const choice of this.choices) if (choice.index === index) return choice;
    const { toolCallId } = this.rules.wire;
    const mapId = toolCallId ? (id: string): string => toolCallId(id) : null;
    const created = new ChoiceState(index, this.outputTexts, mapId, this.usedToolCallIds);
    this.choices.push(created);
    return created;
  }
}

function secondsOf(created: unknown): number | null {
  return Number.isSafeInteger(created) && (created as number) > 0 ? (created as number) : null;
}
