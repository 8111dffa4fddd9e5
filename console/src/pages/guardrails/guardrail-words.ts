// Guardrails in words.
import type { BuiltinFilter, FilterAction, Guardrail } from '../../api/guardrails';
import { formatCountOf } from '../../format';

export const BUILTIN_NAMES: Readonly<Record<BuiltinFilter['slug'], string>> = {
  email: 'E-mail addresses',
  phone: 'Phone numbers',
  ssn: 'US social security numbers',
  'credit-card': 'Card numbers',
  'ip-address': 'IP addresses',
  secrets: 'Keys and secrets',
  'regex-prompt-injection': 'Prompt injection',
};
export const BUILTIN_SLUGS = Object.keys(BUILTIN_NAMES) as readonly BuiltinFilter['slug'][];

export const ACTION_NAMES: Readonly<Record<FilterAction, string>> = {
  redact: 'Replace',
  block: 'Refuse the call',
  flag: 'Count',
};
export const ACTIONS = Object.keys(ACTION_NAMES) as readonly FilterAction[];

/** A label or slug of an answer. */
export const nameOfFilter = (filter: string): string =>
  BUILTIN_NAMES[filter as BuiltinFilter['slug']] ??
  (/^\d+$/.test(filter) ? `Pattern ${Number(filter) + 1}` : filter);

export const ZDR_MEMBERS = [
  ['enforce_zdr_anthropic', 'Anthropic'],
  ['enforce_zdr_openai', 'OpenAI'],
  ['enforce_zdr_google', 'Google'],
  ['enforce_zdr_xai', 'xAI'],
  ['enforce_zdr_other', 'All others'],
] as const;

/** "2 models, 1 provider, 3 filters"; null: no rule but a limit. */
export function rulesText(guardrail: Guardrail): string | null {
  const lengthOf = (...lists: readonly (readonly unknown[] | null)[]): number =>
    lists.reduce((sum, list) => sum + (list?.length ?? 0), 0);
  const models = lengthOf(guardrail.allowed_models, guardrail.ignored_models);
  const providers = lengthOf(guardrail.allowed_providers, guardrail.ignored_providers);
  const filters = lengthOf(guardrail.content_filters, guardrail.content_filter_builtins);
  const hasDataRule =
    ZDR_MEMBERS.some(([member]) => guardrail[member] === true) ||
    guardrail.enable_paid_model_training === false ||
    guardrail.enable_free_model_training === false ||
    guardrail.allowed_data_regions !== null;
  const parts = [
    ...(models > 0 ? [formatCountOf(models, 'model')] : []),
    ...(providers > 0 ? [formatCountOf(providers, 'provider')] : []),
    ...(hasDataRule ? ['data policy'] : []),
    ...(filters > 0 ? [formatCountOf(filters, 'filter')] : []),
    ...(guardrail.reject_unscannable ? ['no media'] : []),
  ];
  return parts.length === 0 ? null : parts.join(', ');
}

const INTERVALS: Readonly<Record<string, string>> = { daily: 'a day', weekly: 'a week', monthly: 'a month' };

/** "a day" */
export const intervalText = (interval: string | null): string => INTERVALS[interval ?? ''] ?? '';
