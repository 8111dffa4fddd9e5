// Reads the results of an attempt, and makes attempts with other results.
import type { GenerationTrace } from '../../domain/generations/generation-trace.js';
import { isRejection } from '../batches/batch-sender.js';
import type { Attempt, DeliveryResults } from './parallel-sender.js';

export function isRejected({ results }: Attempt, { generationId }: GenerationTrace): boolean {
  return isRejection(results.get(generationId));
}

export function hasDelivered(results: DeliveryResults): boolean {
  return [...results.values()].some(({ outcome }) => outcome === 'delivered');
}

export function countDelivered(traces: readonly GenerationTrace[], results: DeliveryResults): number {
  return traces.filter(({ generationId }) => results.get(generationId)?.outcome === 'delivered').length;
}

export function without(results: DeliveryResults, traces: readonly GenerationTrace[]): DeliveryResults {
  const rest = new Map(results);
  for (const { generationId } of traces) rest.delete(generationId);
  return rest;
}

/**
 * A platform that rejects everything has a wrong config: the traces stay in the log until the config is fixed, instead of
 * all becoming dead letters. `rejectedCount` of the last traces were rejected.
 */
export function toBlocked(
  traces: readonly GenerationTrace[],
  { results, failure, ...attempt }: Attempt,
  rejectedCount: number,
): Attempt {
  const settled = traces.filter(({ generationId }) => results.has(generationId));
  const last = results.get(settled.at(-1)?.generationId ?? '');
  const message = `everything is refused: ${isRejection(last) ? last.message : ''}`;
  return {
    ...attempt,
    results: without(results, settled.slice(settled.length - rejectedCount)),
    failure: failure ?? { class: 'blocked', status: null, message, refusesAll: true },
  };
}

export function rejecting(attempt: Attempt, traces: readonly GenerationTrace[], message: string): Attempt {
  const results = new Map(attempt.results);
  for (const { generationId } of traces) results.set(generationId, { outcome: 'refused', message });
  return { ...attempt, results, failure: null };
}
