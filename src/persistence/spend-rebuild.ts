// Makes the spend counters anew from the generation log, which they are sums of.
import type { SpendHolderKind } from '../domain/spend-lease.js';
import type { Database } from './database.js';

interface Rebuild {
  readonly table: string;
  /** The counter's columns and the log's columns of the same meaning. */
  readonly key: readonly (readonly [counter: string, log: string])[];
  readonly holder: SpendHolderKind;
  readonly holderColumn: string;
}

const REBUILDS: readonly Rebuild[] = [
  {
    table: 'key_spend',
    key: [
      ['workspace_id', 'workspace_id'],
      ['api_key_id', 'api_key_id'],
    ],
    holder: 'key',
    holderColumn: 'api_key_id',
  },
  {
    table: 'workspace_spend',
    key: [['workspace_id', 'workspace_id']],
    holder: 'workspace',
    holderColumn: 'workspace_id',
  },
  {
    table: 'account_spend',
    key: [['account_id', 'account_id']],
    holder: 'account',
    holderColumn: 'account_id',
  },
];

/** One transaction: calls that are settled meanwhile wait, and are neither lost nor counted twice. */
export async function rebuildSpend(database: Database): Promise<void> {
  const tables = REBUILDS.map(({ table }) => table).join(', ');
  await database.transaction([`LOCK TABLE ${tables} IN EXCLUSIVE MODE`, ...REBUILDS.map(rebuildStatement)]);
}

function rebuildStatement({ table, key, holder, holderColumn }: Rebuild): string {
  const counterColumns = key.map(([counter]) => `counter.${counter}`).join(', ');
  const logColumns = key.map(([, log]) => log).join(', ');
  const joins = (log: string): string =>
    key.map(([counter, column]) => `counter.${counter} = ${log}.${column}`).join(' AND ');
  const inWindow = (unit: string, amount: string): string =>
    `coalesce(sum(days.${amount}) FILTER (WHERE date_trunc('${unit}', days.day) = date_trunc('${unit}', newest.day)), 0)`;
  return `
WITH days AS (
  SELECT ${logColumns}, (created_at AT TIME ZONE 'UTC')::date::timestamp AS day, sum(coalesce(cost, 0)) AS cost,
    sum(CASE WHEN is_byok THEN coalesce(upstream_cost, 0) ELSE 0 END) AS byok
  FROM generations GROUP BY ${logColumns}, day
), newest AS (
  SELECT ${logColumns}, max(day) AS day FROM days WHERE cost <> 0 OR byok <> 0 GROUP BY ${logColumns}
), sums AS (
  SELECT ${counterColumns}, coalesce(newest.day::date, '1970-01-01') AS last_day,
    coalesce(sum(days.cost), 0) AS total, coalesce(sum(days.byok), 0) AS byok_total,
    ${inWindow('day', 'cost')} AS daily, ${inWindow('day', 'byok')} AS byok_daily,
    ${inWindow('week', 'cost')} AS weekly, ${inWindow('week', 'byok')} AS byok_weekly,
    ${inWindow('month', 'cost')} AS monthly, ${inWindow('month', 'byok')} AS byok_monthly
  FROM ${table} AS counter
  LEFT JOIN newest ON ${joins('newest')} LEFT JOIN days ON ${joins('days')}
  GROUP BY ${counterColumns}, newest.day
)
UPDATE ${table} AS counter SET
  last_day = sums.last_day, total = sums.total, daily = sums.daily, weekly = sums.weekly, monthly = sums.monthly,
  byok_total = sums.byok_total, byok_daily = sums.byok_daily, byok_weekly = sums.byok_weekly,
  byok_monthly = sums.byok_monthly,
  reserved = (
    SELECT coalesce(sum(amount), 0) FROM spend_leases
    WHERE holder = '${holder}' AND holder_id = counter.${holderColumn}
  )
FROM sums WHERE ${key.map(([counter]) => `counter.${counter} = sums.${counter}`).join(' AND ')}`;
}
