// A vector together with who made it: what an answer and a record have to name, wherever the vector comes from.
import type { Vector } from '../vectors/vectors.js';
import type { ServedSlice } from '../routing/embedding-router.js';
import { endpointName } from '../routing/endpoints/endpoint-target.js';
import type { EndpointTarget } from '../routing/endpoints/endpoint-target.js';

/** Names alone: an endpoint's target holds a credential, which nobody may keep. */
export interface VectorMaker {
  readonly provider: string;
  /** The provider's slug. */
  readonly slug: string;
  /** As the log names it. */
  readonly endpoint: string;
}

export interface MadeVector {
  readonly vector: Vector;
  readonly maker: VectorMaker;
}

export function makerOf(target: EndpointTarget): VectorMaker {
  const { provider } = target;
  return { provider: provider.name, slug: provider.slug, endpoint: endpointName(target) };
}

/** The vectors of what was served, in the order of the inputs. */
export function vectorsOf(served: readonly ServedSlice[]): MadeVector[] {
  return served.flatMap(({ target, vectors }) => {
    const maker = makerOf(target);
    return vectors.map((vector) => ({ vector, maker }));
  });
}
