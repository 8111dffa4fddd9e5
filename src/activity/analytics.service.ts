// Analytics queries about the log of one account, of bounded length.
import { Injectable } from '@nestjs/common';
import { REFUSAL_DIMENSIONS } from '../domain/generations/analytics.js';
import type {
  AnalyticsFilter,
  AnalyticsOrder,
  AnalyticsQuery,
  AnalyticsRow,
} from '../domain/generations/analytics.js';
import { reachesCallsOf, reachWithin, scopeOfKeys } from '../domain/generations/call-reach.js';
import type { CallReach } from '../domain/generations/call-reach.js';
import type { Manager } from '../domain/people/manager.js';
import { Clock } from '../domain/clock.js';
import { AppError } from '../domain/errors.js';
import { AccountsRepository } from '../persistence/workspaces/accounts.repository.js';
import { AnalyticsRepository } from '../persistence/activity/analytics.repository.js';
import { CallReaches } from '../persistence/generations/call-reaches.js';
import { providerSlugOf } from '../providers/index.js';
import { LoggedKeys } from '../persistence/generations/logged-keys.js';
import type { LoggedKey } from '../persistence/generations/logged-keys.js';
import type { AnalyticsFilterDto, AnalyticsQueryDto } from './dto/analytics-query.dto.js';

const DAY = 86_400_000;
const DEFAULT_DAYS = 30;
const MAX_DAYS = 90;
const HOUR = 3_600_000;
// Milliseconds that a request may be older than its range.
const LENIENCE = 60_000;

interface AnalyticsResult {
  readonly rows: readonly AnalyticsRow[];
  readonly isTruncated: boolean;
  readonly milliseconds: number;
  /** Names in filters that the account does not have. */
  readonly warnings: readonly string[];
}

@Injectable()
export class AnalyticsService {
  constructor(
    private readonly reaches: CallReaches,
    private readonly accounts: AccountsRepository,
    private readonly keys: LoggedKeys,
    private readonly analytics: AnalyticsRepository,
    private readonly clock: Clock,
  ) {}

  async query(manager: Manager, dto: AnalyticsQueryDto): Promise<AnalyticsResult> {
    const { accountId } = manager;
    const hasNoRefusals = lacksRefusals(dto);
    const begun = performance.now();
    const warnings: string[] = [];
    const workspaceIds = await this.accounts.listWorkspaceIdsWithin(manager);
    const reach = await this.reaches.of(manager);
    const keys = await this.findKeys(accountId, reach, dto.filters);
    const within = reachWithin(reach, workspacesOf(keys, dto.filters, workspaceIds));
    const query: AnalyticsQuery = {
      ...this.readRange(dto),
      accountId,
      workspaceIds: within.workspaceIds,
      ownKeys: scopeOfKeys(within.keys),
      metrics: hasNoRefusals ? dto.metrics.filter((metric) => metric !== 'refused_count') : dto.metrics,
      dimensions: dto.dimensions,
      granularity: dto.granularity ?? null,
      filters: readFilters({ workspaceIds, keys }, dto.filters, warnings),
      orderBy: readOrder(dto),
      limit: dto.limit,
      groupLimit: dto.group_limit ?? null,
    };
    const found = await this.analytics.query(query);
    const rows = await this.withKeyHashes(accountId, found.slice(0, dto.limit));
    return {
      rows: hasNoRefusals ? rows.map((row) => ({ ...row, refused_count: null })) : rows,
      isTruncated: found.length > dto.limit,
      milliseconds: Math.round(performance.now() - begun),
      warnings,
    };
  }

  /** Without keys out of reach, which are as unknown as those of other accounts. */
  private async findKeys(
    accountId: string,
    reach: CallReach,
    filters: readonly AnalyticsFilterDto[],
  ): Promise<KeysByHash> {
    const found = await this.keys.findAll(accountId, valuesFor('api_key_id', filters));
    return new Map([...found].filter(([, key]) => reachesCallsOf(reach, key)));
  }

  private readRange({
    time_range: range,
    granularity,
  }: AnalyticsQueryDto): Pick<AnalyticsQuery, 'from' | 'to'> {
    const now = this.clock.now();
    const isByMinute = granularity === 'minute';
    if (range === undefined)
      return { from: new Date(now.getTime() - (isByMinute ? HOUR : DEFAULT_DAYS * DAY)), to: now };
    const from = new Date(range.start);
    const to = new Date(range.end);
    if (from >= to || to.getTime() - from.getTime() > MAX_DAYS * DAY) {
      throw new AppError('invalid_request', {
        detail: `time_range: must end after it starts, and be of at most ${MAX_DAYS} days`,
      });
    }
    if (isByMinute && now.getTime() - from.getTime() > HOUR + LENIENCE) {
      throw new AppError('invalid_request', {
        detail: 'granularity: minute is for a time_range within the last hour',
      });
    }
    return { from, to };
  }

  private async withKeyHashes(
    accountId: string,
    rows: readonly AnalyticsRow[],
  ): Promise<readonly AnalyticsRow[]> {
    const ids = new Set(rows.flatMap(({ api_key_id: id }) => (typeof id === 'string' ? [id] : [])));
    if (ids.size === 0) return rows;
    const hashes = await this.keys.findHashes(accountId, [...ids]);
    return rows.map((row) => ({ ...row, api_key_id: hashes.get(String(row['api_key_id'])) ?? null }));
  }
}

const valuesFor = (field: string, filters: readonly AnalyticsFilterDto[]): string[] =>
  filters.filter((filter) => filter.field === field).flatMap(valuesOf);

const isNegative = ({ operator }: AnalyticsFilterDto): boolean => operator === 'neq' || operator === 'not_in';

type KeysByHash = ReadonlyMap<string, LoggedKey>;

/** Those of the keys that a filter chooses: a question about one key searches no other workspace. */
function workspacesOf(
  keys: KeysByHash,
  filters: readonly AnalyticsFilterDto[],
  workspaceIds: readonly string[],
): readonly string[] {
  const chosen = filters.find((filter) => filter.field === 'api_key_id' && !isNegative(filter));
  if (chosen === undefined) return workspaceIds;
  const ofKeys = new Set(valuesOf(chosen).map((hash) => keys.get(hash)?.workspaceId));
  return workspaceIds.filter((id) => ofKeys.has(id));
}

/** The log stores the ids of keys. Values that are not the account's match nothing, and cause a warning. */
function readFilters(
  { workspaceIds, keys }: { readonly workspaceIds: readonly string[]; readonly keys: KeysByHash },
  filters: readonly AnalyticsFilterDto[],
  warnings: string[],
): AnalyticsFilter[] {
  const strangers = valuesFor('workspace', filters).filter((id) => !workspaceIds.includes(id));
  warnings.push(
    ...valuesFor('api_key_id', filters)
      .filter((hash) => !keys.has(hash))
      .map((hash) => `api_key_id: no such key: ${hash}`),
    ...strangers.map((id) => `workspace: no such workspace: ${id}`),
  );
  return filters.map((filter) => ({
    dimension: filter.field,
    isNot: isNegative(filter),
    values:
      filter.field === 'api_key_id'
        ? valuesOf(filter).flatMap((hash) => keys.get(hash)?.id ?? [])
        : valuesOf(filter),
  }));
}

/**
 * Whether the query counts refused calls beside others by a dimension that they lack: a client may ask for every metric. Throws
 * `invalid_request` where nothing else is counted, and for the reason of a refusal, which generations lack.
 */
function lacksRefusals(dto: AnalyticsQueryDto): boolean {
  const { metrics, dimensions, filters } = dto;
  const fields = [...dimensions, ...filters.map(({ field }) => field)];
  const lacks = metrics.includes('refused_count') && !fields.every((field) => REFUSAL_DIMENSIONS.has(field));
  if (
    lacks &&
    (metrics.every((metric) => metric === 'refused_count') || readOrder(dto)?.field === 'refused_count')
  ) {
    throw new AppError('invalid_request', {
      detail: `refused_count: is counted by ${[...REFUSAL_DIMENSIONS].join(', ')} and time; omit other dimensions and filters`,
    });
  }
  if (fields.includes('refusal_reason') && metrics.some((metric) => metric !== 'refused_count')) {
    throw new AppError('invalid_request', {
      detail: 'refusal_reason: belongs to refused_count; omit other metrics',
    });
  }
  return lacks;
}

function readOrder({
  order_by: order,
  metrics,
  dimensions,
  granularity,
}: AnalyticsQueryDto): AnalyticsOrder | null {
  if (order === undefined) return null;
  const fields: string[] = [...metrics, ...dimensions, 'request_count', ...(granularity ? ['date'] : [])];
  if (!fields.includes(order.field)) {
    throw new AppError('invalid_request', {
      detail: 'order_by.field: must be one of the requested metrics or dimensions',
    });
  }
  return { field: order.field, isDescending: order.direction === 'desc' };
}

function valuesOf({ field, value }: AnalyticsFilterDto): string[] {
  const values = (Array.isArray(value) ? value : [value]).map(String);
  // Ids are shown and compared in lower case, providers recorded by their own slugs.
  if (field === 'workspace') return values.map((id) => id.toLowerCase());
  return field === 'provider' ? values.map((name) => providerSlugOf(name) ?? name) : values;
}
