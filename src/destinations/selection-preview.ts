// Applies a destination's rules to the newest generations of a workspace, by the code that decides deliveries.
import { Injectable } from '@nestjs/common';
import { YieldQueue } from '../concurrency/yield-queue.js';
import { isLongEnough, isSelected } from '../deliveries/batches/entry-decision.js';
import { compileSelection } from '../domain/destinations/destination-selection.js';
import type { Selection } from '../domain/destinations/destination-selection.js';
import type { Destination } from '../domain/destinations/destination.js';
import { UnusableFilter, contentFieldOf } from '../domain/destinations/filter-match.js';
import { AppError } from '../domain/errors.js';
import type { GenerationCandidate } from '../domain/generations/generation-candidate.js';
import type { Generation } from '../domain/generations/generation.js';
import { GenerationListRepository } from '../persistence/generations/generation-list.repository.js';
import { GenerationReader } from '../persistence/generations/generation-reader.js';
import type { LoggedGeneration } from '../persistence/generations/generation-reader.js';
import { ApiKeysRepository } from '../persistence/keys/api-keys.repository.js';

// Generations that a preview checks.
const PREVIEWED = 100;
// Bytes of contents that are read at once, and beyond which a preview ends. A single content may be larger.
const PORTION_BYTES = 2_000_000;
const MAX_CONTENT_BYTES = 32_000_000;

/** The rules that a preview applies: all but sampling. */
export type PreviewedRules = Pick<
  Destination,
  'accountId' | 'workspaceId' | 'regions' | 'apiKeyHashes' | 'filterRules'
>;

export interface SelectionCounts {
  readonly matched: number;
  /** Checked generations. */
  readonly of: number;
  /** Checked generations without content that a rule on contents could not read. */
  readonly contentGone: number;
}

type Portion = readonly GenerationCandidate[];

@Injectable()
export class SelectionPreview {
  constructor(
    private readonly generations: GenerationListRepository,
    private readonly reader: GenerationReader,
    private readonly keys: ApiKeysRepository,
    private readonly yieldQueue: YieldQueue,
  ) {}

  /** Ends early, with fewer generations, when the rules have used up the time of a pass of deliveries. */
  async count(rules: PreviewedRules): Promise<SelectionCounts> {
    try {
      return await this.countSelected(rules);
    } catch (error) {
      // Rules that an earlier version has stored.
      if (error instanceof UnusableFilter) throw new AppError('invalid_request', { detail: error.message });
      throw error;
    }
  }

  private async countSelected(rules: PreviewedRules): Promise<SelectionCounts> {
    const selection = selectionOf(rules);
    const wanted = selectionOf({ ...rules, filterRules: null });
    const readsContents = contentFieldOf(rules.filterRules) !== null;
    const work = this.yieldQueue.begin(rules.accountId);
    let [matched, of, contentGone] = [0, 0, 0];
    const candidates = await this.listNewest(rules);
    const portions = readsContents ? this.withContents(rules.workspaceId, candidates, wanted) : [candidates];
    for await (const portion of portions) {
      for (const candidate of portion) {
        if (isLongEnough(work)) return { matched, of, contentGone };
        of += 1;
        if (await isSelected(selection, candidate, work)) matched += 1;
        else if (readsContents && candidate.content === null && wanted.selects(candidate)) contentGone += 1;
      }
    }
    return { matched, of, contentGone };
  }

  /** Newest first. */
  private async listNewest({ accountId, workspaceId }: PreviewedRules): Promise<Portion> {
    const { generations } = await this.generations.list({ accountId, workspaceId }, null, PREVIEWED);
    const ids = new Set(generations.map(({ apiKeyId }) => apiKeyId));
    const keys = await this.keys.findForTraces(workspaceId, [...ids]);
    const keyOf = new Map(keys.map((key) => [key.id, key]));
    return generations.flatMap((generation) => {
      const key = keyOf.get(generation.apiKeyId);
      return key === undefined ? [] : [{ generation, key, content: null }];
    });
  }

  /** The same candidates with their stored contents, as far as the other rules want them. */
  private async *withContents(
    workspaceId: string,
    candidates: Portion,
    wanted: Selection,
  ): AsyncGenerator<Portion> {
    const names: Generation[] = candidates
      .filter((candidate) => wanted.selects(candidate))
      .map(({ generation }) => generation);
    const logged = await this.reader.readNamed(workspaceId, names);
    const entries = new Map(logged.map((entry) => [entry.generation.id, entry]));
    let total = 0;
    for (const portion of portionsOf(candidates, entries)) {
      if (total > MAX_CONTENT_BYTES) return;
      const stored = portion.flatMap(({ generation }) => entries.get(generation.id) ?? []).filter(hasContent);
      total += stored.reduce((sum, { contentBytes }) => sum + contentBytes, 0);
      // A content that cannot be decrypted is no longer known.
      const contents = await this.reader.readBlocks(workspaceId, stored, () => undefined);
      yield portion.map((each) =>
        Object.assign({}, each, { content: contents.get(each.generation.id) ?? null }),
      );
    }
  }
}

function selectionOf(rules: PreviewedRules): Selection {
  return compileSelection({ ...rules, id: '', samplingRate: 1 });
}

function hasContent({ contentBytes }: LoggedGeneration): boolean {
  return contentBytes > 0;
}

/** Adjacent candidates whose contents are read at once. */
function portionsOf(candidates: Portion, entries: ReadonlyMap<string, LoggedGeneration>): readonly Portion[] {
  const portions: GenerationCandidate[][] = [];
  let bytes = Infinity;
  for (const candidate of candidates) {
    const own = entries.get(candidate.generation.id)?.contentBytes ?? 0;
    if (bytes + own > PORTION_BYTES) {
      portions.push([]);
      bytes = 0;
    }
    bytes += own;
    portions.at(-1)?.push(candidate);
  }
  return portions;
}
