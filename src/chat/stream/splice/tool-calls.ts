// The tool calls of one choice. Clients join fragments by their index, and want the id, the type and the name with the
// first fragment of each call: fragments of providers that differ are rewritten.
import { randomBytes } from 'node:crypto';
import type { ChatChoice } from '../../../domain/chat/chat-outcome.js';
import { BrokenChunk } from './object-splicer.js';
import type { OutputText, OutputTexts } from './output-texts.js';

// Far above any answer: beyond it the provider is broken.
const MAX_TOOL_CALLS = 1_024;
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const ID_LETTERS = 24;

type Members = Record<string, unknown>;

interface ToolCall {
  readonly index: number;
  /** As the provider wrote it; empty: it wrote none. */
  readonly providerId: string;
  readonly id: string;
  readonly name: OutputText;
  readonly arguments: OutputText;
}

export class ToolCalls {
  private readonly calls: ToolCall[] = [];
  /** By the provider's index: the last call that it named so. */
  private readonly byProviderIndex = new Map<number, ToolCall>();

  constructor(
    private readonly texts: OutputTexts,
    /** Null: as the provider wrote it. */
    private readonly mapId: ((id: string) => string) | null,
    /** Ids of all choices. */
    private readonly usedIds: Set<string>,
  ) {}

  get count(): number {
    return this.calls.length;
  }

  /** The id of the call that clients know by `index`; null: there is none. */
  idAt(index: unknown): string | null {
    return this.calls.find((call) => call.index === index)?.id ?? null;
  }

  /** Appends arguments without a rewritten fragment; false: the fragment is not that plain. */
  appendArguments(providerIndex: number, bytes: Buffer, from: number, to: number): boolean {
    const call = this.byProviderIndex.get(providerIndex);
    if (!call || call.index !== providerIndex) return false;
    this.texts.append(call.arguments, bytes, from, to);
    return true;
  }

  /** The fragments of one chunk as clients want them, in the same order. Members that are not known stay. */
  rewrite(fragments: unknown, isWhole: boolean): Members[] {
    if (!Array.isArray(fragments)) throw new BrokenChunk('tool_calls is not an array');
    const begun = new Set<unknown>();
    return fragments.map((fragment: unknown) => {
      const members = membersOf(fragment);
      const rewritten = this.rewriteOne(members, isWhole, begun);
      begun.add(members['index']);
      return rewritten;
    });
  }

  toJSON(): ChatChoice['toolCalls'] {
    return this.calls.map(({ id, name, arguments: text }) => ({
      id,
      name: name.value,
      arguments: text.value,
    }));
  }

  /** `begun`: the provider's indexes of the fragments before it in the chunk. */
  private rewriteOne(fragment: Members, isWhole: boolean, begun: ReadonlySet<unknown>): Members {
    const { index: providerIndex, id: providerId, type: _type, function: called, ...others } = fragment;
    const { name, arguments: text, ...otherOfFunction } = membersOf(called ?? {});
    const id = typeof providerId === 'string' ? providerId : '';
    const index = Number.isSafeInteger(providerIndex) ? (providerIndex as number) : null;
    const calledName = typeof name === 'string' ? name : '';
    const known = isWhole ? null : this.find(index, id, calledName, begun.has(index));
    const call = known ?? this.add(index, id);
    const argumentText = textOf(text);
    this.append(call.arguments, argumentText);
    if (known) {
      // Some providers send the name after the id, others with every fragment.
      const isNamed = calledName !== '' && call.name.length === 0;
      if (isNamed) this.append(call.name, calledName);
      const members = {
        ...(isNamed ? { name: calledName } : {}),
        ...(text === undefined ? {} : { arguments: argumentText }),
        ...otherOfFunction,
      };
      return { index: call.index, ...(called ? { function: members } : {}), ...others };
    }
    this.append(call.name, calledName);
    return {
      ...(isWhole ? {} : { index: call.index }),
      id: call.id,
      type: 'function',
      function: { name: calledName, arguments: argumentText, ...otherOfFunction },
      ...others,
    };
  }

  /** The call that a fragment continues; null: it begins one. */
  private find(index: number | null, id: string, name: string, isRepeated: boolean): ToolCall | null {
    if (index === null) {
      if (id !== '') return this.calls.find(({ providerId }) => providerId === id) ?? null;
      return name === '' ? (this.calls.at(-1) ?? null) : null;
    }
    const call = this.byProviderIndex.get(index);
    if (!call) return null;
    if (id === '') return beginsAnother(call, name, isRepeated) ? null : call;
    // Several calls under one index: each has an id of its own.
    const isOther = call.providerId !== '' && id !== call.providerId;
    return isOther ? (this.calls.find(({ providerId }) => providerId === id) ?? null) : call;
  }

  private add(providerIndex: number | null, providerId: string): ToolCall {
    if (this.calls.length === MAX_TOOL_CALLS) {
      throw new BrokenChunk(`the answer has more than ${MAX_TOOL_CALLS} tool calls`);
    }
    const call = {
      index: this.freeIndex(providerIndex),
      providerId,
      id: this.uniqueId(providerId),
      name: this.texts.create(),
      arguments: this.texts.create(),
    };
    this.calls.push(call);
    this.byProviderIndex.set(providerIndex ?? call.index, call);
    return call;
  }

  private freeIndex(wanted: number | null): number {
    const used = new Set(this.calls.map(({ index }) => index));
    if (wanted !== null && wanted >= 0 && !used.has(wanted)) return wanted;
    let index = this.calls.length;
    while (used.has(index)) index++;
    return index;
  }

  private uniqueId(providerId: string): string {
    let id = providerId !== '' && this.mapId ? this.mapId(providerId) : providerId;
    while (id === '' || this.usedIds.has(id)) {
      const made = `call_${randomLetters()}`;
      id = this.mapId?.(made) ?? made;
    }
    this.usedIds.add(id);
    return id;
  }

  private append(to: OutputText, text: string): void {
    if (text === '') return;
    const escaped = Buffer.from(JSON.stringify(text));
    this.texts.append(to, escaped, 1, escaped.length - 1);
  }
}

/**
 * Some servers send every call under one index, without ids, one fragment each. Others repeat the name with every fragment
 * of a call, but a chunk has one fragment of a call at most.
 */
function beginsAnother({ name: known }: ToolCall, name: string, isRepeated: boolean): boolean {
  if (name === '' || known.length === 0) return false;
  return isRepeated || (!known.isCut && known.value !== name);
}

function membersOf(value: unknown): Members {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Members;
  throw new BrokenChunk('a tool call is not an object');
}

/** Some servers send the arguments as an object. */
function textOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function randomLetters(): string {
  let text = '';
  for (const byte of randomBytes(ID_LETTERS)) text += LETTERS[byte % LETTERS.length];
  return text;
}
