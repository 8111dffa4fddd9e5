// The calls of one key by day and model, for the key itself.
import { Injectable } from '@nestjs/common';
import { Clock } from '../domain/clock.js';
import { AppError } from '../domain/errors.js';
import type { AnalyticsRow } from '../domain/generations/analytics.js';
import type { Caller } from '../domain/keys/api-key.js';
import { utcDay } from '../domain/spend/spend.js';
import { AnalyticsRepository } from '../persistence/activity/analytics.repository.js';
import { USAGE_METRICS } from './dto/key-usage.dto.js';

const DAY = 86_400_000;
// There are no pages here: a longer result is rejected instead of cut silently.
const MAX_ROWS = 10_000;

@Injectable()
export class KeyUsageService {
  constructor(
    private readonly analytics: AnalyticsRepository,
    private readonly clock: Clock,
  ) {}

  /** The newest day first, today included. */
  async list({ key }: Caller, days: number): Promise<readonly AnalyticsRow[]> {
    const tomorrow = Date.parse(utcDay(this.clock.now())) + DAY;
    const rows = await this.analytics.query({
      accountId: key.accountId,
      workspaceIds: [key.workspaceId],
      from: new Date(tomorrow - days * DAY),
      to: new Date(tomorrow),
      metrics: USAGE_METRICS,
      dimensions: ['model'],
      granularity: 'day',
      filters: [{ dimension: 'api_key_id', isNot: false, values: [key.id] }],
      orderBy: { field: 'date', isDescending: true },
      limit: MAX_ROWS,
      groupLimit: null,
    });
    if (rows.length > MAX_ROWS) {
      throw new AppError('invalid_request', {
        detail: `there are more than ${MAX_ROWS} rows; ask for fewer days`,
      });
    }
    return rows;
  }
}
