// The state of the whole service for operators, as far as an account may see it.
import { Injectable } from '@nestjs/common';
import { Database } from './database.js';
import { Reports } from './reports.js';
import { LIVE_SESSIONS } from './sessions.js';

// Destinations of one answer. An account may have tens of thousands, each with a look-up in the log.
const MAX_DESTINATIONS = 1_000;

export interface SystemState {
  readonly postgresVersion: string;
  /** Processes that are connected to the database: workers and delivery processes. */
  readonly processes: number;
}

export interface AccountBacklog {
  /** Enabled destinations, at most MAX_DESTINATIONS: the oldest. The other members count these. */
  readonly destinations: number;
  readonly waiting: number;
  readonly retrying: number;
  readonly paused: number;
  readonly oldestPendingAt: Date | null;
}

export interface KeyUse {
  readonly id: string;
  readonly rows: number;
}

const READ_SYSTEM = `
SELECT current_setting('server_version') AS "postgresVersion",
  (SELECT count(DISTINCT session)::integer FROM (${LIVE_SESSIONS}) AS live) AS processes`;

/**
 * $1 account, $2 a moment: older generations have expired, $3 a maximum of destinations. The first generation after each
 * cursor; the upper bound of the position makes the planner use the index on positions (delivery-statements.ts).
 */
const READ_BACKLOG = `
SELECT count(*)::integer AS destinations, count(first.created_at)::integer AS waiting,
  count(*) FILTER (WHERE cursor.failures > 0 AND cursor.paused_at IS NULL)::integer AS retrying,
  count(cursor.paused_at)::integer AS paused, min(first.created_at) AS "oldestPendingAt"
FROM (
  SELECT destination.workspace_id, destination.id FROM destinations AS destination
  JOIN workspaces AS workspace ON workspace.id = destination.workspace_id
  WHERE destination.account_id = $1 AND destination.enabled AND destination.deleted_at IS NULL
    AND workspace.is_broadcast_enabled
  ORDER BY destination.id LIMIT $3
) AS destination
JOIN delivery_cursors AS cursor ON cursor.workspace_id = destination.workspace_id AND cursor.destination_id = destination.id
LEFT JOIN LATERAL (
  SELECT created_at FROM generations AS generation WHERE generation.workspace_id = cursor.workspace_id
    AND generation.log_transaction BETWEEN cursor.log_transaction AND ${2n ** 63n - 1n}
    AND (generation.log_transaction, generation.log_ordinal) > (cursor.log_transaction, cursor.log_ordinal)
    AND NOT pg_visible_in_snapshot(generation.log_transaction::text::xid8, cursor.start_snapshot::pg_snapshot)
    AND generation.created_at >= $2
  ORDER BY generation.log_transaction, generation.log_ordinal LIMIT 1
) AS first ON true`;

/** $1 account. */
const READ_KEY_USE = `
SELECT id, count(*)::integer AS rows FROM (
  SELECT config_encryption_key_id AS id FROM destinations WHERE account_id = $1 AND deleted_at IS NULL
  UNION ALL
  SELECT encryption_key_id FROM provider_credentials WHERE account_id = $1 AND deleted_at IS NULL
  UNION ALL
  SELECT config_encryption_key_id FROM notification_rules WHERE account_id = $1
) AS encrypted GROUP BY id ORDER BY id`;

@Injectable()
export class SystemStateRepository {
  constructor(
    private readonly database: Database,
    private readonly reports: Reports,
  ) {}

  async read(): Promise<SystemState> {
    const [row] = await this.database.query<SystemState & Record<string, unknown>>({ text: READ_SYSTEM });
    if (!row) throw new Error('the database described nothing');
    return row;
  }

  async readBacklog(accountId: string, since: Date): Promise<AccountBacklog> {
    const [row] = await this.reports.read<AccountBacklog & Record<string, unknown>>(accountId, {
      text: READ_BACKLOG,
      values: [accountId, since, MAX_DESTINATIONS],
    });
    if (!row) throw new Error('the database counted nothing');
    return row;
  }

  async readKeyUse(accountId: string): Promise<readonly KeyUse[]> {
    const statement = { text: READ_KEY_USE, values: [accountId] };
    return this.reports.read<KeyUse & Record<string, unknown>>(accountId, statement);
  }
}
