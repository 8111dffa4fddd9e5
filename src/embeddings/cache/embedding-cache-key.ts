// The cache key of an input: inputs with equal keys have the same vector.
import { hash } from 'node:crypto';
import { endpointTag } from '../../catalogue/catalogue-model.js';
import type { Pace } from '../../concurrency/yield-queue.js';
import type { EmbeddingRequest, MultimodalItem } from '../../domain/embeddings/embedding.js';
import { addressOf, modalityOf } from '../../domain/embeddings/modality.js';
import type { Route } from '../../routing/embeddings/route-planner.js';

/** Whether the keys of the inputs contain everything that determines their vectors. */
export function isCacheable({ input, extra }: EmbeddingRequest): boolean {
  // Unknown members may change a vector, or make it depend on other inputs of the call.
  if (Object.keys(extra).length > 0) return false;
  return input.form !== 'multimodal' || input.items.every(holdsItsContent);
}

/** The content behind an http(s) address may change. */
function holdsItsContent({ content }: MultimodalItem): boolean {
  return content.every(
    (part) => modalityOf(part) === 'text' || addressOf(part)?.startsWith('data:') === true,
  );
}

/**
 * One key for each input of a cacheable request. Keys are digests, so that the cache holds no text. They cover everything
 * that determines a vector, the workspace first.
 */
export async function embeddingCacheKeys(
  workspaceId: string,
  route: Route,
  request: EmbeddingRequest,
  pace: Pace,
): Promise<string[]> {
  const { model } = route;
  // JSON separates members that concatenation would merge, and lone surrogates, which UTF-8 cannot represent.
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
    // The digest has a fixed length, so that the item begins at a fixed position.
    const text = scopeDigest + JSON.stringify(item);
    keys.push(hash('sha256', text, 'base64url'));
    if (pace.isDue) await pace.yieldNow();
  }
  return keys;
}

/**
 * The endpoints that may serve the call, in any order. They share a vector space and still round differently: a caller who
 * excludes some (`only`, `quantizations`) must not receive their vectors.
 */
function endpointFamily({ targets }: Route): string[] {
  const names = targets.map(({ endpoint }) =>
    JSON.stringify([endpointTag(endpoint), endpoint.upstreamModel]),
  );
  return [...new Set(names)].toSorted();
}
