// The keys that a person has made: their budget, usage and models.
import { queryOptions } from '@tanstack/react-query';
import { analyticsQuery, numberOf } from './analytics';
import type { AnalyticsQuery } from './analytics';
import { api, call } from './client';
import { guardrailsQuery } from './guardrails';
import type { Guardrail } from './guardrails';
import { isoTime } from './iso-time';
import { KEYS, loadKeys } from './keys';
import type { ApiKey } from './keys';
import type { Model } from './models';

const DAY_MS = 86_400_000;
const USAGE_DAYS = 30;
// Own keys are few. Administrators list those of others as well, and read as far as this.
const MAX_PAGES = 20;
const PAGE = 100;

/** The keys of a workspace that the person has made, newest first. */
export const ownKeysQuery = (workspaceId: string, personId: string) =>
  queryOptions({
    queryKey: [...KEYS, 'own', workspaceId, personId],
    queryFn: async ({ signal }): Promise<readonly ApiKey[]> => {
      const filters = { workspace_id: workspaceId, include_disabled: true };
      const keys: ApiKey[] = [];
      let cursor: string | undefined;
      for (let pages = 0; pages < MAX_PAGES; pages += 1) {
        const page = await loadKeys(filters, cursor, signal);
        keys.push(...page.data.filter(({ creator_user_id: creator }) => creator === personId));
        if (page.next_cursor === null) break;
        cursor = page.next_cursor;
      }
      return keys;
    },
  });

/** The guardrail of all keys of the person in a workspace; null: none. */
export const ownGuardrailQuery = (workspaceId: string, personId: string) =>
  queryOptions({
    queryKey: ['own-guardrail', workspaceId, personId],
    queryFn: async ({ client, signal }): Promise<Guardrail | null> => {
      const guardrails = await client.fetchQuery(guardrailsQuery(workspaceId));
      for (let offset = 0; ; offset += PAGE) {
        const query = { offset, limit: PAGE };
        const { data, total_count: total } = await call(
          api.GET('/api/v1/guardrails/assignments/members', { params: { query }, signal }),
        );
        const own = data.filter(({ user_id: userId }) => userId === personId);
        const found = guardrails.find(({ id }) => own.some(({ guardrail_id: of }) => of === id));
        if (found !== undefined || offset + PAGE >= total) return found ?? null;
      }
    },
  });

/** `hashes`: of the keys whose calls are counted; null: of all within reach, which are the person's own. */
const ofKeys = (
  workspaceId: string,
  hashes: readonly string[] | null,
): NonNullable<AnalyticsQuery['filters']> => [
  { field: 'workspace', operator: 'eq', value: workspaceId },
  ...(hashes === null ? [] : [{ field: 'api_key_id' as const, operator: 'in' as const, value: [...hashes] }]),
];

/** By day and model, newest day first. */
export const ownUsageQuery = (workspaceId: string, hashes: readonly string[] | null) =>
  analyticsQuery(['own-usage', workspaceId, hashes], (now) => ({
    metrics: [
      'request_count',
      'error_count',
      'prompt_tokens',
      'completion_tokens',
      'total_usage',
      'byok_usage',
    ],
    dimensions: ['model'],
    granularity: 'day',
    filters: ofKeys(workspaceId, hashes),
    time_range: {
      start: isoTime(now - (now % DAY_MS) - USAGE_DAYS * DAY_MS),
      end: isoTime(now - (now % DAY_MS) + DAY_MS),
    },
    order_by: { field: 'date', direction: 'desc' },
    limit: 1000,
  }));

interface Window {
  readonly hashes: readonly string[] | null;
  /** ISO time, the start of a UTC day. */
  readonly start: string;
  readonly includesByok: boolean;
}

/** USD of the person's keys in a workspace since the start of a window. */
export const ownSpendQuery = (workspaceId: string, { hashes, start, includesByok }: Window) =>
  queryOptions({
    ...analyticsQuery(['own-spend', workspaceId, hashes, start], (now) => ({
      metrics: ['total_usage', 'byok_usage'],
      filters: ofKeys(workspaceId, hashes),
      time_range: { start, end: isoTime(now - (now % DAY_MS) + DAY_MS) },
    })),
    select: ([row]): number =>
      numberOf(row, 'total_usage') + (includesByok ? numberOf(row, 'byok_usage') : 0),
  });

export interface ReachedModels {
  readonly models: readonly Model[];
  readonly total: number;
}

/** The models that guardrails leave to the keys of a person in a workspace. */
export const reachedModelsQuery = (workspaceId: string, part: string) =>
  queryOptions({
    queryKey: ['models', 'reached', workspaceId, part],
    queryFn: async ({ signal }): Promise<ReachedModels> => {
      const query = { workspace_id: workspaceId, limit: PAGE, ...(part !== '' && { q: part }) };
      const { data, total_count: total } = await call(
        api.GET('/api/v1/models/user', { params: { query }, signal }),
      );
      return { models: data, total };
    },
    staleTime: 60_000,
  });
