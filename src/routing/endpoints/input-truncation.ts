// Which providers embed the beginning of an input that exceeds their limit, instead of rejecting it. Sources: the
// providers' own documentation of these members.
import type { EmbeddingRequest } from '../../domain/embeddings/embedding.js';
import type { EndpointTarget } from './endpoint-target.js';

type Members = EmbeddingRequest['extra'];
type Truncates = (extra: Members, upstreamModel: string) => boolean;

/** By slug. A provider that is not listed rejects long inputs. */
const TRUNCATES: ReadonlyMap<string, Truncates> = new Map<string, Truncates>([
  ['cohere', ({ truncate }) => truncate !== 'NONE'],
  // Titan rejects; Cohere's models receive a truncation mode from this service.
  ['bedrock', ({ truncate }, upstreamModel) => upstreamModel.includes('cohere.') && truncate !== 'NONE'],
  ['google', ({ autoTruncate, auto_truncate }) => (autoTruncate ?? auto_truncate) !== false],
  ['jina', ({ truncate }) => truncate === true],
  ['nomic', () => true],
  ['ollama', ({ truncate }) => truncate !== false],
  ['tei', ({ truncate }) => truncate === true],
  ['vllm', ({ truncate_prompt_tokens }) => truncate_prompt_tokens !== undefined],
  ['voyage', ({ truncation }) => truncation !== false],
]);

export function truncatesLongInputs({ endpoint, provider }: EndpointTarget, extra: Members): boolean {
  return TRUNCATES.get(provider.slug)?.(extra, endpoint.upstreamModel) ?? false;
}
