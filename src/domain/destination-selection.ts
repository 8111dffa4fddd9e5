// Which generations a destination gets.
import type { Destination } from './destination.js';
import { fieldTextsOf } from './filter-fields.js';
import { compileFilter, filterReads } from './filter-match.js';
import type { GenerationCandidate } from './generation-candidate.js';
import { isSampled } from './sampling.js';

type SelectionRules = Pick<Destination, 'id' | 'regions' | 'apiKeyHashes' | 'samplingRate' | 'filterRules'>;

/**
 * To be kept for as long as the destination does not change: its regular expressions are compiled here. Whether it and
 * its workspace are switched on is not asked here.
 */
export function compileSelection(destination: SelectionRules): (candidate: GenerationCandidate) => boolean {
  const regions = new Set<string>(destination.regions);
  const hashes = destination.apiKeyHashes?.length ? new Set(destination.apiKeyHashes) : null;
  const passesFilter = compileFilter(destination.filterRules);
  // The dearest question comes last.
  return (candidate) =>
    regions.has(candidate.generation.region) &&
    (hashes === null || hashes.has(candidate.key.hash)) &&
    isSampled(destination, candidate.generation) &&
    passesFilter(fieldTextsOf(candidate));
}

/** Whether a destination's rules or traces are made from the stored content. */
export function needsContent({
  privacyMode,
  filterRules,
}: Pick<Destination, 'privacyMode' | 'filterRules'>): boolean {
  return !privacyMode || filterReads(filterRules, 'input');
}
