// Lets a call through while its key has money left. Source: decisions 18.
import { Injectable } from '@nestjs/common';
import type { ApiKey } from '../domain/api-key.js';
import { AppError } from '../domain/errors.js';
import { formatUsd } from '../domain/money.js';
import { remainingOfLimit } from '../domain/spend.js';
import { ApiKeysRepository } from '../persistence/api-keys.repository.js';

@Injectable()
export class SpendGate {
  constructor(private readonly apiKeys: ApiKeysRepository) {}

  /** Throws `insufficient_credits` when nothing is left of the key's limit. */
  async check(key: ApiKey): Promise<void> {
    if (key.limit === null) return;
    const remaining = remainingOfLimit(await this.apiKeys.findSpend(key), key);
    if (remaining !== null && remaining <= 0n) {
      const limit = `${key.limitReset ?? 'total'} limit of ${formatUsd(key.limit)} USD`;
      throw new AppError('insufficient_credits', {
        detail: `this key has used up its ${limit}; raise it to go on`,
      });
    }
  }
}
