// A generation on its way to the destinations of its workspace, with all input of rules and traces.
import type { ApiKey } from '../keys/api-key.js';
import type { GenerationContent } from './generation-content.js';
import type { Generation } from './generation.js';

/** The members of a call's key that destinations may receive. */
export type KeyFacts = Pick<ApiKey, 'hash' | 'name' | 'creatorUserId' | 'externalUser'>;

export interface GenerationCandidate {
  readonly generation: Generation;
  readonly key: KeyFacts;
  /** Null when no content is or remains stored. */
  readonly content: GenerationContent | null;
}
