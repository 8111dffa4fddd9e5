// Rules and events in words.
import type { Cover, Notification, NotificationEvent } from '../../api/notifications';
import type { Tone } from '../../components/display/badge';
import { capitalise, formatCountOf } from '../../format';

export const COVER_NAMES: Readonly<Record<Cover, string>> = {
  keys: 'limits of keys',
  workspace_budgets: 'budgets of workspaces',
  credits: 'credits of the account',
};

/** "Limits of keys, budgets of workspaces" */
export const coversText = ({ covers }: Pick<Notification, 'covers'>): string =>
  capitalise(covers.map((cover) => COVER_NAMES[cover]).join(', '));

/** "50, 80 and 100 %" */
export function thresholdsText({ thresholds }: Pick<Notification, 'thresholds'>): string {
  const last = thresholds.at(-1) ?? 0;
  const others = thresholds.slice(0, -1);
  return others.length === 0 ? `${last} %` : `${others.join(', ')} and ${last} %`;
}

export const EVENT_STATES: Readonly<Record<NotificationEvent['state'], readonly [string, Tone]>> = {
  pending: ['Waiting', 'accent'],
  delivered: ['Delivered', 'good'],
  dead_letter: ['Not delivered', 'bad'],
};

export interface Crossing {
  readonly threshold: number;
  /** A limit refused a call: spend need not have reached it. */
  readonly isRefusal: boolean;
  readonly subject: {
    readonly kind: 'key' | 'workspace' | 'credits';
    readonly id: string;
    readonly name: string;
  };
  readonly interval: string;
  readonly spend: number;
  readonly limit: number;
}

/** The limits that an event reports; none: it reports something else. */
export function crossingsOf({ payload }: Pick<NotificationEvent, 'payload'>): readonly Crossing[] {
  if (payload['type'] === 'budget.threshold_reached') return [toCrossing(payload['data'] as CrossingData)];
  if (payload['type'] !== 'budget.thresholds_reached') return [];
  return (payload['data'] as { readonly crossings: readonly CrossingData[] }).crossings.map(toCrossing);
}

/** "12 alerts of 2026-11-28 left out"; null: the event is another one. */
export function leftOutText({ payload }: Pick<NotificationEvent, 'payload'>): string | null {
  if (payload['type'] !== 'budget.alerts_left_out') return null;
  const { day, left_out: count } = payload['data'] as { readonly day: string; readonly left_out: number };
  return `${formatCountOf(count, 'alert')} of ${day} left out`;
}

function toCrossing(data: CrossingData): Crossing {
  const { subject } = data;
  return {
    threshold: data.threshold,
    isRefusal: data.reason === 'call_refused',
    subject:
      subject.type === 'api_key'
        ? { kind: 'key', id: subject.hash, name: subject.name }
        : subject.type === 'workspace'
          ? { kind: 'workspace', id: subject.id, name: subject.name }
          : { kind: 'credits', id: '', name: 'Credits of the account' },
    interval: data.window.interval,
    spend: Number(data.spend_usd),
    limit: Number(data.limit_usd),
  };
}

/** docs/contract.md#notifications */
interface CrossingData {
  readonly threshold: number;
  readonly reason: string;
  readonly subject:
    | { readonly type: 'api_key'; readonly hash: string; readonly name: string }
    | { readonly type: 'workspace'; readonly id: string; readonly name: string }
    | { readonly type: 'credits' };
  readonly window: { readonly interval: string };
  readonly spend_usd: string;
  readonly limit_usd: string;
}
