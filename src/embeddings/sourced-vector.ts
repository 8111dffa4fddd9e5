// A vector together with who made it: what an answer and a record have to name, wherever the vector comes from.
import type { Vector } from '../vectors/vectors.js';
import type { ServedSlice } from '../routing/embedding-router.js';
import { endpointName } from '../routing/endpoints/endpoint-target.js';
import type { EndpointTarget } from '../routing/endpoints/endpoint-target.js';

/** Names alone: an endpoint's target holds a credential, which nobody may keep. */
export interface VectorSource {
  readonly provider: string;
  /** The provider's slug. */
  readonly slug: string;
  /** As the log names it. */
  readonly endpoint: string;
}

export interface SourcedVector {
  readonly vector: Vector;
  readonly source: VectorSource;
}

export function sourceOf(target: EndpointTarget): VectorSource {
  const { provider } = target;
  return { provider: provider.name, slug: provider.slug, endpoint: endpointName(target) };
}

/** The vectors of what was served, in the order of the inputs. */
export function vectorsOf(served: readonly ServedSlice[]): SourcedVector[] {
  return served.flatMap(({ target, vectors }) => {
    const source = sourceOf(target);
    return vectors.map((vector) => ({ vector, source }));
  });
}
