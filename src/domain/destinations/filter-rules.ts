// The shape of a destination's filter rules (docs/contract.md#filter-rules).

export const FILTER_FIELDS = [
  'model',
  'provider',
  'session_id',
  'user_id',
  'api_key_name',
  'finish_reason',
  'input',
  'output',
  'total_cost',
  'total_tokens',
  'prompt_tokens',
  'completion_tokens',
] as const;
export type FilterField = (typeof FILTER_FIELDS)[number];

export const FILTER_OPERATORS = [
  'equals',
  'not_equals',
  'contains',
  'not_contains',
  'regex',
  'starts_with',
  'ends_with',
  'gt',
  'lt',
  'gte',
  'lte',
  'exists',
  'not_exists',
] as const;
export type FilterOperator = (typeof FILTER_OPERATORS)[number];

export const FILTER_LOGICS = ['and', 'or'] as const;
export type FilterLogic = (typeof FILTER_LOGICS)[number];

export interface FilterRule {
  readonly field: FilterField;
  readonly operator: FilterOperator;
  /** Absent only for exists and not_exists. */
  readonly value?: string | number;
}

export interface FilterGroup {
  readonly logic: FilterLogic;
  readonly rules: readonly FilterRule[];
}

export interface FilterRules {
  readonly enabled: boolean;
  readonly groups: readonly FilterGroup[];
}
