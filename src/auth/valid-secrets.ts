// The digests of secrets that were found valid lately: who shares an address with somebody that guesses still gets
// through. Digests only, and only in this process: after a restart each has to be found valid once.
import { LRUCache } from 'lru-cache';

// More than callers are kept of: they go on being told from guesses when they have been forgotten.
const MAX_DIGESTS = 50_000;

export class ValidSecrets {
  private readonly digests;

  constructor(max = MAX_DIGESTS) {
    this.digests = new LRUCache<string, true>({ max });
  }

  /** Whether the secret was valid when it was last looked up. */
  has(digest: string): boolean {
    return this.digests.has(digest);
  }

  add(digest: string): void {
    this.digests.set(digest, true);
  }

  forget(digest: string): void {
    this.digests.delete(digest);
  }
}
