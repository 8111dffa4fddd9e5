// Rules of budget alerts (docs/contract.md#notifications).
import type { DestinationConfig } from '../destinations/destination.js';

/** The limits that a rule watches. */
export const NOTIFICATION_COVERS = ['keys', 'workspace_budgets', 'credits'] as const;
export type NotificationCover = (typeof NOTIFICATION_COVERS)[number];

/** A workspace has no credits of its own. */
export const WORKSPACE_COVERS = ['keys', 'workspace_budgets'] as const satisfies readonly NotificationCover[];

/** Percentages of a limit. */
export const DEFAULT_THRESHOLDS: readonly number[] = [50, 80, 100];
export const MAX_THRESHOLDS = 10;
export const MAX_NOTIFICATIONS_PER_ACCOUNT = 20;

export interface NewNotificationRule {
  readonly accountId: string;
  /** Null: the whole account. */
  readonly workspaceId: string | null;
  readonly name: string;
  readonly enabled: boolean;
  readonly covers: readonly NotificationCover[];
  /** Percentages from 1 to 100, ascending. */
  readonly thresholds: readonly number[];
  /** The receiver in clear. It leaves the process masked or encrypted only. */
  readonly config: DestinationConfig;
}

export interface NotificationRule extends NewNotificationRule {
  readonly id: string;
  readonly version: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** Changeable members of a rule; omitted members keep their value. */
export type NotificationRuleChange = Partial<Omit<NewNotificationRule, 'accountId' | 'workspaceId'>>;

/** The part of a rule that decides which limits it reports. */
export type NotificationSelection = Pick<
  NotificationRule,
  'accountId' | 'id' | 'workspaceId' | 'covers' | 'thresholds' | 'version'
>;

export const EVENT_STATES = ['pending', 'delivered', 'dead_letter'] as const;
export type EventState = (typeof EVENT_STATES)[number];

/** Hours in which an event is delivered, or becomes a dead letter. */
export const EVENT_HOURS = 24;
/** Days that events are kept, whatever their state. */
export const EVENT_RETENTION_DAYS = 30;

export interface NotificationEvent {
  readonly id: string;
  /** JSON, as it is sent. */
  readonly payload: string;
  readonly state: EventState;
  readonly attempts: number;
  /** The HTTP status of the last attempt; null: no answer, or no attempt. */
  readonly lastStatus: number | null;
  /** Null: no attempt has failed. */
  readonly lastError: string | null;
  readonly createdAt: Date;
  /** Null: pending. */
  readonly concludedAt: Date | null;
}
