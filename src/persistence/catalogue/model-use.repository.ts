// The keys that have used models, by the sums of the log.
import { Injectable } from '@nestjs/common';
import type { Scope } from '../../domain/people/manager.js';
import { Reports } from '../database/reports.js';
import { keysOfModels } from './model-use-statements.js';

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

  /** Keys within reach that have used one of the models since the day, the latest use first. */
  async keysOf(scope: Scope, models: readonly string[], since: Date): Promise<readonly ModelUse[]> {
    if (models.length === 0) return [];
    const statement = keysOfModels(scope, { models, since, limit: MOST });
    return this.reports.read<ModelUse & Record<string, unknown>>(scope.accountId, statement);
  }
}
