// Members of workspaces.
import { Injectable } from '@nestjs/common';
import type { DescribeChange } from '../../domain/audit.js';
import { Clock } from '../../domain/clock.js';
import { AppError } from '../../domain/errors.js';
import { uuidV7 } from '../../domain/identifiers.js';
import type { Page, PageRequest } from '../../domain/page.js';
import type { MemberRole, Workspace, WorkspaceMember } from '../../domain/workspace.js';
import { AuditLogRepository } from '../audit/audit-log.repository.js';
import { Database } from '../database/database.js';
import type { WorkspaceMemberModel as MemberRow } from '../generated/models.js';
import { rejectAboveQuotas } from './quotas.js';
import type { Quota } from './quotas.js';

type WorkspaceRef = Pick<Workspace, 'accountId' | 'id'>;

@Injectable()
export class WorkspaceMembersRepository {
  constructor(
    private readonly database: Database,
    private readonly audit: AuditLogRepository,
    private readonly clock: Clock,
  ) {}

  /** The oldest first. */
  async list(workspaceId: string, { offset, limit }: PageRequest): Promise<Page<WorkspaceMember>> {
    const where = { workspaceId };
    const [rows, total] = await Promise.all([
      this.database.prisma.workspaceMember.findMany({
        where,
        orderBy: [{ createdAt: 'asc' }, { userId: 'asc' }],
        skip: offset,
        take: limit,
      }),
      this.database.prisma.workspaceMember.count({ where }),
    ]);
    return { items: rows.map(toMember), total };
  }

  /**
   * Existing members stay unchanged. Returns the added ones. Throws `limit_reached`, and adds none, when the workspace
   * would have more than `limit` members.
   */
  async add(
    { accountId, id: workspaceId }: WorkspaceRef,
    userIds: readonly string[],
    { role, limit }: { readonly role: MemberRole; readonly limit: number },
    describe: DescribeChange<WorkspaceMember>,
  ): Promise<readonly WorkspaceMember[]> {
    const quota: Quota = {
      resource: 'members',
      owner: 'workspace',
      ownerId: workspaceId,
      limit,
      variable: 'MAX_MEMBERS_PER_WORKSPACE',
    };
    const now = this.clock.now();
    return this.database.transact(async (transaction) => {
      const rows = await transaction.workspaceMember.createManyAndReturn({
        data: userIds.map((userId) => ({ workspaceId, userId, id: uuidV7(now), role, createdAt: now })),
        skipDuplicates: true,
      });
      await rejectAboveQuotas(transaction, [quota]);
      const added = rows.map(toMember);
      for (const member of added) await this.audit.record(describe(null, member), transaction);
      return added;
    }, accountId);
  }

  /** Throws `invalid_request` when one of them has keys in the workspace. Returns the number of removed members. */
  async remove(
    { accountId, id: workspaceId }: WorkspaceRef,
    userIds: readonly string[],
    describe: DescribeChange<WorkspaceMember>,
  ): Promise<number> {
    const where = { workspaceId, userId: { in: [...userIds] } };
    return this.database.transact(async (transaction) => {
      // An update to the same value locks the rows: of concurrent removals of a member only one finds it.
      const rows = await transaction.workspaceMember.updateManyAndReturn({ where, data: { workspaceId } });
      const key = await transaction.apiKey.findFirst({
        select: { creatorUserId: true },
        where: { workspaceId, deletedAt: null, creatorUserId: { in: rows.map(({ userId }) => userId) } },
      });
      if (key) {
        throw new AppError('invalid_request', {
          detail: `user_ids: ${key.creatorUserId} has API keys in the workspace; delete them first`,
        });
      }
      const { count } = await transaction.workspaceMember.deleteMany({ where });
      for (const row of rows) await this.audit.record(describe(toMember(row), null), transaction);
      return count;
    }, accountId);
  }
}

function toMember(row: MemberRow): WorkspaceMember {
  return {
    id: row.id,
    workspaceId: row.workspaceId,
    userId: row.userId,
    role: row.role === 'admin' ? 'admin' : 'member',
    createdAt: row.createdAt,
  };
}
