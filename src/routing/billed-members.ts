// The cost that members of a body other than its inputs add to a call.
import type { ModelEndpoint } from '../catalogue/catalogue-model.js';
import { textBytes } from '../catalogue/token-count.js';
import type { EmbeddingRequest } from '../domain/embeddings/embedding.js';
import type { EmbeddingMembers } from '../providers/shared/embedding-members.js';
import type { BillingTraits } from '../providers/shared/provider.js';
import { sentMembers } from './sent-members.js';

interface BilledEndpoint {
  /** Or its wire of another operation. */
  readonly provider: { readonly billing: BillingTraits; readonly members?: EmbeddingMembers | undefined };
  readonly endpoint: Pick<ModelEndpoint, 'allowedMembers'>;
}

/** Bytes of text that a provider may read with each input beside the input itself: prompts and unknown members. */
export function addedBytes(
  target: BilledEndpoint,
  { extra: given, inputType }: Pick<EmbeddingRequest, 'extra'> & Partial<Pick<EmbeddingRequest, 'inputType'>>,
): number {
  const { free = [], promptBytes = 0, promptMembers = [], hasPrompt } = target.provider.billing;
  const { extra } = sentMembers(target, given);
  let isPrompted = hasPrompt === 'always' || inputType !== undefined;
  let bytes = 0;
  for (const name in extra) {
    if (promptMembers.includes(name)) isPrompted = true;
    if (!free.includes(name)) bytes += textBytes(JSON.stringify({ [name]: extra[name] }));
  }
  return isPrompted ? bytes + promptBytes : bytes;
}

/** The path of a member that changes the listed price; null if there is none. */
export function repricedMember(target: BilledEndpoint, extra: EmbeddingRequest['extra']): string | null {
  const { repriced } = target.provider.billing;
  return repriced === undefined ? null : findRepriced(sentMembers(target, extra).extra, '', repriced);
}

function findRepriced(
  value: unknown,
  path: string,
  repriced: Readonly<Record<string, readonly unknown[]>>,
): string | null {
  if (typeof value !== 'object' || value === null) return null;
  for (const [name, member] of Object.entries(value) as [string, unknown][]) {
    const memberPath = path === '' ? name : `${path}.${name}`;
    const listed = Object.hasOwn(repriced, name) ? repriced[name] : undefined;
    // Null counts as absent.
    if (listed && member !== null && !listed.includes(member)) return memberPath;
    const found = findRepriced(member, memberPath, repriced);
    if (found !== null) return found;
  }
  return null;
}
