// Caches the API keys that traces name. A name may be 30 seconds old; the other members never change.
import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { capacityFor } from '../../domain/cache-capacity.js';
import { ApiKeysRepository } from '../../persistence/keys/api-keys.repository.js';
import type { TracedKey } from '../../persistence/keys/api-keys.repository.js';

const MAX_KEYS = 50_000;
// Milliseconds.
const TIME_TO_LIVE = 30_000;

@Injectable()
export class KeyNameCache {
  private readonly keys = new LRUCache<string, TracedKey>({ ...capacityFor(MAX_KEYS), ttl: TIME_TO_LIVE });

  constructor(private readonly repository: ApiKeysRepository) {}

  async find(workspaceId: string, ids: Iterable<string>): Promise<ReadonlyMap<string, TracedKey>> {
    const found = new Map<string, TracedKey>();
    const missing = new Set<string>();
    for (const id of ids) {
      const key = found.get(id) ?? this.keys.get(id);
      if (key) found.set(id, key);
      else missing.add(id);
    }
    if (missing.size > 0) {
      for (const key of await this.repository.findForTraces(workspaceId, [...missing])) {
        this.keys.set(key.id, key);
        found.set(key.id, key);
      }
    }
    return found;
  }
}
