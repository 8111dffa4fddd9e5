// The limits of a key in words, and the spend that counts towards its own limit.
import type { ApiKey, CurrentKey, EffectiveLimit } from '../../api/keys';
import { roundUsd } from '../../format';

type Limited = ApiKey | CurrentKey;
type Window = NonNullable<Limited['limit_reset']>;

const WINDOWS = {
  daily: { usage: 'usage_daily', byok: 'byok_usage_daily', name: 'a day' },
  weekly: { usage: 'usage_weekly', byok: 'byok_usage_weekly', name: 'a week' },
  monthly: { usage: 'usage_monthly', byok: 'byok_usage_monthly', name: 'a month' },
} as const;

function windowOf(reset: Window | '' | null) {
  return reset === null || reset === '' ? null : WINDOWS[reset];
}

/** Spend of the window of the key's own limit; without a limit, of all time. */
export function spendOf(key: Limited): number {
  const window = windowOf(key.limit_reset);
  const usage = window === null ? key.usage : key[window.usage];
  if (!key.include_byok_in_limit) return usage;
  const byok = window === null ? key.byok_usage : key[window.byok];
  return roundUsd(usage + byok);
}

/** "a month" */
export function windowName(reset: Limited['limit_reset']): string {
  return windowOf(reset)?.name ?? 'in total';
}

const SOURCES: Readonly<Record<EffectiveLimit['limit_source'], string>> = {
  key: 'limit',
  guardrail: 'guardrail limit',
  workspace: 'budget',
  account: 'credits',
};
const SCOPES: Readonly<Record<EffectiveLimit['limit_window'], string>> = {
  daily: 'Daily',
  weekly: 'Weekly',
  monthly: 'Monthly',
  lifetime: 'Lifetime',
};

/** "Monthly budget", which is that of the workspace; the limit is that of the key. */
export function nameOfLimit({ limit_source: source, limit_window: window }: EffectiveLimit): string {
  return source === 'account' ? 'Credits' : `${SCOPES[window]} ${SOURCES[source]}`;
}
