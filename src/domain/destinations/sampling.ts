// Decides which generations belong to a destination's sample. A hash makes the decision repeatable across restarts and
// processes, keeps sessions whole, and makes a higher rate only add (docs/contract.md#deliveries).
import { hash } from 'node:crypto';
import type { Destination } from './destination.js';
import type { Generation } from '../generations/generation.js';
import { traceIdOf } from '../generations/trace-ids.js';

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
