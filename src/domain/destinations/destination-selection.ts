// Decides which generations a destination gets.
import { hash } from 'node:crypto';
import type { GenerationCandidate } from '../generations/generation-candidate.js';
import type { Generation } from '../generations/generation.js';
import { traceIdOf } from '../generations/trace-ids.js';
import type { Destination } from './destination.js';
import { fieldTextsOf } from './filter-fields.js';
import { compileFilter, contentFieldOf } from './filter-match.js';
import type { Pieces } from '../regex/regex-program.js';

/**
 * Whether a generation belongs to a destination's sample. A hash makes the decision repeatable across restarts and
 * processes, keeps sessions whole, and makes a higher rate only add (docs/contract.md#deliveries).
 */
export function isSampled(
  { id, samplingRate }: Pick<Destination, 'id' | 'samplingRate'>,
  generation: Generation,
): boolean {
  if (samplingRate >= 1) return true;
  // An empty id is not a session.
  const unit = generation.sessionId || traceIdOf(generation);
  // Ids of destinations have one length, so that two pairs never produce the same text.
  const digest = hash('sha256', id + unit, 'buffer');
  return digest.readUIntBE(0, 6) / 2 ** 48 < samplingRate;
}

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
