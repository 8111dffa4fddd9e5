// Roles of people by groups of their identity provider.
import { Injectable } from '@nestjs/common';
import type { DescribeChange } from '../../domain/audit.js';
import { Clock } from '../../domain/clock.js';
import { AppError } from '../../domain/errors.js';
import { uuidV7 } from '../../domain/identifiers.js';
import type { Page, PageRequest } from '../../domain/page.js';
import { MAX_GROUP_MAPPINGS, toGroupMapping } from '../../domain/people/group-roles.js';
import type { GroupMapping, NewGroupMapping } from '../../domain/people/group-roles.js';
import { AuditLogRepository } from '../audit/audit-log.repository.js';
import { noSuchWorkspace, UniqueViolation } from '../database/database-errors.js';
import { Database } from '../database/database.js';
import { lockAccount, lockRow } from '../database/rows/row-lock.js';
import type { GroupMappingModel as MappingRow } from '../generated/models.js';

/** Mappings of a deleted workspace wait for its removal. */
export const OF_LIVING_WORKSPACES = { OR: [{ workspaceId: null }, { workspace: { deletedAt: null } }] };

@Injectable()
export class GroupMappingsRepository {
  constructor(
    private readonly database: Database,
    private readonly audit: AuditLogRepository,
    private readonly clock: Clock,
  ) {}

  /** The oldest first. */
  async list(accountId: string, { offset, limit }: PageRequest): Promise<Page<GroupMapping>> {
    const where = { accountId, ...OF_LIVING_WORKSPACES };
    const [rows, total] = await Promise.all([
      this.database.prisma.groupMapping.findMany({
        where,
        orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
        skip: offset,
        take: limit,
      }),
      this.database.prisma.groupMapping.count({ where }),
    ]);
    return { items: rows.map(toMapping), total };
  }

  /** Throws `limit_reached`, `conflict`, or `invalid_request` when the account has no such workspace. */
  async create(
    accountId: string,
    { issuer, group: groupName, workspaceId, role }: NewGroupMapping,
    describe: DescribeChange<GroupMapping>,
  ): Promise<GroupMapping> {
    const now = this.clock.now();
    const data = { accountId, id: uuidV7(now), issuer, groupName, workspaceId, role, createdAt: now };
    try {
      return await this.database.transact(async (transaction) => {
        await lockAccount(transaction, accountId);
        if (
          workspaceId !== null &&
          !(await lockRow(transaction, 'workspaces', { accountId, id: workspaceId }))
        )
          throw noSuchWorkspace();
        const count = await transaction.groupMapping.count({ where: { accountId } });
        if (count >= MAX_GROUP_MAPPINGS) {
          throw new AppError('limit_reached', {
            detail: `the account has ${MAX_GROUP_MAPPINGS} group mappings, which is the limit; delete one of them first`,
          });
        }
        const created = toMapping(await transaction.groupMapping.create({ data }));
        await this.audit.record(describe(null, created), transaction);
        return created;
      }, accountId);
    } catch (error) {
      if (!(error instanceof UniqueViolation)) throw error;
      throw new AppError('conflict', {
        detail: 'the group has a role there already; delete its mapping first',
      });
    }
  }

  /** False: the account has no such mapping. `check` may throw, and the mapping stays. */
  async delete(
    accountId: string,
    id: string,
    check: (found: GroupMapping) => void,
    describe: DescribeChange<GroupMapping>,
  ): Promise<boolean> {
    return this.database.transact(async (transaction) => {
      const row = await transaction.groupMapping.findUnique({ where: { accountId_id: { accountId, id } } });
      if (!row) return false;
      const found = toMapping(row);
      check(found);
      // Of concurrent deletions only one removes it.
      const { count } = await transaction.groupMapping.deleteMany({ where: { accountId, id } });
      if (count === 0) return false;
      await this.audit.record(describe(found, null), transaction);
      return true;
    }, accountId);
  }
}

function toMapping(row: MappingRow): GroupMapping {
  return toGroupMapping({ ...row, group: row.groupName });
}
