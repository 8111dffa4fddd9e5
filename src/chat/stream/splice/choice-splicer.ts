// Splices the choices of a chunk, or of a whole answer: it finds the members whose values clients rely on, and replaces,
// inserts or removes their spans. All other bytes pass unchanged.
import type { ChoiceState } from './choice-state.js';
import { DeltaSplicer } from './delta-splicer.js';
import { finishReasonOf, isFailure } from './finish-reasons.js';
import type { MemberName } from './member-names.js';
import { BrokenChunk, ObjectEnd, Span } from './object-splicer.js';

const NULL = Buffer.from('null');
const NO_FINISH = Buffer.from('"finish_reason":null');

// Scanning never waits, so all scanners share it.
const CHOICE_END = new ObjectEnd();

export abstract class ChoiceSplicer extends DeltaSplicer {
  choiceCount = 0;
  private readonly index = new Span();
  private readonly finish = new Span();
  private readonly nativeFinish = new Span();

  protected abstract choiceOf(index: number): ChoiceState;
  protected abstract hasBegun(index: number): boolean;
  protected abstract usageSpan(from: number, to: number): void;

  protected readChoices(): void {
    if (!this.isArray()) throw new BrokenChunk('choices is not an array');
    this.eachElement(this.readChoice);
  }

  private readonly readChoice = (): void => {
    this.choiceCount++;
    this.index.clear();
    this.finish.clear();
    this.nativeFinish.clear();
    this.clearDelta();
    const end = CHOICE_END;
    this.members(this.readChoiceMember, end);
    this.spliceChoice(end.at, end.isEmpty);
  };

  private readonly readChoiceMember = (name: MemberName | null): boolean => {
    switch (name) {
      case 'index':
        this.span(this.index);
        return true;
      case 'delta':
      case 'message':
        if ((name === 'message') !== this.rules.isWhole) break;
        if (this.isNull()) this.span(this.delta);
        else this.readDelta();
        return true;
      case 'finish_reason':
        this.span(this.finish);
        return true;
      case 'native_finish_reason':
        this.span(this.nativeFinish);
        return false;
      case 'usage': {
        this.peek();
        const from = this.at;
        this.skipValue();
        this.usageSpan(from, this.at);
        return false;
      }
      default:
    }
    this.hasMore ||= !this.isNull();
    this.skipValue();
    return true;
  };

  private spliceChoice(end: number, isEmpty: boolean): void {
    const choice = this.choiceOf(this.indexOfChoice());
    const insert = this.inserter(end, isEmpty);
    if (this.index.from === -1) insert(Buffer.from(`"index":${choice.index}`));
    this.spliceDelta(choice, this.finish.hasText, insert);
    const reason = this.finishOf(choice);
    if (this.finish.from === -1) insert(NO_FINISH);
    else if (reason === null && !this.finish.isNull)
      this.edits.replace(this.finish.from, this.finish.to, NULL);
    if (reason !== null) {
      this.edits.replace(this.finish.from, this.finish.to, Buffer.from(JSON.stringify(reason)));
      insert(Buffer.from(`"native_finish_reason":${JSON.stringify(choice.nativeFinishReason)}`));
      this.hasContent = true;
    }
    this.hasMore ||= !choice.hasBegun || (this.finish.from !== -1 && !this.finish.isNull);
    choice.hasBegun = true;
  }

  /** An index behind the delta counts as 0: spliceRole inserts a role that is missing then. */
  protected override continuesChoice(): boolean {
    return !this.rules.isWhole && this.hasBegun(this.indexOfChoice());
  }

  private indexOfChoice(): number {
    const { from, to } = this.index;
    if (from === -1) return 0;
    const digit = (this.bytes[from] ?? 0) - 0x30;
    return to === from + 1 && digit >= 0 && digit <= 9 ? digit : (this.parse(from, to) as number);
  }

  /** Notes the finish reason of the choice. Null: it goes on, or it has ended before. */
  private finishOf(choice: ChoiceState): string | null {
    const { finish, nativeFinish } = this;
    if (finish.from === -1 || finish.isNull) return null;
    if (!finish.isString) throw new BrokenChunk('finish_reason is not a string');
    const word = this.parse(finish.from, finish.to) as string;
    choice.hasEmptyFinish = word === '';
    if (choice.finishReason !== null) return null;
    if (word === '' && !this.rules.isWhole) return null;
    const reason = finishReasonOf(word || 'stop', this.rules.wire.finishReasons, choice.toolCalls.count > 0);
    if (isFailure(word) && !this.rules.isWhole) throw new FailedChoice();
    choice.finishReason = reason;
    choice.nativeFinishReason = nativeFinish.isString
      ? (this.parse(nativeFinish.from, nativeFinish.to) as string)
      : word;
    return reason;
  }
}

/** A choice that the provider ended with an error. */
export class FailedChoice extends Error {}
