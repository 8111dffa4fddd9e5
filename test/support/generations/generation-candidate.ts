// Generations on their way to a destination, and destinations for them, for tests of what gets where.
import type { Destination } from '../../../src/domain/destinations/destination.js';
import type { GenerationCandidate, KeyFacts } from '../../../src/domain/generations/generation-candidate.js';
import type { GenerationContent } from '../../../src/domain/generations/generation-content.js';
import type { Generation } from '../../../src/domain/generations/generation.js';
import { createGeneration } from './generation.js';

const OWNER = {
  id: '0193a1b2-0000-7000-8000-00000000000c',
  accountId: '0193a1b2-0000-7000-8000-00000000000b',
  workspaceId: '0193a1b2-0000-7000-8000-00000000000a',
};

export function createCandidate(
  overrides: {
    readonly generation?: Partial<Generation>;
    readonly key?: Partial<KeyFacts>;
    readonly content?: GenerationContent | null;
  } = {},
): GenerationCandidate {
  return {
    generation: createGeneration(OWNER, overrides.generation),
    key: {
      hash: 'a'.repeat(64),
      name: 'Search service',
      creatorUserId: 'user-42',
      externalUser: 'tenant-7',
      ...overrides.key,
    },
    content: overrides.content ?? null,
  };
}

/** A destination that receives everything, with all facts. */
export function createOpenDestination(overrides: Partial<Destination> = {}): Destination {
  return {
    id: '0193a1b2-0000-7000-8000-0000000000de',
    accountId: OWNER.accountId,
    workspaceId: OWNER.workspaceId,
    kind: 'webhook',
    type: 'webhook',
    name: 'Everything',
    enabled: true,
    privacyMode: false,
    broadcastCost: true,
    broadcastIdentity: true,
    broadcastRequestContext: true,
    samplingRate: 1,
    apiKeyHashes: null,
    filterRules: null,
    regions: ['global'],
    config: { url: 'https://example.com/traces' },
    version: 1,
    createdAt: new Date('2026-11-18T00:00:00.000Z'),
    updatedAt: new Date('2026-11-18T00:00:00.000Z'),
    ...overrides,
  };
}
