// A generation on its way to the destinations of its workspace, with all that rules and traces are made from.
import type { ApiKey } from '../keys/api-key.js';
import type { GenerationContent } from './generation-content.js';
import type { Generation } from './generation.js';

/** What destinations may know of the key that a call was made with. */
export type KeyFacts = Pick<ApiKey, 'hash' | 'name' | 'creatorUserId' | 'externalUser'>;

export interface GenerationCandidate {
  readonly generation: Generation;
  readonly key: KeyFacts;
  /** Null when nothing is stored, or nothing is stored any more. */
  readonly content: GenerationContent | null;
}
