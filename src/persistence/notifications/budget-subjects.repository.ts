// Reads which keys were called, and the limits of keys, workspaces and accounts.
import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { BudgetSubject } from '../../domain/notifications/budget-crossing.js';
import { NOTIFICATION_COVERS } from '../../domain/notifications/notification-rule.js';
import type {
  NotificationCover,
  NotificationSelection,
} from '../../domain/notifications/notification-rule.js';
import { parseUsd } from '../../domain/spend/money.js';
import type { SpendLimitWindow } from '../../domain/spend/spend-limit.js';
import { Database } from '../database/database.js';
import { Notifications } from '../database/notifications.js';
import { readSpend } from '../spend/spend-row.js';
import type { SpendJson } from '../spend/spend-row.js';
import {
  BEGIN_SCAN,
  END_SCAN,
  LIST_CALLED,
  LIST_SPENDING,
  LIST_WATCHED,
  READ_BUDGETS,
  READ_CREDITS,
  READ_KEYS,
  RELEASE_SCAN,
} from './notification-statements.js';

export interface WatchedWorkspace {
  readonly accountId: string;
  readonly workspaceId: string;
}

export interface CalledKey {
  readonly workspaceId: string;
  readonly apiKeyId: string;
}

/** A part of the log that this process reads. Transaction numbers are texts, as the database returns them. */
export interface ClaimedScan {
  readonly claimId: string;
  readonly from: string;
  /** Exclusive. */
  readonly until: string;
  /** Whether the part is too long to be read. */
  readonly isBehind: boolean;
}

/** The owners whose limits are read. */
export interface BudgetOwners {
  readonly keys: readonly CalledKey[];
  readonly workspaceIds: readonly string[];
  readonly accountIds: readonly string[];
}

interface SubjectRow {
  readonly accountId: string;
  readonly workspaceId: string | null;
  readonly id: string;
  readonly limit: string;
  readonly window: SpendLimitWindow['window'];
  readonly includeByok: boolean;
  /** Null: nothing was spent. */
  readonly spend: SpendJson | null;
  readonly [name: string]: unknown;
}

/** How the subjects of a kind are read, and the columns that name them in payloads. */
const READERS = {
  keys: { name: 'read-budgets-of-keys', text: READ_KEYS, names: ['hash', 'name', 'label'] },
  workspace_budgets: {
    name: 'read-budgets-of-workspaces',
    text: READ_BUDGETS,
    names: ['id', 'name', 'slug'],
  },
  credits: { name: 'read-budgets-of-accounts', text: READ_CREDITS, names: [] },
} as const satisfies Record<NotificationCover, object>;

// Before every other.
export const LIFETIME_START = new Date(0);

@Injectable()
export class BudgetSubjectsRepository {
  constructor(
    private readonly database: Database,
    private readonly notifications: Notifications,
  ) {}

  /** Null: another process reads the log, or has read it less than `pause` seconds ago. */
  async beginScan(pause: number, transactions: number): Promise<ClaimedScan | null> {
    const claimId = randomUUID();
    const [row] = await this.database.query<Omit<ClaimedScan, 'claimId'>>({
      name: 'begin-notification-scan',
      text: BEGIN_SCAN,
      values: [claimId, this.notifications.session, pause, transactions],
    });
    return row ? { ...row, claimId } : null;
  }

  /** The next scan begins where this one ended. */
  async endScan({ claimId, until }: ClaimedScan): Promise<void> {
    await this.database.query({ name: 'end-notification-scan', text: END_SCAN, values: [claimId, until] });
  }

  /** The next scan begins where this one began. */
  async releaseScan({ claimId }: ClaimedScan): Promise<void> {
    await this.database.query({ name: 'release-notification-scan', text: RELEASE_SCAN, values: [claimId] });
  }

  /** Workspaces that enabled rules watch, ordered by account and workspace, after `after`. */
  async listWatched(after: WatchedWorkspace, limit: number): Promise<readonly WatchedWorkspace[]> {
    return this.database.query<WatchedWorkspace & Record<string, unknown>>({
      name: 'list-watched-workspaces',
      text: LIST_WATCHED,
      values: [after.accountId, after.workspaceId, limit],
    });
  }

  /** The keys of the workspaces that were called in that part of the log, not before `since`. */
  async listCalled(
    workspaceIds: readonly string[],
    { from, until }: ClaimedScan,
    since: Date,
  ): Promise<readonly CalledKey[]> {
    return this.database.query<CalledKey & Record<string, unknown>>({
      name: 'list-called-keys',
      text: LIST_CALLED,
      values: [workspaceIds, from, until, since],
    });
  }

  /** The next keys of the workspace, after `after`, that have spent something since that day. */
  async listSpending(
    { workspaceId, apiKeyId }: CalledKey,
    day: string,
    limit: number,
  ): Promise<readonly CalledKey[]> {
    return this.database.query<CalledKey & Record<string, unknown>>({
      name: 'list-spending-keys',
      text: LIST_SPENDING,
      values: [workspaceId, apiKeyId, day, limit],
    });
  }

  /** The limits of the owners that have any. */
  async readSubjects({ keys, workspaceIds, accountIds }: BudgetOwners): Promise<readonly BudgetSubject[]> {
    const values: Readonly<Record<NotificationCover, readonly (readonly string[])[]>> = {
      keys: [keys.map(({ workspaceId }) => workspaceId), keys.map(({ apiKeyId }) => apiKeyId)],
      workspace_budgets: [workspaceIds],
      credits: [accountIds],
    };
    const subjects: BudgetSubject[] = [];
    for (const cover of NOTIFICATION_COVERS) {
      if (values[cover].some((ids) => ids.length === 0)) continue;
      const { name, text } = READERS[cover];
      const rows = await this.database.query<SubjectRow>({ name, text, values: [...values[cover]] });
      subjects.push(...rows.map((row) => toSubject(cover, row)));
    }
    return subjects;
  }

  /** The enabled rules of the accounts. */
  async listRules(accountIds: readonly string[]): Promise<readonly NotificationSelection[]> {
    const rows = await this.database.prisma.notificationRule.findMany({
      where: { accountId: { in: [...accountIds] }, enabled: true },
      select: { accountId: true, id: true, workspaceId: true, covers: true, thresholds: true, version: true },
    });
    return rows.map(({ accountId, id, workspaceId, covers, thresholds, version }) => ({
      accountId,
      id,
      workspaceId,
      covers: toCovers(covers),
      thresholds,
      version,
    }));
  }
}

export function toCovers(names: readonly string[]): readonly NotificationCover[] {
  return NOTIFICATION_COVERS.filter((cover) => names.includes(cover));
}

function toSubject(cover: NotificationCover, row: SubjectRow): BudgetSubject {
  const lastDay = row.spend === null ? LIFETIME_START : new Date(row.spend.lastDay);
  return {
    cover,
    accountId: row.accountId,
    workspaceId: row.workspaceId,
    id: row.id,
    names: Object.fromEntries(READERS[cover].names.map((name) => [name, String(row[name])])),
    window: row.window,
    limit: parseUsd(row.limit),
    includeByok: row.includeByok,
    spend: readSpend(row.spend, lastDay),
    lastDay,
  };
}
