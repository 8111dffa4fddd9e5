// Single generations of the history: the list, one by its id, and its content.
import type { Generation } from '../domain/generations/generation.js';
import type { GenerationContent } from '../domain/generations/generation-content.js';
import { scopeOfKeys } from '../domain/generations/call-reach.js';
import type { KeyScope, ListedReach } from '../domain/generations/call-reach.js';
import type { GenerationFilter, ListPosition } from '../domain/generations/generation-list.js';
import type { HistoryStatement } from './clickhouse-client.js';
import { GENERATION_COLUMNS, toGeneration } from '../persistence/generations/generation-row.js';
import { HistoryParameters, isOneOf, ofWorkspaces, READ_SETTINGS } from './history-statements.js';
import { historyContentsTable, historyTable } from './history-tables.js';
import type { WantedGeneration } from '../persistence/history/history.js';

const JSON_COLUMNS = new Set<string>(['trace', 'request_context', 'attempts', 'chat']);
/** Texts of a call that may be long, and that a list does not show. */
const LONG_COLUMNS = new Set<string>(['trace', 'request_context']);

function selectColumns(isWanted: (column: string) => boolean): string {
  return Object.values(GENERATION_COLUMNS)
    .filter(isWanted)
    .map((column) => (column === 'created_at' ? 'toUnixTimestamp64Milli(created_at) AS created_at' : column))
    .join(', ');
}

/** As readWalk: the newest first, without the long texts of a call. */
export function readGenerations(
  database: string,
  filter: GenerationFilter,
  before: ListPosition,
  limit: number,
): HistoryStatement {
  const parameters = new HistoryParameters();
  const { moment } = parameters;
  const isAny = (column: string, values: readonly string[] | undefined): string[] =>
    values === undefined ? [] : [isOneOf(column, values, parameters)];
  const one = (value: string | undefined): readonly string[] | undefined =>
    value === undefined ? undefined : [value];
  const end = moment(before.createdAt);
  const conditions = [
    ofWorkspaces([filter.workspaceId], parameters),
    `created_at <= ${end}`,
    // UUIDs have another order in ClickHouse; that of their texts is PostgreSQL's.
    `(created_at < ${end} OR toString(id) < ${parameters.add('String', before.id)})`,
    ...(filter.from === undefined ? [] : [`created_at >= ${moment(filter.from)}`]),
    ...isAny('api_key_id', filter.apiKeyIds),
    ...isAny('operation', one(filter.operation)),
    ...isAny('model', one(filter.model)),
    ...isAny('provider', one(filter.provider)),
    ...isAny('error_type', one(filter.errorType)),
    ...isAny('request_id', one(filter.requestId)),
    ...isAny('session_id', one(filter.sessionId)),
    ...isAny('user_id', one(filter.userId)),
    ...isAny('status', filter.statuses?.map(String)),
  ];
  return {
    text: `
SELECT ${selectColumns((column) => !LONG_COLUMNS.has(column))} FROM ${historyTable(database)} FINAL
WHERE ${conditions.join(' AND ')}
ORDER BY created_at DESC, toString(id) DESC LIMIT ${limit} FORMAT JSONEachRow`,
    parameters: parameters.values,
    settings: READ_SETTINGS,
  };
}

export function findGeneration(
  database: string,
  { workspaceIds, keys }: ListedReach,
  { id, createdAt }: Pick<WantedGeneration, 'id' | 'createdAt'>,
): HistoryStatement {
  const parameters = new HistoryParameters();
  const own = scopeOfKeys(keys);
  const conditions = [
    ofReach(workspaceIds, own, parameters),
    `created_at = ${parameters.moment(createdAt)}`,
    `id = ${parameters.add('UUID', id)}`,
  ];
  return {
    text: `
SELECT ${selectColumns(() => true)} FROM ${historyTable(database)} FINAL
WHERE ${conditions.join(' AND ')} LIMIT 1 FORMAT JSONEachRow`,
    parameters: parameters.values,
    settings: READ_SETTINGS,
  };
}

function ofReach(
  workspaceIds: readonly string[],
  own: KeyScope | undefined,
  parameters: HistoryParameters,
): string {
  const whole = ofWorkspaces(workspaceIds, parameters);
  if (own === undefined) return whole;
  const ofOwn = `${ofWorkspaces(own.workspaceIds, parameters)} AND ${isOneOf('api_key_id', own.apiKeyIds, parameters)}`;
  return workspaceIds.length === 0 ? ofOwn : `(${whole} OR (${ofOwn}))`;
}

/** Without `FINAL`: the copies of a content are equal. */
export function findContent(
  database: string,
  {
    accountId,
    workspaceId,
    id,
    createdAt,
  }: Pick<Generation, 'accountId' | 'workspaceId' | 'id' | 'createdAt'>,
): HistoryStatement {
  const parameters = new HistoryParameters();
  return {
    text: `
SELECT content FROM ${historyContentsTable(database)}
WHERE ${ofWorkspaces([workspaceId], parameters)} AND created_at = ${parameters.moment(createdAt)}
  AND id = ${parameters.add('UUID', id)} AND account_id = ${parameters.add('UUID', accountId)}
LIMIT 1 FORMAT JSONEachRow`,
    parameters: parameters.values,
    settings: READ_SETTINGS,
  };
}

/** A line of findContent(). */
export function readContent(line: string): GenerationContent {
  const { content } = JSON.parse(line) as { readonly content: string };
  return JSON.parse(content) as GenerationContent;
}

/** A line of the statements of generations. */
export function readGeneration(line: string): Generation {
  const row = JSON.parse(line) as Readonly<Record<string, unknown>>;
  const read = (column: string): unknown => {
    const value = row[column] ?? null;
    if (column === 'created_at') return new Date(Number(value));
    return JSON_COLUMNS.has(column) && typeof value === 'string' ? (JSON.parse(value) as unknown) : value;
  };
  const members = Object.entries(GENERATION_COLUMNS).map(([member, column]) => [member, read(column)]);
  return toGeneration(Object.fromEntries(members));
}
