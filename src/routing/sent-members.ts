// The unknown members of a body that an endpoint gets.
import type { ModelEndpoint } from '../catalogue/catalogue-model.js';
import type { EmbeddingRequest } from '../domain/embeddings/embedding.js';
import type { EmbeddingMembers } from '../providers/shared/embedding-members.js';

export interface SentMembers {
  readonly extra: EmbeddingRequest['extra'];
  /** Without members of null, which mean nothing. */
  readonly dropped: readonly string[];
  /** The first dropped member without which the vector would be another; null: none. */
  readonly refused: string | null;
}

interface MemberReader {
  /** Or its wire of another operation. */
  readonly provider: { readonly members?: EmbeddingMembers | undefined };
  readonly endpoint: Pick<ModelEndpoint, 'allowedMembers'>;
}

export function sentMembers(
  { provider: { members }, endpoint: { allowedMembers = [] } }: MemberReader,
  extra: EmbeddingRequest['extra'],
): SentMembers {
  if (members === undefined) return { extra, dropped: [], refused: null };
  const isSent = ([name]: readonly [string, unknown]): boolean =>
    members.sent.includes(name) || allowedMembers.includes(name);
  const entries = Object.entries(extra);
  const dropped = entries.filter((entry) => !isSent(entry) && entry[1] !== null).map(([name]) => name);
  return {
    extra: Object.fromEntries(entries.filter(isSent)),
    dropped,
    refused: dropped.find((name) => members.refused.includes(name)) ?? null,
  };
}
