// Members of workspaces.
import { Injectable } from '@nestjs/common';
import type { DescribeChange } from '../../domain/audit.js';
import { Clock } from '../../domain/clock.js';
import { AppError } from '../../domain/errors.js';
import { uuidV7 } from '../../domain/identifiers.js';
import type { Page, PageRequest } from '../../domain/page.js';
import { highestRole, readRole, WORKSPACE_ROLES } from '../../domain/people/person.js';
import type { WorkspaceRole } from '../../domain/people/person.js';
import type { Workspace, WorkspaceMember } from '../../domain/workspace.js';
import { AuditLogRepository } from '../audit/audit-log.repository.js';
import { Database } from '../database/database.js';
import type { Transaction } from '../database/database.js';
import type { WorkspaceMemberModel as MemberRow } from '../generated/models.js';
import { rejectAboveQuotas } from './quotas.js';
import type { Quota } from './quotas.js';

const OF_GROUPS_ALONE = { handRole: null, groupRole: { not: null } };

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
   * Members that have a role by hand stay unchanged. Returns the others. Throws `limit_reached`, and adds none, when the workspace
   * would have more than `limit` members.
   */
  async add(
    { accountId, id: workspaceId }: WorkspaceRef,
    userIds: readonly string[],
    { role, limit }: { readonly role: WorkspaceRole; readonly limit: number },
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
        data: userIds.map((userId) => ({
          workspaceId,
          userId,
          id: uuidV7(now),
          role,
          handRole: role,
          createdAt: now,
        })),
        skipDuplicates: true,
      });
      const ofGroups = await transaction.workspaceMember.updateManyAndReturn({
        where: { workspaceId, userId: { in: [...userIds] }, ...OF_GROUPS_ALONE },
        data: { handRole: role },
      });
      await rejectAboveQuotas(transaction, [quota]);
      for (const row of rows) await this.audit.record(describe(null, toMember(row)), transaction);
      const changed = [];
      for (const row of ofGroups) {
        const before = toMember({ ...row, handRole: null });
        changed.push(await this.storeRole(transaction, row));
        await this.audit.record(describe(before, toMember(row)), transaction);
      }
      return [...rows.map(toMember), ...changed];
    }, accountId);
  }

  /** With the role by hand of the row, and the higher of its roles. */
  private async storeRole(transaction: Transaction, row: MemberRow): Promise<WorkspaceMember> {
    const member = toMember(row);
    const { workspaceId, userId, role, roleSources } = member;
    await transaction.workspaceMember.update({
      where: { workspaceId_userId: { workspaceId, userId } },
      data: { role, handRole: roleSources.byHand },
    });
    return member;
  }

  /**
   * Removes the roles given by hand: a member with a role of groups stays. Throws `invalid_request` when one of those who leave has
   * keys in the workspace. Returns the number of changed members.
   */
  async remove(
    { accountId, id: workspaceId }: WorkspaceRef,
    userIds: readonly string[],
    describe: DescribeChange<WorkspaceMember>,
  ): Promise<number> {
    const where = { workspaceId, userId: { in: [...userIds] }, NOT: OF_GROUPS_ALONE };
    return this.database.transact(async (transaction) => {
      // An update to the same value locks the rows: of concurrent removals of a member only one finds it.
      const rows = await transaction.workspaceMember.updateManyAndReturn({ where, data: { workspaceId } });
      const leaving = rows.filter(({ groupRole }) => groupRole === null).map(({ userId }) => userId);
      const key = await transaction.apiKey.findFirst({
        select: { creatorUserId: true },
        where: { workspaceId, deletedAt: null, creatorUserId: { in: leaving } },
      });
      if (key) {
        throw new AppError('invalid_request', {
          detail: `user_ids: ${key.creatorUserId} has API keys in the workspace; delete them first`,
        });
      }
      await transaction.workspaceMember.deleteMany({ where: { workspaceId, userId: { in: leaving } } });
      for (const row of rows) {
        const isLeaving = row.groupRole === null;
        const after = isLeaving ? null : await this.storeRole(transaction, { ...row, handRole: null });
        await this.audit.record(describe(toMember(row), after), transaction);
      }
      return rows.length;
    }, accountId);
  }
}

function toMember(row: MemberRow): WorkspaceMember {
  const byGroup = readRole(WORKSPACE_ROLES, row.groupRole);
  // A replica of an earlier release writes the role alone.
  const byHand = readRole(WORKSPACE_ROLES, row.handRole ?? (byGroup === null ? row.role : null));
  return {
    id: row.id,
    workspaceId: row.workspaceId,
    userId: row.userId,
    role: highestRole(WORKSPACE_ROLES, [byHand, byGroup]) ?? 'viewer',
    roleSources: { byHand, byGroup },
    createdAt: row.createdAt,
  };
}
