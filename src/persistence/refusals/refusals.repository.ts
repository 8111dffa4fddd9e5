// Refused calls: their sums, the newest ones, and those of keys.
import { Injectable } from '@nestjs/common';
import { Clock } from '../../domain/clock.js';
import type { ApiKey } from '../../domain/keys/api-key.js';
import { REFUSAL_REASONS } from '../../domain/keys/refusal.js';
import type { KeyRefusals, Refusal, RefusalCount, RefusalReason } from '../../domain/keys/refusal.js';
import type { ListedReach } from '../../domain/generations/call-reach.js';
import { formatUsd, parseUsd } from '../../domain/spend/money.js';
import type { WindowedSpend } from '../../domain/spend/spend.js';
import { Database } from '../database/database.js';
import {
  LIST_REFUSALS,
  RECORD_NEWEST_REFUSALS,
  RECORD_REFUSALS,
  REFUSALS_OF_KEYS,
  REMOVE_OLDER_REFUSALS,
} from './refusal-statements.js';

/** As JSON of the database. */
export type KeyRefusalsJson = {
  readonly lastHour: number;
  readonly lastDay: number;
  readonly since: string;
  readonly lastAt: string;
  readonly lastReason: string;
} | null;

interface RefusalRow extends Omit<Refusal, 'accountId' | 'reason' | 'limit'> {
  readonly reason: string;
  readonly window: string | null;
  readonly limit: string | null;
  readonly needed: string | null;
  readonly left: string | null;
  readonly resetsAt: Date | null;
  readonly affordableTokens: number | null;
}

export interface RefusalFilter {
  readonly within: ListedReach;
  readonly apiKeyId: string | null;
  readonly reason: RefusalReason | null;
  readonly limit: number;
}

@Injectable()
export class RefusalsRepository {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /** Adds all counts or none. */
  async record(counts: readonly RefusalCount[]): Promise<void> {
    await this.database.query({ text: RECORD_REFUSALS, values: [JSON.stringify(counts)] });
  }

  /** Adds these, and removes older ones of their accounts. */
  async recordNewest(refusals: readonly Refusal[]): Promise<void> {
    if (refusals.length === 0) return;
    const rows = refusals.map(({ limit, ...refusal }) => ({
      ...refusal,
      ...(limit && {
        window: limit.window,
        limit: formatUsd(limit.limit),
        needed: formatUsd(limit.needed),
        left: formatUsd(limit.left),
        resetsAt: limit.resetsAt,
        affordableTokens: limit.affordableTokens,
      }),
    }));
    await this.database.query({ text: RECORD_NEWEST_REFUSALS, values: [JSON.stringify(rows)] });
    const accountIds = [...new Set(refusals.map(({ accountId }) => accountId))];
    await this.database.query({ text: REMOVE_OLDER_REFUSALS, values: [accountIds] });
  }

  /** Of the newest of the account, newest first. */
  async listNewest(accountId: string, filter: RefusalFilter): Promise<readonly Refusal[]> {
    const { within, apiKeyId, reason, limit } = filter;
    const ownKeyIds = within.keys.map((key) => key.id);
    const rows = await this.database.query<RefusalRow & Record<string, unknown>>({
      text: LIST_REFUSALS,
      values: [accountId, within.workspaceIds, apiKeyId, reason, limit, ownKeyIds],
    });
    return rows.map((row) => toRefusal(row, accountId));
  }

  /** By key id, without keys that were not refused in the last day. */
  async findOfKeys(
    keys: readonly Pick<ApiKey, 'id' | 'workspaceId'>[],
  ): Promise<ReadonlyMap<string, KeyRefusals>> {
    if (keys.length === 0) return new Map();
    const rows = await this.database.query<{ id: string; refusals: KeyRefusalsJson }>({
      name: 'refusals-of-keys',
      text: REFUSALS_OF_KEYS,
      values: [keys.map(({ workspaceId }) => workspaceId), keys.map(({ id }) => id), this.clock.now()],
    });
    return new Map(
      rows.flatMap(({ id, refusals: json }) => {
        const refusals = readKeyRefusals(json);
        return refusals === null ? [] : [[id, refusals]];
      }),
    );
  }
}

export function readKeyRefusals(json: KeyRefusalsJson): KeyRefusals | null {
  if (json === null) return null;
  return {
    lastHour: json.lastHour,
    lastDay: json.lastDay,
    since: new Date(json.since),
    lastAt: new Date(json.lastAt),
    lastReason: toReason(json.lastReason),
  };
}

function toReason(text: string): RefusalReason {
  const reason = REFUSAL_REASONS.find((known) => known === text);
  if (!reason) throw new Error(`unknown reason of a refusal: ${text}`);
  return reason;
}

function toRefusal(row: RefusalRow, accountId: string): Refusal {
  const { reason, window, limit, needed, left, resetsAt, affordableTokens, ...refusal } = row;
  const isByLimit = window !== null && limit !== null && needed !== null && left !== null;
  return {
    ...refusal,
    accountId,
    reason: toReason(reason),
    limit: isByLimit
      ? {
          window: window as keyof WindowedSpend,
          limit: parseUsd(limit),
          needed: parseUsd(needed),
          left: parseUsd(left),
          resetsAt,
          affordableTokens,
        }
      : null,
  };
}
