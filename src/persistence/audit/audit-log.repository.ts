// The audit log: appended to in the transaction of every change, read by its account.
import { Injectable } from '@nestjs/common';
import { AUDIT_ACTIONS, AUDIT_OBJECT_TYPES, boundedState } from '../../domain/audit.js';
import type { AuditEntry, AuditedState, StoredAuditEntry } from '../../domain/audit.js';
import { boundedText } from '../../domain/text/bounded-text.js';
import { Clock } from '../../domain/clock.js';
import { uuidV7 } from '../../domain/identifiers.js';
import { listEntries } from './audit-statements.js';
import type { AuditFilter, NewAuditRow } from './audit-statements.js';
import type { Transaction } from '../database/database.js';
import { Reports } from '../database/reports.js';
import { Prisma } from '../generated/client.js';
import type { AuditLogEntryModel as AuditLogRow } from '../generated/models.js';

const MAX_USER_AGENT_LENGTH = 512;

type NewAuditLogRow = Omit<AuditLogRow, 'before' | 'after'> &
  NewAuditRow &
  Readonly<Record<'before' | 'after', Prisma.InputJsonObject | null>>;

@Injectable()
export class AuditLogRepository {
  constructor(
    private readonly reports: Reports,
    private readonly clock: Clock,
  ) {}

  /** Call it in the transaction of the change (Database.transact), so that both commit or neither. */
  async record(entry: AuditEntry, transaction: Transaction): Promise<void> {
    const { before, after, ...columns } = this.toRow(entry);
    await transaction.auditLogEntry.create({
      data: { ...columns, before: before ?? Prisma.DbNull, after: after ?? Prisma.DbNull },
    });
  }

  /** The entry of a change made now, for a plain statement that writes both. */
  toRow(entry: AuditEntry): NewAuditLogRow {
    const now = this.clock.now();
    const { author } = entry;
    return {
      id: uuidV7(now),
      accountId: author.accountId,
      workspaceId: entry.workspaceId,
      createdAt: now,
      actorHash: author.hash,
      actorUserId: author.userId,
      actorLabel: author.label,
      address: author.address,
      requestId: author.requestId,
      userAgent: author.userAgent === null ? null : boundedText(author.userAgent, MAX_USER_AGENT_LENGTH),
      action: entry.action,
      objectType: entry.objectType,
      objectId: entry.objectId,
      before: toJson(entry.before),
      after: toJson(entry.after),
    };
  }

  /** Newest first. */
  async list(accountId: string, filter: AuditFilter): Promise<readonly StoredAuditEntry[]> {
    const rows = await this.reports.read<AuditLogRow & Record<string, unknown>>(
      accountId,
      listEntries(accountId, filter),
    );
    return rows.map(toEntry);
  }
}

function toJson(state: AuditedState | null): Prisma.InputJsonObject | null {
  return state && boundedState(state);
}

function toEntry(row: AuditLogRow): StoredAuditEntry {
  const action = AUDIT_ACTIONS.find((known) => known === row.action);
  const objectType = AUDIT_OBJECT_TYPES.find((known) => known === row.objectType);
  if (!action || !objectType) throw new Error(`unknown audit entry: ${row.action} of ${row.objectType}`);
  return {
    id: row.id,
    createdAt: row.createdAt,
    workspaceId: row.workspaceId,
    actorHash: row.actorHash,
    actorUserId: row.actorUserId,
    actorLabel: row.actorLabel,
    address: row.address,
    requestId: row.requestId,
    userAgent: row.userAgent,
    action,
    objectType,
    objectId: row.objectId,
    before: row.before as AuditedState | null,
    after: row.after as AuditedState | null,
  };
}
