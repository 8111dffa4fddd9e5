// How guardrails are used: their assignments, what their limits have left, and the matches of their filters by day.
import { Injectable } from '@nestjs/common';
import { Clock } from '../../domain/clock.js';
import { HIT_DAYS } from '../../domain/guardrails/guardrail-hit.js';
import type { DailyHit, GuardrailUsage } from '../../domain/guardrails/guardrail-hit.js';
import type { ApiKey } from '../../domain/keys/api-key.js';
import type { SpentLimit } from '../../domain/spend/spend-limit.js';
import { utcDay } from '../../domain/spend/spend.js';
import { Database } from '../database/database.js';
import { readGuardrailLimits } from '../spend/shared-limits-json.js';
import type { GuardrailLimitsJson } from '../spend/shared-limits-json.js';
import {
  ADD_HITS,
  GUARDRAIL_LIMITS_OF_KEYS,
  MEMBER_LIMIT,
  USAGE_OF_GUARDRAILS,
} from './guardrail-statements.js';

const DAY = 86_400_000;

/** The limit of all keys of a member in a workspace. */
export interface MemberLimit {
  readonly guardrail: { readonly id: string; readonly name: string };
  readonly limit: SpentLimit;
}

@Injectable()
export class GuardrailUsageRepository {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /** Adds all counts or none. */
  async addHits(counts: readonly DailyHit[]): Promise<void> {
    await this.database.query({ text: ADD_HITS, values: [JSON.stringify(counts)] });
  }

  /** The limits of keys by their id, without keys that have none. */
  async limitsOfKeys(
    keys: readonly Pick<ApiKey, 'id' | 'workspaceId' | 'creatorUserId'>[],
  ): Promise<ReadonlyMap<string, readonly SpentLimit[]>> {
    if (keys.length === 0) return new Map();
    const rows = await this.database.query<{ id: string; limits: GuardrailLimitsJson }>({
      name: 'guardrail-limits-of-keys',
      text: GUARDRAIL_LIMITS_OF_KEYS,
      values: [
        keys.map(({ workspaceId }) => workspaceId),
        keys.map(({ id }) => id),
        keys.map(({ creatorUserId }) => creatorUserId),
      ],
    });
    const now = this.clock.now();
    return new Map(
      rows.flatMap(({ id, limits }) => (limits === null ? [] : [[id, readGuardrailLimits(limits, now)]])),
    );
  }

  /** Null: the member has no guardrail with a limit there. */
  async limitOfMember(workspaceId: string, userId: string): Promise<MemberLimit | null> {
    const [row] = await this.database.query<{ id: string; name: string; limits: GuardrailLimitsJson }>({
      name: 'limit-of-member',
      text: MEMBER_LIMIT,
      values: [workspaceId, userId],
    });
    const [limit] = row ? readGuardrailLimits(row.limits, this.clock.now()) : [];
    return row && limit ? { guardrail: { id: row.id, name: row.name }, limit } : null;
  }

  /** Of the guardrails of a workspace, in the order of their list. */
  async ofWorkspace(workspaceId: string): Promise<readonly GuardrailUsage[]> {
    const first = new Date(this.clock.now().getTime() - (HIT_DAYS - 1) * DAY);
    return this.database.query<GuardrailUsage & Record<string, unknown>>({
      text: USAGE_OF_GUARDRAILS,
      values: [workspaceId, utcDay(first)],
    });
  }
}
