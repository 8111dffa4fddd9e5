// What makes two inputs the same question: only then does one vector answer both.
import { hash } from 'node:crypto';
import { endpointTag } from '../../catalogue/catalogue-model.js';
import type { Pace } from '../../concurrency/yield-queue.js';
import type { EmbeddingRequest, MultimodalItem } from '../../domain/embeddings/embedding.js';
import { addressOf, modalityOf } from '../../domain/embeddings/modality.js';
import type { Route } from '../../routing/route-planner.js';

/** Whether the keys of the inputs tell all that decides about their vectors. */
export function isCacheable({ input, extra }: EmbeddingRequest): boolean {
  // Members that are not known here may change a vector, or tie the inputs of a call to each other.
  if (Object.keys(extra).length > 0) return false;
  return input.form !== 'multimodal' || input.items.every(holdsItsContent);
}

/** What stands at an address elsewhere may be another picture tomorrow. */
function holdsItsContent({ content }: MultimodalItem): boolean {
  return content.every(
    (part) => modalityOf(part) === 'text' || addressOf(part)?.startsWith('data:') === true,
  );
}

/**
 * One key for each input of a request that is cacheable. Digests: what is kept by them holds no text. All that decides
 * about a vector is in them, the workspace first.
 */
export async function embeddingCacheKeys(
  workspaceId: string,
  route: Route,
  request: EmbeddingRequest,
  pace: Pace,
): Promise<string[]> {
  const { model } = route;
  // JSON keeps apart what plain concatenation would run together, and half surrogates, which UTF-8 has no bytes for.
  const scope = JSON.stringify([
    workspaceId,
    model.id,
    endpointFamily(route),
    request.dimensions ?? model.nativeDimensions,
    request.inputType ?? null,
    request.encodingFormat,
    request.input.form,
  ]);
  const scopeDigest = hash('sha256', scope, 'hex');
  const keys: string[] = [];
  for (const item of request.input.items) {
    // The digest has a fixed length: where it ends and the item begins is never in doubt.
    const text = scopeDigest + JSON.stringify(item);
    keys.push(hash('sha256', text, 'base64url'));
    if (pace.isDue) await pace.yieldNow();
  }
  return keys;
}

/**
 * The endpoints that may serve the call, whatever their order: they share a vector space, and yet each rounds in its own
 * way, so that a caller who leaves some out (`only`, `quantizations`) gets nothing that those have made.
 */
function endpointFamily({ targets }: Route): string[] {
  const names = targets.map(({ endpoint }) =>
    JSON.stringify([endpointTag(endpoint), endpoint.upstreamModel]),
  );
  return [...new Set(names)].toSorted();
}
