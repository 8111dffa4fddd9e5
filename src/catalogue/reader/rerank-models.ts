// Reads rerank models.
import { MODALITIES } from '../../domain/embeddings/modality.js';
import type { RerankUnit } from '../../domain/rerank/rerank.js';
import type { RerankEndpoint, RerankModel } from '../rerank-model.js';
import type { Cursor } from './cursor.js';
import {
  given,
  modelMembers,
  readChoices,
  readCount,
  readEndpoints,
  readFlag,
  readNames,
} from './members.js';
import type { EndpointMembers, EndpointRules, KnownModels } from './members.js';
import { readRerankPrices } from './prices.js';

export const RERANK_ENDPOINT_MEMBERS =
  'modalities pointwise max_documents_per_call max_tokens_per_document chunk_tokens rerank_path allowed_members'.split(
    ' ',
  );

/** The facts of a provider that decide what its rows may state. */
export interface RerankProviderRules {
  readonly bills: readonly RerankUnit[];
  readonly takesPath: boolean;
}

export function readRerankModel(
  cursor: Cursor,
  known: KnownModels<RerankModel>,
  rules: EndpointRules,
  providers: ReadonlyMap<string, RerankProviderRules>,
): RerankModel {
  const { members, base, shared } = modelMembers(cursor, known, []);
  return {
    ...base,
    ...shared,
    endpoints: members.read(
      'endpoints',
      (member) =>
        readEndpoints(member, base?.endpoints ?? [], RERANK_ENDPOINT_MEMBERS, rules, (endpoint) =>
          readEndpoint(endpoint, providers.get(endpoint.shared.provider)),
        ),
      base?.endpoints,
    ),
  };
}

function readEndpoint(
  { members, base, shared }: EndpointMembers<RerankEndpoint>,
  provider: RerankProviderRules | undefined,
): RerankEndpoint {
  const { bills = [], takesPath = false } = provider ?? {};
  const readPath = (member: Cursor): string =>
    takesPath
      ? member.text(/^\/[\w./-]{1,200}$/, 'a path of letters, digits and ._/-, which begins with /')
      : member.fail('the operation of this provider has one path');
  return {
    ...base,
    ...shared,
    modalities: members.read('modalities', readChoices(MODALITIES), base?.modalities ?? ['text']),
    isPointwise: members.read('pointwise', readFlag, base?.isPointwise),
    maxDocumentsPerCall: members.read('max_documents_per_call', readCount, base?.maxDocumentsPerCall),
    ...given('maxTokensPerDocument', members.optional('max_tokens_per_document', readCount)),
    ...given('chunkTokens', members.optional('chunk_tokens', readCount)),
    ...given('rerankPath', members.optional('rerank_path', readPath)),
    ...given('allowedMembers', members.optional('allowed_members', readNames)),
    prices: members.read('prices', readRerankPrices(bills), base?.prices),
  };
}
