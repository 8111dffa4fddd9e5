// The limit of what one key leaves unpaid in a UTC day by time-outs and broken answers (docs/contract.md#spend).
import { Injectable } from '@nestjs/common';
import { AppConfig } from '../config/app-config.js';
import { Clock } from '../domain/clock.js';
import { AppError } from '../domain/errors.js';
import type { ApiKey } from '../domain/keys/api-key.js';
import { formatUsd, usdToNumber } from '../domain/spend/money.js';
import { utcDay, windowEnd } from '../domain/spend/spend.js';
import type { SpendPolicy } from '../persistence/spend/spend-policy.repository.js';

@Injectable()
export class UnpaidLimit {
  constructor(
    private readonly config: AppConfig,
    private readonly clock: Clock,
  ) {}

  /** The rejection of calls that cost the operator something; null: the key may call. */
  rejectionOf({ id }: Pick<ApiKey, 'id'>, policy: SpendPolicy | null): AppError | null {
    const unpaid = policy?.unpaid?.get(id);
    const { maxUnpaid } = this.config;
    if (!unpaid || maxUnpaid === null) return null;
    const now = this.clock.now();
    if (unpaid.day < utcDay(now)) return null;
    const resetsAt = windowEnd('daily', now)?.toISOString() ?? null;
    return new AppError('key_limit_exceeded', {
      detail:
        `calls of this key that failed today have cost ${formatUsd(unpaid.amount)} USD that no caller pays, ` +
        `and ${formatUsd(maxUnpaid)} USD are the most of a day; its calls are accepted again at ${resetsAt}`,
      metadata: {
        limit_source: 'unpaid',
        limit_window: 'daily',
        limit_usd: usdToNumber(maxUnpaid),
        spend_usd: usdToNumber(unpaid.amount),
        resets_at: resetsAt,
      },
      headers: { 'x-should-retry': 'false' },
    });
  }
}
