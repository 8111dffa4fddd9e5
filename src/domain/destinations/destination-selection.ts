// Which generations a destination gets.
import type { Destination } from './destination.js';
import { fieldTextsOf } from './filter-fields.js';
import { compileFilter, filterReads } from './filter-match.js';
import type { GenerationCandidate } from '../generations/generation-candidate.js';
import type { Pieces } from './regex-program.js';
import { isSampled } from './sampling.js';

type SelectionRules = Pick<Destination, 'id' | 'regions' | 'apiKeyHashes' | 'samplingRate' | 'filterRules'>;

export interface Selection {
  /** In one go, however long that takes. */
  selects(candidate: GenerationCandidate): boolean;
  /** The same in pieces; null where it takes no time at all. */
  readonly pieces: ((candidate: GenerationCandidate) => Pieces<boolean>) | null;
}

/**
 * To be kept for as long as the destination does not change. Whether it and its workspace are switched on is not asked
 * here. Throws UnusableFilter.
 */
export function compileSelection(destination: SelectionRules): Selection {
  const regions = new Set<string>(destination.regions);
  const hashes = destination.apiKeyHashes?.length ? new Set(destination.apiKeyHashes) : null;
  const filter = compileFilter(destination.filterRules);
  const { pieces } = filter;
  const isWanted = (candidate: GenerationCandidate): boolean =>
    regions.has(candidate.generation.region) &&
    (hashes === null || hashes.has(candidate.key.hash)) &&
    isSampled(destination, candidate.generation);
  return {
    // The dearest question comes last.
    selects: (candidate) => isWanted(candidate) && filter.passes(fieldTextsOf(candidate)),
    pieces:
      pieces &&
      function* (candidate) {
        return isWanted(candidate) && (yield* pieces(fieldTextsOf(candidate)));
      },
  };
}

/** Whether a destination's rules or traces are made from the stored content. */
export function needsContent({
  privacyMode,
  filterRules,
}: Pick<Destination, 'privacyMode' | 'filterRules'>): boolean {
  return !privacyMode || filterReads(filterRules, 'input');
}
