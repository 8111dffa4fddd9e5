// The keys that have used models, by the sums of the log.
import { Injectable } from '@nestjs/common';
import { Reports } from '../database/reports.js';
import { KEYS_OF_MODELS } from './model-use-statements.js';

/** Keys and models of one answer. */
const MOST = 1_000;

export interface ModelUse {
  readonly model: string;
  readonly hash: string;
  readonly label: string;
  readonly name: string;
  readonly workspaceId: string;
  readonly requests: number;
  readonly lastUsedAt: Date;
}

@Injectable()
export class ModelUseRepository {
  constructor(private readonly reports: Reports) {}

  /** Keys of the account that have used one of the models since the day, the latest use first. */
  async keysOf(accountId: string, models: readonly string[], since: Date): Promise<readonly ModelUse[]> {
    if (models.length === 0) return [];
    return this.reports.read<ModelUse & Record<string, unknown>>(accountId, {
      text: KEYS_OF_MODELS,
      values: [accountId, models, since, MOST],
    });
  }
}
