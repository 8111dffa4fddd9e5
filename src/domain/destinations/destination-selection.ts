// Decides which generations a destination gets.
import type { Destination } from './destination.js';
import { fieldTextsOf } from './filter-fields.js';
import { compileFilter, contentFieldOf } from './filter-match.js';
import type { GenerationCandidate } from '../generations/generation-candidate.js';
import type { Pieces } from './regex-program.js';
import { isSampled } from './sampling.js';

type SelectionRules = Pick<Destination, 'id' | 'regions' | 'apiKeyHashes' | 'samplingRate' | 'filterRules'>;

export interface Selection {
  /** Evaluates all rules at once, without yielding. */
  selects(candidate: GenerationCandidate): boolean;
  /** Evaluates the rules in pieces; null when evaluation takes no time. */
  readonly pieces: ((candidate: GenerationCandidate) => Pieces<boolean>) | null;
}

/**
 * Compile once per version of the destination. Ignores the switches of the destination and its workspace. Throws
 * UnusableFilter.
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
    // The most expensive check comes last.
    selects: (candidate) => isWanted(candidate) && filter.passes(fieldTextsOf(candidate)),
    pieces:
      pieces &&
      function* (candidate) {
        return isWanted(candidate) && (yield* pieces(fieldTextsOf(candidate)));
      },
  };
}

/** Whether the destination's rules or traces need the stored content. */
export function needsContent({
  privacyMode,
  filterRules,
}: Pick<Destination, 'privacyMode' | 'filterRules'>): boolean {
  return !privacyMode || contentFieldOf(filterRules) !== null;
}
