// Assignments of guardrails to keys and members.
import { Injectable } from '@nestjs/common';
import type { DescribeChange } from '../../domain/audit.js';
import { Clock } from '../../domain/clock.js';
import { rejectMember } from '../../domain/errors.js';
import { noSuchGuardrail } from '../../domain/guardrails/guardrail.js';
import type {
  AssignmentSubject,
  Guardrail,
  GuardrailAssignment,
  GuardrailOwner,
  GuardrailRef,
} from '../../domain/guardrails/guardrail.js';
import { uuidV7 } from '../../domain/identifiers.js';
import type { ApiKey } from '../../domain/keys/api-key.js';
import type { Page, PageRequest } from '../../domain/page.js';
import type { Scope } from '../../domain/people/manager.js';
import { AuditLogRepository } from '../audit/audit-log.repository.js';
import { Database } from '../database/database.js';
import type { Transaction } from '../database/database.js';
import type { Prisma } from '../generated/client.js';
import { toAssignment } from './guardrail-row.js';
import type { AssignmentRow } from './guardrail-row.js';
import { GUARDRAILS_OF_KEY, GUARDRAILS_OF_MEMBER, toGuardrailRefs } from './guardrail-statements.js';
import type { GoverningRow } from './guardrail-statements.js';
import { assignmentsWhere } from './guardrails-in-reach.js';
import { lockWorkspace } from './guardrails.repository.js';

type Describe = DescribeChange<GuardrailAssignment>;

/** Keys by their hashes, or members by their user ids. */
export interface NamedSubjects {
  readonly subject: AssignmentSubject;
  /** Each once. */
  readonly names: readonly string[];
}

/** Of one guardrail, or of all within reach. */
interface AssignmentFilter {
  readonly guardrailId?: string;
  readonly subject: AssignmentSubject;
}

const WITH_KEY = { apiKey: { select: { hash: true, name: true, label: true } } } as const;
/** The member of a body that names the subjects. */
const MEMBERS: Readonly<Record<AssignmentSubject, string>> = {
  api_key: 'key_hashes',
  member: 'member_user_ids',
};
const UNKNOWN: Readonly<Record<AssignmentSubject, string>> = {
  api_key: 'the workspace of the guardrail has no key',
  member: 'the workspace of the guardrail has no member',
};

@Injectable()
export class GuardrailAssignmentsRepository {
  constructor(
    private readonly database: Database,
    private readonly audit: AuditLogRepository,
    private readonly clock: Clock,
  ) {}

  /** The oldest first, without those of deleted keys. */
  async list(
    { accountId, reach }: Scope,
    { guardrailId, subject }: AssignmentFilter,
    { offset, limit }: PageRequest,
  ): Promise<Page<GuardrailAssignment>> {
    const where: Prisma.GuardrailAssignmentWhereInput = {
      AND: assignmentsWhere(reach),
      guardrail: { accountId, ...(guardrailId !== undefined && { id: guardrailId }) },
      ...(subject === 'api_key' ? { apiKey: { is: { deletedAt: null } } } : { userId: { not: null } }),
    };
    const [rows, total] = await Promise.all([
      this.database.prisma.guardrailAssignment.findMany({
        where,
        include: WITH_KEY,
        orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
        skip: offset,
        take: limit,
      }),
      this.database.prisma.guardrailAssignment.count({ where }),
    ]);
    return {
      items: rows.map((row) => toAssignment(row, { accountId, workspaceId: row.workspaceId })),
      total,
    };
  }

  /** The guardrails that govern calls of a key; null: none. */
  async guardrailsOf({
    workspaceId,
    id,
  }: Pick<ApiKey, 'workspaceId' | 'id'>): Promise<readonly GuardrailRef[] | null> {
    const [row] = await this.database.query<GoverningRow & Record<string, unknown>>({
      name: 'guardrails-of-key',
      text: GUARDRAILS_OF_KEY,
      values: [workspaceId, id],
    });
    return row ? toGuardrailRefs(row) : null;
  }

  /** The guardrails that govern all keys of a user in a workspace; null: none. */
  async guardrailsOfMember(member: {
    readonly workspaceId: string;
    readonly userId: string;
  }): Promise<readonly GuardrailRef[] | null> {
    const [row] = await this.database.query<GoverningRow & Record<string, unknown>>({
      name: 'guardrails-of-member',
      text: GUARDRAILS_OF_MEMBER,
      values: [member.workspaceId, member.userId],
    });
    return row ? toGuardrailRefs(row) : null;
  }

  /**
   * Replaces the guardrails that the subjects had. Returns the number of changed assignments. Throws `invalid_request` with all
   * names that the workspace does not have.
   */
  async assign(
    guardrail: Guardrail,
    named: NamedSubjects,
    assignedBy: string | null,
    describe: Describe,
  ): Promise<number> {
    const now = this.clock.now();
    const { id: guardrailId, workspaceId } = guardrail;
    return this.change(guardrail, named, async (transaction, ids) => {
      const where = subjectsIn(guardrail, named, ids);
      const rows = await transaction.guardrailAssignment.findMany({ where, include: WITH_KEY });
      const before = rows.filter((row) => row.guardrailId !== guardrailId);
      const taken = new Set(rows.map(({ apiKeyId, userId }) => apiKeyId ?? userId));
      const data = ids
        .filter((id) => !taken.has(id))
        .map((id) => ({
          apiKeyId: named.subject === 'api_key' ? id : null,
          userId: named.subject === 'member' ? id : null,
          id: uuidV7(now),
          workspaceId,
          guardrailId,
          assignedBy,
          createdAt: now,
        }));
      await transaction.guardrailAssignment.createMany({ data });
      const changed = before.map(({ id }) => id);
      await transaction.guardrailAssignment.updateMany({
        where: { workspaceId, id: { in: changed } },
        data: { guardrailId, assignedBy, createdAt: now },
      });
      const after = await transaction.guardrailAssignment.findMany({
        where: { workspaceId, id: { in: [...changed, ...data.map(({ id }) => id)] } },
        include: WITH_KEY,
      });
      const replaced = new Map(before.map((row) => [row.id, row]));
      for (const row of after)
        await this.record(transaction, guardrail, describe, replaced.get(row.id) ?? null, row);
      return after.length;
    });
  }

  /** Returns the number of removed assignments to this guardrail. Throws as assign() does. */
  async remove(guardrail: Guardrail, named: NamedSubjects, describe: Describe): Promise<number> {
    const { id: guardrailId, workspaceId } = guardrail;
    return this.change(guardrail, named, async (transaction, ids) => {
      const rows = await transaction.guardrailAssignment.findMany({
        where: { ...subjectsIn(guardrail, named, ids), guardrailId },
        include: WITH_KEY,
      });
      await transaction.guardrailAssignment.deleteMany({
        where: { workspaceId, id: { in: rows.map(({ id }) => id) } },
      });
      for (const row of rows) await this.record(transaction, guardrail, describe, row, null);
      return rows.length;
    });
  }

  /** Assignments of a workspace change one request at a time. */
  private async change(
    guardrail: Guardrail,
    named: NamedSubjects,
    apply: (transaction: Transaction, ids: readonly string[]) => Promise<number>,
  ): Promise<number> {
    return this.database.transact(async (transaction) => {
      await lockWorkspace(transaction, guardrail);
      const found = await transaction.guardrail.findUnique({ where: { id: guardrail.id } });
      if (!found) throw noSuchGuardrail();
      return apply(transaction, await idsOf(transaction, guardrail, named));
    }, guardrail.accountId);
  }

  private async record(
    transaction: Transaction,
    owner: GuardrailOwner,
    describe: Describe,
    before: AssignmentRow | null,
    after: AssignmentRow | null,
  ): Promise<void> {
    const entry = describe(before && toAssignment(before, owner), after && toAssignment(after, owner));
    await this.audit.record(entry, transaction);
  }
}

function subjectsIn({ workspaceId }: GuardrailOwner, { subject }: NamedSubjects, ids: readonly string[]) {
  const subjects = { in: [...ids] };
  return { workspaceId, ...(subject === 'api_key' ? { apiKeyId: subjects } : { userId: subjects }) };
}

/** The ids of keys, and the user ids of members. */
async function idsOf(
  transaction: Transaction,
  { accountId, workspaceId }: GuardrailOwner,
  { subject, names }: NamedSubjects,
): Promise<readonly string[]> {
  const wanted = { in: [...names] };
  const found =
    subject === 'api_key'
      ? await transaction.apiKey.findMany({
          select: { hash: true, id: true },
          where: { accountId, workspaceId, hash: wanted, deletedAt: null },
        })
      : (
          await transaction.workspaceMember.findMany({
            select: { userId: true },
            where: { workspaceId, userId: wanted },
          })
        ).map(({ userId }) => ({ hash: userId, id: userId }));
  const known = new Set(found.map(({ hash }) => hash));
  const unknown = names.filter((name) => !known.has(name));
  if (unknown.length > 0) rejectMember(MEMBERS[subject], `${UNKNOWN[subject]} ${unknown.join(', ')}`);
  return found.map(({ id }) => id);
}
