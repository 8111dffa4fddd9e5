// What the key operations promise.
import { Injectable } from '@nestjs/common';
import type { ApiKeyWithSpend, Caller } from '../domain/api-key.js';
import { AppError } from '../domain/errors.js';
import { ApiKeysRepository } from '../persistence/api-keys.repository.js';

@Injectable()
export class KeysService {
  constructor(private readonly apiKeys: ApiKeysRepository) {}

  /** Another account's key answers like one that does not exist. */
  async get(caller: Caller, hash: string): Promise<ApiKeyWithSpend> {
    const found = /^[0-9a-f]{64}$/.test(hash)
      ? await this.apiKeys.findWithSpend(caller.key.accountId, hash)
      : null;
    if (!found) throw new AppError('not_found', { detail: 'no key has this hash' });
    return found;
  }
}
