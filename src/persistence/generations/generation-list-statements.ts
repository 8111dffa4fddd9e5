// The statements behind the list of generations, newest first.
//
// Why plain SQL: a walk along one index ends after a bounded number of rows, however few of them match. Prisma has no
// words for that.
import { isEveryFailure } from '../../domain/generations/generation-list.js';
import type { GenerationFilter, ListPosition } from '../../domain/generations/generation-list.js';
import { GENERATION_COLUMNS } from './generation-row.js';

/** Rows that one walk reads along the primary key, and along an index of rare rows, which lie far apart. */
export const MAX_WALK = { all: 25_000, rare: 5_000 };
/** Days that one statement names. */
export const MAX_DAYS = 32;

interface Statement {
  readonly text: string;
  readonly values: unknown[];
}

export interface Walk {
  readonly filter: GenerationFilter;
  /** Exclusive. */
  readonly before: ListPosition;
  readonly from: Date | undefined;
}

/** Whether an index of rare rows serves the filter. */
export function isRare(filter: GenerationFilter): boolean {
  return rareColumnOf(filter) !== null || isOfFailures(filter.statuses);
}

/** The column whose index is walked. */
function rareColumnOf({ requestId, sessionId, userId }: GenerationFilter): string | null {
  if (requestId !== undefined) return 'request_id';
  if (sessionId !== undefined) return 'session_id';
  return userId === undefined ? null : 'user_id';
}

/** The generations of a walk that match, at most `limit`. */
export function readWalk(walk: Walk, limit: number): Statement {
  const { values, parameter } = listParameters();
  const { text, conditions } = describe(walk, '*', parameter);
  const matches = conditions.map((write) => write());
  const where = matches.length === 0 ? '' : `WHERE ${matches.join(' AND ')}`;
  return {
    text: `SELECT ${COLUMNS} FROM (${text}) AS walked ${where}
ORDER BY created_at DESC, id DESC LIMIT ${parameter(limit)}`,
    values,
  };
}

/** The time of the last row of a walk, if it ended at its bound. */
export function readEndOfWalk(walk: Walk): Statement {
  const { values, parameter } = listParameters();
  const { text } = describe(walk, 'created_at, id', parameter);
  return {
    text: `SELECT created_at AS "createdAt" FROM (${text}) AS walked
ORDER BY created_at DESC, id DESC OFFSET ${boundOf(walk.filter) - 1} LIMIT 1`,
    values,
  };
}

type Parameter = (value: unknown) => string;

function listParameters(): { readonly values: unknown[]; readonly parameter: Parameter } {
  const values: unknown[] = [];
  return { values, parameter: (value) => `$${values.push(value)}` };
}

function boundOf(filter: GenerationFilter): number {
  return isRare(filter) ? MAX_WALK.rare : MAX_WALK.all;
}

function isOfFailures(statuses: readonly number[] | undefined): boolean {
  return statuses !== undefined && statuses.every((status) => status >= 400);
}

/** The index of users holds their beginnings. */
export const isUser = (value: string): string =>
  `left(user_id, 300) = left(${value}, 300) AND user_id = ${value}`;

/** The rows along one index, and writers of the conditions that the index does not fulfil. */
function describe({ filter, before, from }: Walk, columns: string, parameter: Parameter) {
  const { statuses } = filter;
  const rare = rareColumnOf(filter);
  const range = [
    // Its index is of whole accounts.
    ...(rare === 'request_id' ? [`account_id = ${parameter(filter.accountId)}`] : []),
    `workspace_id = ${parameter(filter.workspaceId)}`,
    // Only a plain comparison excludes partitions.
    `created_at <= ${parameter(before.createdAt)}`,
    `(created_at, id) < (${parameter(before.createdAt)}::timestamptz, ${parameter(before.id)}::uuid)`,
    ...(from === undefined ? [] : [`created_at >= ${parameter(from)}`]),
  ];
  const along = (conditions: readonly string[]): string => `
  SELECT ${columns} FROM generations WHERE ${[...range, ...conditions].join(' AND ')}
  ORDER BY created_at DESC, id DESC LIMIT ${boundOf(filter)}`;
  const isAlongStatus = rare === null && isOfFailures(statuses);
  const equal = Object.entries({
    request_id: filter.requestId,
    session_id: filter.sessionId,
    user_id: filter.userId,
    api_key_id: filter.apiKeyIds,
    model: filter.model,
    provider: filter.provider,
    operation: filter.operation,
    error_type: filter.errorType,
  }).filter(([, value]) => value !== undefined);
  const write = ([column, value]: readonly [string, unknown]): string => {
    if (column === 'user_id') return isUser(parameter(value));
    return column === 'api_key_id'
      ? `api_key_id = ANY(${parameter(value)}::uuid[])`
      : `${column} = ${parameter(value)}`;
  };
  const conditions = equal.filter(([column]) => column !== rare).map((one) => () => write(one));
  if (!isAlongStatus) {
    if (statuses !== undefined) conditions.push(() => `status = ANY(${parameter(statuses)}::smallint[])`);
    return { text: along(equal.filter(([column]) => column === rare).map(write)), conditions };
  }
  // Their index has them in the order of time.
  if (statuses !== undefined && isEveryFailure(statuses))
    return { text: along(['status >= 400']), conditions };
  // One ordered range for each status: across several the index is not ordered by time. Numbers instead of parameters:
  // the planner has to see that the partial index holds them.
  const ranges = (statuses ?? []).map((status) => `(${along([`status = ${status}`, 'status >= 400'])})`);
  const order = ranges.length === 1 ? '' : `\nORDER BY created_at DESC, id DESC LIMIT ${boundOf(filter)}`;
  return { text: ranges.join('\nUNION ALL\n') + order, conditions };
}

/** Without the texts of a call, which may be long. */
const COLUMNS = Object.entries(GENERATION_COLUMNS)
  .filter(([member]) => member !== 'trace' && member !== 'requestContext')
  .map(([member, column]) => `walked.${column} AS "${member}"`)
  .join(', ');

/**
 * $1 workspace, $2 keys, $3 model, $4 provider (null: any), $5 the last day, $6 the first. The newest days that have summed rows of the
 * filter.
 */
export const DAYS_OF_KEY = `
SELECT DISTINCT day::text FROM activity_key_days WHERE workspace_id = $1 AND api_key_id = ANY($2::uuid[])
  AND ($3::text IS NULL OR model = $3) AND ($4::text IS NULL OR provider = $4) AND day <= $5 AND day >= $6
ORDER BY day DESC LIMIT ${MAX_DAYS}`;
export const DAYS_OF_WORKSPACE = `
SELECT DISTINCT day::text FROM activity_days WHERE workspace_id = $1 AND $2::uuid[] IS NULL
  AND ($3::text IS NULL OR model = $3) AND ($4::text IS NULL OR provider = $4) AND day <= $5 AND day >= $6
ORDER BY day DESC LIMIT ${MAX_DAYS}`;

/**
 * $1 workspace, $2 a moment before which nothing is summed. The moment of the first row since then that is not summed yet; none: all
 * of them are summed that were committed before the oldest open transaction began.
 */
export const FIRST_UNSUMMED = `
SELECT created_at AS "createdAt" FROM generations
WHERE workspace_id = $1 AND created_at >= $2 AND log_transaction >= (SELECT summed_before FROM activity_rollup)
ORDER BY log_transaction, log_ordinal LIMIT 1`;
