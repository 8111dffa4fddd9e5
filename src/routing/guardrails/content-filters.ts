// Applies the content filters of guardrails to the body of a call, before anything else reads it (docs/contract.md#guardrails).
// Every failure refuses the call.
import { Injectable } from '@nestjs/common';
import { Counter } from 'prom-client';
import { YieldQueue } from '../../concurrency/yield-queue.js';
import type { Pace } from '../../concurrency/yield-queue.js';
import { Metrics } from '../../config/metrics.js';
import { AppError } from '../../domain/errors.js';
import { shownGuardrail } from '../../domain/guardrails/guardrails-in-force.js';
import { hitsIn, redactions, refusingHit } from '../../domain/guardrails/filtered-text.js';
import type { CompiledFilter, CompiledFilters, FilterHit } from '../../domain/guardrails/filtered-text.js';
import type { CallHits, NamedGuardrail } from '../../domain/guardrails/guardrail-hit.js';
import type { ApiKey, GuardedCaller } from '../../domain/keys/api-key.js';
import type { Pieces } from '../../domain/regex/regex-program.js';
import { memberPath } from '../../domain/text/member-path.js';
import { editStrings, hasRepeatedNames } from '../../json/edited-strings.js';
import type { StringEdit } from '../../json/edited-strings.js';
import { DailyHits } from './daily-hits.js';
import { MAX_DEPTH, textsOfBody } from './body-texts.js';
import type { BodyPath, BodyText } from './body-texts.js';

type Body = Readonly<Record<string, unknown>>;

/** The search of the texts of one call. */
interface Search {
  readonly key: ApiKey;
  readonly filters: CompiledFilters;
  readonly pace: Pace;
  readonly hits: CallHits | undefined;
}

export interface FilteredBody {
  readonly body: Body;
  readonly bytes: Buffer;
  readonly isRedacted: boolean;
}

/** Characters of all texts of a call, which guardrails with filters read. */
export const MAX_FILTERED_CHARACTERS = 4_000_000;
// A byte order mark is no part of the text.
const UTF8 = new TextDecoder();
const NO_RETRY = { 'x-should-retry': 'false' };

@Injectable()
export class ContentFilters {
  private readonly matches;

  constructor(
    private readonly yieldQueue: YieldQueue,
    private readonly daily: DailyHits,
    { registry }: Metrics,
  ) {
    this.matches = new Counter({
      name: 'signalbox_guardrail_hits_total',
      help: 'Matches of content filters, by action and filter: the slug of a built-in filter, or custom.',
      labelNames: ['action', 'filter'],
      registers: [registry],
    });
  }

  /** A reader of bodies that applies the filters before; where no guardrail is in force, `read` itself. */
  before<Read>(
    caller: GuardedCaller,
    read: (body: Body, bytes: Buffer) => Read,
  ): (body: Body, bytes: Buffer, beside?: Body) => Read | Promise<Read> {
    if (caller.guardrails === null) return read;
    return async (body, bytes, beside) => {
      const filtered = await this.apply(caller, body, bytes, beside);
      return read(filtered.body, filtered.bytes);
    };
  }

  /**
   * Throws `guardrail_blocked`. `bytes`: those of the body; absent: its JSON text. `beside`: members that providers receive with it,
   * which cannot be edited.
   */
  async apply(
    { key, guardrails, hits }: GuardedCaller,
    body: Body,
    bytes?: Buffer,
    beside: Body = {},
  ): Promise<FilteredBody> {
    const filters = guardrails?.filters ?? null;
    const rejects = guardrails?.guardrails.find(({ rejectUnscannable }) => rejectUnscannable);
    if (guardrails === null || (filters === null && rejects === undefined))
      return { body, bytes: bytes ?? NOTHING, isRedacted: false };
    const { texts: own, unscannable, tokens } = textsOfBody(body);
    const others = textsOfBody(beside).texts.map(({ path, text, isUser }): BodyText => ({
      path,
      text,
      kind: 'fixed',
      isUser,
    }));
    const texts = [...own, ...others];
    if (rejects !== undefined && unscannable !== null)
      throw blocked(rejects, unscannable, 'reject_unscannable');
    const withoutTokens = rejects ?? guardrailOfTokens(filters);
    if (withoutTokens !== undefined && tokens !== null)
      throw blocked(withoutTokens, tokens, 'reject_unscannable');
    if (filters === null) return { body, bytes: bytes ?? NOTHING, isRedacted: false };
    const characters = texts.reduce((sum, { text }) => sum + text.length, 0);
    if (characters > MAX_FILTERED_CHARACTERS)
      throw new AppError('payload_too_large', {
        detail: `guardrails read at most ${MAX_FILTERED_CHARACTERS} characters of a call, and this one has ${characters}`,
      });
    const search = { key, filters, pace: this.yieldQueue.begin(key.accountId), hits };
    const edits = new Map<string, readonly StringEdit[]>();
    for (const text of texts) {
      const edit = await this.editsOf(text, search);
      if (edit !== null) edits.set(nameOf(text.path), edit);
    }
    if (bytes !== undefined) rejectRepeatedNames(bytes);
    if (edits.size === 0) return { body, bytes: bytes ?? NOTHING, isRedacted: false };
    const sent = bytes ?? Buffer.from(JSON.stringify(body));
    const edited = editStrings(sent, (path) => edits.get(nameOf(path)) ?? null);
    return { body: JSON.parse(UTF8.decode(edited)) as Body, bytes: edited, isRedacted: true };
  }

  /** Null: the text stays. */
  private async editsOf(text: BodyText, search: Search): Promise<readonly StringEdit[] | null> {
    if (text.kind === 'json') {
      const edited = await this.editedJson(text, search);
      if (edited !== undefined) return edited;
    }
    const hits = await this.hitsOf(text, search);
    const refusing = refusingHit(hits, text.kind !== 'fixed');
    if (refusing !== undefined) throw blocked(refusing.filter.guardrail, text.path, refusing.filter.name);
    const edits = redactions(hits);
    return edits.length === 0 ? null : edits;
  }

  /** Of the strings of a JSON text, so that it still parses; undefined: it is no JSON. */
  private async editedJson(
    { path, text, isUser }: BodyText,
    search: Search,
  ): Promise<readonly StringEdit[] | null | undefined> {
    const value = jsonOf(text);
    if (typeof value !== 'object' || value === null) return undefined;
    if (hasRepeatedNames(Buffer.from(text))) return undefined;
    const edits = new Map<string, readonly StringEdit[]>();
    const visit = async (part: unknown, inner: BodyPath): Promise<void> => {
      if (inner.length > MAX_DEPTH)
        throw new AppError('invalid_request', { detail: `${memberPath(path)}: is nested too deeply` });
      if (typeof part === 'string') {
        const edit = await this.editsOf({ path, text: part, kind: 'text', isUser }, search);
        if (edit !== null) edits.set(nameOf(inner), edit);
      } else if (typeof part === 'object' && part !== null)
        for (const [name, each] of Object.entries(part)) {
          if (!Array.isArray(part)) await this.editsOf({ path, text: name, kind: 'fixed', isUser }, search);
          await visit(each, [...inner, Array.isArray(part) ? Number(name) : name]);
        }
    };
    await visit(value, []);
    if (edits.size === 0) return null;
    const edited = editStrings(Buffer.from(text), (inner) => edits.get(nameOf(inner)) ?? null);
    return [{ start: 0, end: text.length, text: edited.toString() }];
  }

  /** Counts them. */
  private async hitsOf(
    { text, isUser }: BodyText,
    { key, filters, pace, hits }: Search,
  ): Promise<readonly FilterHit[]> {
    const found = await atPace(hitsIn(filters, text, isUser), pace);
    // A text may have as many matches as words.
    const counts = new Map<CompiledFilter, number>();
    for (const { filter } of found) counts.set(filter, (counts.get(filter) ?? 0) + 1);
    for (const [{ guardrail, name, action, isBuiltin }, count] of counts) {
      this.matches.inc({ action, filter: isBuiltin ? name : 'custom' }, count);
      const { workspaceId } = key;
      this.daily.add({ workspaceId, guardrailId: guardrail.id, filter: name, action, hits: count });
      hits?.add(guardrail, name, action, count);
    }
    return found;
  }
}

/** Runs a search in pieces, between which others run. */
export async function atPace<Result>(pieces: Pieces<Result>, pace: Pace): Promise<Result> {
  for (;;) {
    const step = pieces.next();
    if (pace.isDue) await pace.yieldNow();
    if (step.done === true) return step.value;
  }
}

const NOTHING = Buffer.alloc(0);

/** A provider may read another one of them than the filters. */
function rejectRepeatedNames(bytes: Buffer): void {
  if (hasRepeatedNames(bytes))
    throw new AppError('invalid_request', { detail: 'the body repeats a name within an object' });
}

/** Names the filter and the place, never the match or the pattern. */
function blocked(guardrail: NamedGuardrail, path: BodyPath, filter: string): AppError {
  return new AppError('guardrail_blocked', {
    detail: `guardrail ${guardrail.name}, filter ${filter}`,
    headers: NO_RETRY,
    metadata: { guardrail: shownGuardrail(guardrail), filter, member: placeOf(path) },
  });
}

/** Names inside of schemas and unknown members may be the match itself. */
function placeOf(path: BodyPath): string {
  const known = path.findIndex((step) => typeof step === 'string' && !/^[a-z_]{1,40}$/.test(step));
  return memberPath(known === -1 ? path.slice(0, 8) : path.slice(0, known));
}

function guardrailOfTokens(filters: CompiledFilters | null): CompiledFilter['guardrail'] | undefined {
  return filters?.list.find(({ action }) => action !== 'flag')?.guardrail;
}

/** Names hold no zero. */
function nameOf(path: BodyPath): string {
  return path.map((step) => (typeof step === 'number' ? `#${step}` : `.${step}`)).join('\0');
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
