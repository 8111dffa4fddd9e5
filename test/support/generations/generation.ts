// Generations as the service writes them, for tests of what keeps them.
import type { ApiKey } from '../../../src/domain/keys/api-key.js';
import type { GenerationContent } from '../../../src/domain/generations/generation-content.js';
import type { Generation } from '../../../src/domain/generations/generation.js';
import { uuidV7 } from '../../../src/domain/identifiers.js';

export function createGeneration(
  key: Pick<ApiKey, 'id' | 'accountId' | 'workspaceId'>,
  overrides: Partial<Generation> = {},
): Generation {
  const createdAt = overrides.createdAt ?? new Date('2026-11-18T12:00:00.000Z');
  return {
    id: uuidV7(createdAt),
    accountId: key.accountId,
    workspaceId: key.workspaceId,
    apiKeyId: key.id,
    createdAt,
    operation: 'embeddings',
    model: 'openai/text-embedding-3-small',
    endpoint: 'openai/text-embedding-3-small',
    provider: 'openai',
    upstreamId: null,
    status: 200,
    errorType: null,
    errorMessage: null,
    inputCount: 1,
    promptTokens: 1,
    totalTokens: 1,
    cost: 0n,
    upstreamCost: overrides.cost ?? 0n,
    isByok: false,
    dimensions: 1536,
    encodingFormat: 'float',
    inputType: null,
    durationMs: 1,
    upstreamMs: 1,
    userId: null,
    sessionId: null,
    requestId: 'request',
    region: 'global',
    trace: null,
    requestContext: null,
    attempts: [],
    chat: null,
    rerank: null,
    ...overrides,
  };
}

export const contentOfText = (text: string): GenerationContent => ({
  items: [text],
  isTruncated: false,
  errorMessage: null,
});
