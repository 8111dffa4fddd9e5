// Which generations belong to the sample of a destination. A hash decides, so that a restart or another process decides
// alike, a session is in or out as a whole, and a higher rate only adds. Source: decisions "Destinations".
import { hash } from 'node:crypto';
import type { Destination } from './destination.js';
import type { Generation } from '../generations/generation.js';
import { traceIdOf } from '../generations/trace-ids.js';

export function isSampled(
  { id, samplingRate }: Pick<Destination, 'id' | 'samplingRate'>,
  generation: Generation,
): boolean {
  if (samplingRate >= 1) return true;
  // An empty id is nobody's session.
  const unit = generation.sessionId || traceIdOf(generation);
  // Ids of destinations have one length, so that two pairs never make the same text.
  const digest = hash('sha256', id + unit, 'buffer');
  return digest.readUIntBE(0, 6) / 2 ** 48 < samplingRate;
}
