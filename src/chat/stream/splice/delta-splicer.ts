// Splices the delta of a chunk's choice, or the message of a whole answer's: role, texts, reasoning and tool calls.
import type { JsonObject } from '../../../domain/chat/chat-request.js';
import { signatureDetail } from '../../../providers/shared/chat/call-signatures.js';
import type { ChatWire } from '../../../providers/shared/chat-wire.js';
import type { ChoiceState } from './choice-state.js';
import { contentOfParts } from './content-parts.js';
import type { Edits } from './edits.js';
import { OPEN_ARRAY } from '../../../vectors/json-cursor.js';
import type { MemberName } from './member-names.js';
import { BrokenChunk, ObjectEnd, ObjectSplicer, Span } from './object-splicer.js';
import type { OutputText, OutputTexts } from './output-texts.js';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const NOTHING = Buffer.alloc(0);
const SEPARATOR = Buffer.from(',');
const FRAGMENT_START = Buffer.from('[{"index":');
const FRAGMENT_ARGUMENTS = Buffer.from(',"function":{"arguments":"');
const FRAGMENT_END = Buffer.from('"}}]');
const EMPTY_TEXT = Buffer.from('""');
const ASSISTANT = Buffer.from('"assistant"');
const EMPTY_DELTA = Buffer.from('{}');
const EMPTY_MESSAGE = Buffer.from('{"role":"assistant","content":null}');
const FIRST_DELTA = Buffer.from('{"role":"assistant","content":""}');
const INSERTED = {
  delta: Buffer.from('"delta":'),
  message: Buffer.from('"message":'),
  role: Buffer.from('"role":"assistant"'),
  content: Buffer.from('"content":""'),
  nullContent: Buffer.from('"content":null'),
  reasoning: Buffer.from('"reasoning":'),
};

/** Appends a member to the object that is being spliced. */
export type InsertMember = (text: Buffer) => void;

export interface ChoiceRules {
  readonly wire: Pick<ChatWire, 'finishReasons' | 'toolCallId' | 'callSignatures'>;
  readonly excludesReasoning: boolean;
  /** A whole answer has messages, a chunk has deltas. */
  readonly isWhole: boolean;
}

export abstract class DeltaSplicer extends ObjectSplicer {
  /** The chunk has content, reasoning, a refusal, a tool call or a finish reason. */
  hasContent = false;
  /** Beside content: a choice begins or ends, or has members that this service does not know. */
  protected hasMore = false;
  protected readonly delta = new Span();
  private readonly deltaEnd = new ObjectEnd();
  private readonly role = new Span();
  private hasRole = false;
  private readonly content = new Span();
  private readonly refusal = new Span();
  private readonly reasoning = new Span();
  private readonly reasoningContent = new Span();
  private readonly toolCalls = new Span();
  private hasOtherContent = false;
  private hasDetails = false;

  constructor(
    edits: Edits,
    private readonly texts: OutputTexts,
    protected readonly rules: ChoiceRules,
  ) {
    super(edits);
  }

  /** An earlier chunk began the choice. Some clients join the roles of its deltas. */
  protected abstract continuesChoice(): boolean;

  /** Appends members at the end of an object. */
  protected inserter(end: number, isEmpty: boolean): InsertMember {
    let separator = isEmpty ? NOTHING : SEPARATOR;
    return (text) => {
      this.edits.insert(end, separator);
      this.edits.insert(end, text);
      separator = SEPARATOR;
    };
  }

  protected clearDelta(): void {
    this.delta.clear();
    this.role.clear();
    this.hasRole = false;
    this.content.clear();
    this.refusal.clear();
    this.reasoning.clear();
    this.reasoningContent.clear();
    this.toolCalls.clear();
    this.hasOtherContent = false;
    this.hasDetails = false;
  }

  protected readDelta(): void {
    this.peek();
    this.clearDelta();
    this.delta.from = this.at;
    this.members(this.readDeltaMember, this.deltaEnd);
    this.delta.to = this.at;
  }

  private readonly readDeltaMember = (name: MemberName | null): boolean => {
    switch (name) {
      case 'role':
        this.span(this.role);
        this.hasRole = !this.role.isNull && !this.continuesChoice();
        return this.hasRole;
      case 'content':
        this.span(this.content);
        return true;
      case 'refusal':
        this.span(this.refusal);
        return true;
      case 'reasoning':
        this.span(this.reasoning);
        return !this.rules.excludesReasoning && (this.reasoning.isString || this.reasoning.isNull);
      case 'reasoning_content':
        this.span(this.reasoningContent);
        return !this.rules.excludesReasoning;
      case 'reasoning_details':
        return this.readReasoningDetails();
      case 'tool_calls':
        this.span(this.toolCalls);
        return !this.toolCalls.isNull;
      case 'audio': {
        const isNull = this.isNull();
        this.skipValue();
        this.hasOtherContent ||= !isNull;
        return !isNull;
      }
      default:
        this.hasMore ||= !this.isNull();
        this.skipValue();
        return true;
    }
  };

  private readReasoningDetails(): boolean {
    const isArray = this.isArray();
    const from = this.at;
    this.skipValue();
    if (isArray && this.at - from > 2) this.hasOtherContent = true;
    this.hasDetails = isArray;
    return isArray && !this.rules.excludesReasoning;
  }

  /** `isEnded`: the choice has a finish reason. Google sends one without a message for a prompt that it blocks. */
  protected spliceDelta(choice: ChoiceState, isEnded: boolean, insertIntoChoice: InsertMember): void {
    const { delta, deltaEnd } = this;
    const { isWhole } = this.rules;
    const isFirst = !choice.hasBegun;
    if (delta.from === -1 || delta.isNull) {
      if (isWhole && !isEnded) throw new BrokenChunk('a choice has no message');
      const text = isWhole ? EMPTY_MESSAGE : isFirst ? FIRST_DELTA : EMPTY_DELTA;
      if (delta.isNull) this.edits.replace(delta.from, delta.to, text);
      else insertIntoChoice(Buffer.concat([isWhole ? INSERTED.message : INSERTED.delta, text]));
      return;
    }
    const insert = this.inserter(deltaEnd.at, deltaEnd.isEmpty);
    this.spliceRole(isFirst, insert);
    this.spliceReasoning(choice, insert);
    this.spliceToolCalls(choice, insert);
    this.spliceContent(choice, isFirst, insert);
    if (this.refusal.isString) this.keep(choice.refusal, this.refusal);
    choice.hasRefusal ||= this.refusal.isString;
    this.hasContent ||= this.hasOtherContent || this.refusal.hasText;
  }

  private spliceRole(isFirst: boolean, insert: InsertMember): void {
    const { role } = this;
    if (!this.hasRole) {
      if (isFirst) insert(INSERTED.role);
    } else if (!this.isAssistant()) this.edits.replace(role.from, role.to, ASSISTANT);
  }

  private isAssistant(): boolean {
    const { from, to } = this.role;
    return to - from === ASSISTANT.length && this.matches(ASSISTANT, from);
  }

  /** Clients read `reasoning`, some read `reasoning_content`: both are sent where the provider sends the second. */
  private spliceReasoning(choice: ChoiceState, insert: InsertMember): void {
    const { reasoning, reasoningContent } = this;
    const source = reasoning.isString ? reasoning : reasoningContent;
    if (!source.isString) return;
    choice.hasReasoning = true;
    this.keep(choice.reasoning, source);
    this.hasContent ||= source.hasText;
    if (reasoning.isString || this.rules.excludesReasoning) return;
    const text = this.bytes.subarray(source.from, source.to);
    if (reasoning.isNull) this.edits.replace(reasoning.from, reasoning.to, text);
    else {
      insert(INSERTED.reasoning);
      this.edits.insert(this.deltaEnd.at, text);
    }
  }

  private spliceContent(choice: ChoiceState, isFirst: boolean, insert: InsertMember): void {
    const { content } = this;
    if (content.isString) {
      choice.hasContent = true;
      this.keep(choice.content, content);
      this.hasContent ||= content.hasText;
    } else if (content.from === -1 || content.isNull) {
      if (this.rules.isWhole) {
        if (content.from === -1) insert(INSERTED.nullContent);
      } else if (isFirst && (this.toolCalls.from === -1 || this.toolCalls.isNull)) {
        if (content.isNull) this.edits.replace(content.from, content.to, EMPTY_TEXT);
        else insert(INSERTED.content);
      }
    } else if (this.bytes[content.from] === OPEN_ARRAY) this.spliceParts(choice, insert);
    else throw new BrokenChunk('content is neither a text nor a list of parts');
  }

  private spliceParts(choice: ChoiceState, insert: InsertMember): void {
    const { from, to } = this.content;
    const { text, reasoning } = contentOfParts(this.parse(from, to));
    const content = Buffer.from(JSON.stringify(text));
    this.edits.replace(from, to, content);
    choice.hasContent = true;
    this.texts.append(choice.content, content, 1, content.length - 1);
    this.hasContent ||= text !== '' || reasoning !== '';
    if (reasoning === '') return;
    const spelled = Buffer.from(JSON.stringify(reasoning));
    choice.hasReasoning = true;
    this.texts.append(choice.reasoning, spelled, 1, spelled.length - 1);
    if (this.rules.excludesReasoning) return;
    insert(INSERTED.reasoning);
    this.edits.insert(this.deltaEnd.at, spelled);
  }

  private spliceToolCalls(choice: ChoiceState, insert: InsertMember): void {
    const { from, to, isNull } = this.toolCalls;
    if (from === -1 || isNull) return;
    if (!this.rules.isWhole && this.appendPlainFragment(choice)) {
      this.hasContent = true;
      return;
    }
    const fragments: unknown = this.parse(from, to);
    const rewritten = choice.toolCalls.rewrite(fragments, this.rules.isWhole);
    if (rewritten.length > 0) this.hasContent = true;
    const text = JSON.stringify(rewritten);
    if (text !== JSON.stringify(fragments)) this.edits.replace(from, to, Buffer.from(text));
    this.spliceSignatures(choice, rewritten, insert);
  }

  /** Clients that drop unknown members of a tool call keep these. */
  private spliceSignatures(
    choice: ChoiceState,
    calls: readonly Readonly<Record<string, unknown>>[],
    insert: InsertMember,
  ): void {
    const { wire, excludesReasoning } = this.rules;
    const { callSignatures: signatures } = wire;
    if (!signatures || excludesReasoning || this.hasDetails) return;
    const details = calls.flatMap((call) => {
      const data = signatures.read(call as JsonObject);
      const id = typeof call['id'] === 'string' ? call['id'] : choice.toolCalls.idAt(call['index']);
      if (data === null || id === null) return [];
      return [signatureDetail(signatures.format, { id, data, index: choice.signatureCount++ })];
    });
    if (details.length > 0) insert(Buffer.from(`"reasoning_details":${JSON.stringify(details)}`));
  }

  /** The usual fragment, `[{"index":0,"function":{"arguments":"…"}}]`, needs no parsing. */
  private appendPlainFragment(choice: ChoiceState): boolean {
    const { bytes } = this;
    const { from, to } = this.toolCalls;
    const end = to - FRAGMENT_END.length;
    if (!this.matches(FRAGMENT_START, from) || !this.matches(FRAGMENT_END, end)) return false;
    let at = from + FRAGMENT_START.length;
    let index = 0;
    for (let byte = bytes[at] ?? 0; byte >= 0x30 && byte <= 0x39; byte = bytes[++at] ?? 0)
      index = index * 10 + byte - 0x30;
    if (!this.matches(FRAGMENT_ARGUMENTS, at)) return false;
    const textStart = at + FRAGMENT_ARGUMENTS.length;
    // The first quote without a backslash ends the text: it must be the last one of the fragment.
    for (at = textStart; at < end && bytes[at] !== QUOTE; at++) if (bytes[at] === BACKSLASH) at++;
    return at === end && choice.toolCalls.appendArguments(index, bytes, textStart, end);
  }

  private keep(text: OutputText, { from, to }: Span): void {
    if (to - from > 2) this.texts.append(text, this.bytes, from + 1, to - 1);
  }
}
