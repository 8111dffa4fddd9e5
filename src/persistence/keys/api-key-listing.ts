// The keys that a list has.
//
// Why plain SQL: the order and the conditions of a list are put together when it runs.
import type { ApiKeyKind } from '../../domain/keys/api-key.js';
import type { KeyOrder, KeyState } from '../../domain/keys/key-list.js';
import type { PageRequest } from '../../domain/page.js';
import { ownerIn } from '../../domain/people/manager.js';
import type { Scope } from '../../domain/people/manager.js';
import { TABLE_OF_LAST_USE } from '../activity/usage-statements.js';
import type { Prisma } from '../generated/client.js';
import { keysWithin } from './keys-in-reach.js';
import type { Add } from './keys-in-reach.js';

/** Undefined members do not filter. */
export interface OperatorListing extends PageRequest {
  readonly accountId: string | undefined;
  readonly workspaceId: string | undefined;
  readonly kind: ApiKeyKind | undefined;
}

export interface ApiKeyListing extends PageRequest {
  /** Null: all workspaces of the account. */
  readonly workspaceId: string | null;
  readonly includeDisabled: boolean;
  /** In upper or lower case. Empty: every name. */
  readonly partOfName: string;
  readonly order: KeyOrder;
  readonly isDescending: boolean;
  /** Null: any. */
  readonly state: KeyState | null;
  /** Workspaces in which a budget or the credits refuse the calls of all keys; read for the state `stopped` alone. */
  readonly stoppedWorkspaceIds: readonly string[];
}

/** The keys of a workspace, newest first, which an index has; null: the list has another order or more conditions. */
export function plainList(
  { accountId, reach }: Scope,
  listing: ApiKeyListing,
): Prisma.ApiKeyWhereInput | null {
  const { workspaceId, includeDisabled, partOfName, order, isDescending, state } = listing;
  const isPlain = partOfName === '' && state === null && order === 'created' && isDescending;
  if (!isPlain || workspaceId === null) return null;
  const creatorUserId = ownerIn(reach, workspaceId);
  return {
    accountId,
    workspaceId,
    ...(creatorUserId !== null && { creatorUserId }),
    ...(includeDisabled ? {} : { disabled: false }),
  };
}

const UNITS = { daily: 'day', weekly: 'week', monthly: 'month' } as const;

/** The spend of a key that counts towards its limit, in the window of `now`; without a limit, of all time. */
function spentAt(now: string): string {
  const sum = (column: string): string =>
    `spend.${column} + CASE WHEN key.include_byok_in_limit THEN spend.byok_${column} ELSE 0 END`;
  const start = (unit: string, moment: string): string => `date_trunc('${unit}', ${moment})`;
  const windows = Object.entries(UNITS).map(
    ([window, unit]) => `
    WHEN '${window}' THEN CASE
      WHEN ${start(unit, 'spend.last_day::timestamp')} = ${start(unit, `${now}::timestamptz AT TIME ZONE 'UTC'`)}
      THEN ${sum(window)} ELSE 0 END`,
  );
  return `coalesce(CASE key.limit_reset ${windows.join('')} ELSE ${sum('total')} END, 0)`;
}

/** Names are longer than a row of an index may be. */
const START_OF_NAME = 'left(lower(key.name), 100)';
const SPEND =
  'LEFT JOIN key_spend AS spend ON spend.workspace_id = key.workspace_id AND spend.api_key_id = key.id';
/**
 * From SQL for workspaces. The sums of all their keys are read at once; a key whose calls they do not have, or no longer, is
 * looked up by itself.
 */
const joinLastUse = (workspaceIds: string): string => `LEFT JOIN (
  SELECT workspace_id, api_key_id, max(last_created_at) AS moment FROM ${TABLE_OF_LAST_USE}
  WHERE workspace_id IN (${workspaceIds}) GROUP BY workspace_id, api_key_id
) AS summed ON summed.workspace_id = key.workspace_id AND summed.api_key_id = key.id
CROSS JOIN LATERAL (
  SELECT greatest(
    summed.moment,
    nullif(spend.last_day, '1970-01-01')::timestamp AT TIME ZONE 'UTC',
    CASE WHEN summed.moment IS NULL THEN (
      SELECT max(day) FROM activity_key_days WHERE workspace_id = key.workspace_id AND api_key_id = key.id
    )::timestamp AT TIME ZONE 'UTC' END
  ) AS moment
) AS last_use`;

function orderOf(order: KeyOrder, now: Date, add: Add): string {
  switch (order) {
    case 'created':
      return 'key.created_at';
    case 'name':
      return START_OF_NAME;
    case 'spend':
      return spentAt(add(now));
    // A key that was never used counts as used before all others.
    case 'last_used':
      return "coalesce(last_use.moment, '-infinity')";
    case 'expires':
      return 'key.expires_at';
  }
}

function conditionOf(state: KeyState, stoppedIds: readonly string[], now: Date, add: Add): string {
  switch (state) {
    case 'stopped':
      return `NOT key.disabled AND key.kind = 'inference'
  AND (key.workspace_id = ANY(${add(stoppedIds)}::uuid[]) OR key.limit_amount <= ${spentAt(add(now))})`;
    case 'expiring': {
      const moment = `${add(now)}::timestamptz`;
      return `NOT key.disabled AND key.expires_at > ${moment} AND key.expires_at <= ${moment} + interval '7 days'`;
    }
    case 'unused':
      return `NOT key.disabled AND key.kind = 'inference'
  AND coalesce(last_use.moment AT TIME ZONE 'UTC', '-infinity')::date < (${add(now)}::timestamptz AT TIME ZONE 'UTC')::date - 30`;
    case 'disabled':
      return 'key.disabled';
  }
}

/**
 * The ids in the order of the list. Within a workspace an index has the order by name and expiry; a part of a name, spend,
 * last use and several workspaces read every key: run it as a report.
 */
export function findKeys(
  { accountId, reach }: Scope,
  listing: ApiKeyListing,
  now: Date,
): { readonly text: string; readonly values: unknown[] } {
  const values: unknown[] = [];
  const add: Add = (value) => `$${values.push(value)}`;
  const { workspaceId, order, state, partOfName, includeDisabled, stoppedWorkspaceIds } = listing;
  const account = add(accountId);
  const workspace = workspaceId === null ? null : add(workspaceId);
  const readsLastUse = order === 'last_used' || state === 'unused';
  const joins = [
    ...(readsLastUse || order === 'spend' || state === 'stopped' ? [SPEND] : []),
    ...(readsLastUse
      ? [joinLastUse(workspace ?? `SELECT id FROM workspaces WHERE account_id = ${account}`)]
      : []),
  ];
  const conditions = [
    `key.account_id = ${account} AND key.deleted_at IS NULL`,
    ...(workspace === null ? [] : [`key.workspace_id = ${workspace}`]),
    ...keysWithin(reach, add),
    ...(state === null ? [] : [conditionOf(state, stoppedWorkspaceIds, now, add)]),
    ...(state === null && !includeDisabled ? ['NOT key.disabled'] : []),
    ...(partOfName === '' ? [] : [`position(lower(${add(partOfName)}::text) IN lower(key.name)) > 0`]),
  ];
  const direction = listing.isDescending ? 'DESC' : 'ASC';
  return {
    text: `
SELECT key.id FROM api_keys AS key ${joins.join('\n')}
WHERE ${conditions.join('\n  AND ')}
ORDER BY ${orderOf(order, now, add)} ${direction}, key.id ${direction}
OFFSET ${add(listing.offset)} LIMIT ${add(listing.limit)}`,
    values,
  };
}

export function keysOfOperator({ accountId, workspaceId, kind }: OperatorListing): Prisma.ApiKeyWhereInput {
  return {
    ...(accountId === undefined ? {} : { accountId }),
    ...(workspaceId === undefined ? {} : { workspaceId }),
    ...(kind === undefined ? {} : { kind }),
  };
}
