// The invariant of every answer: N inputs, N vectors, in order, finite, all of the wanted width, none of zeros alone.
import { BrokenAnswer, UnusableVector } from '../../providers/shared/provider.js';
import type { ProviderAnswer } from '../../providers/shared/provider.js';
import { isZeroVector, truncateAndNormalise, vectorValues, vectorWidth } from '../../vectors/vectors.js';
import type { Vector } from '../../vectors/vectors.js';
import type { EndpointTarget } from '../endpoint-target.js';

/** The vectors of the wanted width. Throws BrokenAnswer. */
export function checkVectors(
  { vectors }: ProviderAnswer,
  { model, endpoint }: EndpointTarget,
  inputs: number,
  width: number,
): readonly Vector[] {
  if (vectors.length !== inputs) {
    throw new BrokenAnswer(`${vectors.length} vectors came back for ${inputs} inputs`);
  }
  const expected = endpoint.takesDimensions ? width : model.nativeDimensions;
  if (expected < width) {
    throw new BrokenAnswer(`vectors of ${expected} cannot become vectors of ${width}`);
  }
  for (const vector of vectors) {
    const found = vectorWidth(vector);
    if (found === null) throw new UnusableVector('a vector is not one of finite numbers');
    if (found === expected) continue;
    const Defect = found === 0 ? UnusableVector : BrokenAnswer;
    throw new Defect(`a vector has ${found} numbers and not ${expected}`);
  }
  const wanted = expected === width ? vectors : vectors.map((vector) => shortened(vector, width));
  // Backends that fail inside are known to answer so, and nothing can be found by such a vector.
  if (wanted.some(isZeroVector))
    throw new UnusableVector(`a vector has nothing but zeros in its ${width} numbers`);
  return wanted;
}

function shortened(vector: Vector, width: number): Vector {
  return { form: 'floats', values: truncateAndNormalise(vectorValues(vector), width) };
}
