// The window of a guardrail's limit, in UTC.
import type { Guardrail } from '../../api/guardrails';
import { nextStart } from '../workspaces/budget-windows';

type Interval = NonNullable<Guardrail['reset_interval']>;

const DAY_MS = 86_400_000;
const LENGTHS = { daily: DAY_MS, weekly: 7 * DAY_MS } as const;

export interface LimitWindow {
  readonly start: string;
  readonly end: string;
}

export function windowAt(interval: Interval, now: number): LimitWindow {
  // Its windows have an end.
  const end = nextStart(interval, now) ?? '';
  const endsAt = new Date(end);
  const start =
    interval === 'monthly'
      ? Date.UTC(endsAt.getUTCFullYear(), endsAt.getUTCMonth() - 1, 1)
      : endsAt.getTime() - LENGTHS[interval];
  return { start: `${new Date(start).toISOString().slice(0, 19)}Z`, end };
}
