// Sign-ins of people: the person, the roles by groups and the end of the person's keys change together.
import { Injectable } from '@nestjs/common';
import type { DescribeChange } from '../../domain/audit.js';
import { Clock } from '../../domain/clock.js';
import { uuidV7 } from '../../domain/identifiers.js';
import type { Identity } from '../../domain/people/claims.js';
import { toNewGroupMapping } from '../../domain/people/group-roles.js';
import type { GroupRoles, NewGroupMapping } from '../../domain/people/group-roles.js';
import { createPersonId, endOfGrace, hasRole } from '../../domain/people/person.js';
import type { Person } from '../../domain/people/person.js';
import { AuditLogRepository } from '../audit/audit-log.repository.js';
import { Database } from '../database/database.js';
import type { Transaction } from '../database/database.js';
import { OF_LIVING_WORKSPACES } from './group-mappings.repository.js';
import { readPerson } from './person-statements.js';
import {
  ADD_PERSON,
  DISABLE_KEYS,
  END_GROUP_ROLES,
  KEEP_GUARDED,
  KEEP_HAND_ROLES,
  LOCK_PERSON,
  SET_GROUP_ROLES,
} from './sign-in-statements.js';

/** Accounts that are looked at: more than one is ambiguous. */
const AMBIGUOUS = 2;

export interface SignInAttempt {
  readonly accountId: string;
  readonly issuer: string;
  readonly identity: Identity;
  readonly keyGraceDays: number;
  /** May throw, which leaves everything as it was. */
  readonly decideRoles: (mappings: readonly NewGroupMapping[]) => GroupRoles;
  /** Of a change by the person's own sign-in. */
  readonly describe: (person: Person) => DescribeChange<Person>;
}

interface LockedPerson {
  readonly id: string;
  readonly disabledAt: Date | null;
}

@Injectable()
export class SignInsRepository {
  constructor(
    private readonly database: Database,
    private readonly audit: AuditLogRepository,
    private readonly clock: Clock,
  ) {}

  /** Null: there is none, or more than one. */
  async findOnlyAccount(): Promise<string | null> {
    const accounts = await this.database.prisma.account.findMany({ select: { id: true }, take: AMBIGUOUS });
    const [only] = accounts;
    return only !== undefined && accounts.length === 1 ? only.id : null;
  }

  async hasAccount(id: string): Promise<boolean> {
    return (await this.database.prisma.account.count({ where: { id } })) > 0;
  }

  /** Creates the person at the first sign-in. Null: the person is disabled, and nothing has changed. */
  async signIn(attempt: SignInAttempt): Promise<Person | null> {
    return this.database.transact(
      (transaction) => this.signInWithin(transaction, attempt),
      attempt.accountId,
    );
  }

  private async signInWithin(transaction: Transaction, attempt: SignInAttempt): Promise<Person | null> {
    const { accountId, issuer, identity, describe } = attempt;
    const { subject } = identity;
    const now = this.clock.now();
    const created = await transaction.$queryRawUnsafe<unknown[]>(
      ADD_PERSON,
      accountId,
      createPersonId(),
      issuer,
      subject,
      now,
    );
    const [locked] = await transaction.$queryRawUnsafe<LockedPerson[]>(
      LOCK_PERSON,
      accountId,
      issuer,
      subject,
    );
    if (!locked) throw new Error('the person is gone within the transaction');
    if (locked.disabledAt !== null) return null;
    const isNew = created.length > 0;
    const before = await readPerson(transaction, locked.id);
    const roles = attempt.decideRoles(await this.listMappings(transaction, accountId, issuer));
    await this.replaceWorkspaceRoles(transaction, before, roles, now);
    const changed = await this.update(transaction, before, { attempt, roles, isNew, now });
    if (isNew) await this.audit.record(describe(changed)(null, changed), transaction);
    else if (!hasSameRoles(before, changed))
      await this.audit.record(describe(changed)(before, changed), transaction);
    return changed;
  }

  private async update(
    transaction: Transaction,
    { accountId, id }: Person,
    {
      attempt: { identity, keyGraceDays },
      roles,
      isNew,
      now,
    }: {
      readonly attempt: SignInAttempt;
      readonly roles: GroupRoles;
      readonly isNew: boolean;
      readonly now: Date;
    },
  ): Promise<Person> {
    const data = {
      email: identity.email,
      firstName: identity.firstName,
      lastName: identity.lastName,
      claimNames: [...identity.claimNames],
      groupRole: roles.accountRole,
      lastSignInAt: now,
    };
    const where = { accountId_id: { accountId, id } };
    await transaction.person.update({ where, data });
    const after = await readPerson(transaction, id);
    // A new person has no keys that could end; one who is given a role by hand makes some within this session.
    const keysValidUntil = hasRole(after) || isNew ? endOfGrace(now, keyGraceDays) : now;
    await transaction.person.update({ where, data: { keysValidUntil } });
    return { ...after, keysValidUntil };
  }

  private async replaceWorkspaceRoles(
    transaction: Transaction,
    { accountId, id, accountRoleSources }: Person,
    { accountRole, workspaceRoles }: GroupRoles,
    now: Date,
  ): Promise<void> {
    const wanted = [...workspaceRoles].map(([workspaceId, role]) => ({
      workspace_id: workspaceId,
      id: uuidV7(now),
      role,
    }));
    if (wanted.length > 0) {
      await transaction.$executeRawUnsafe(SET_GROUP_ROLES, accountId, id, now, JSON.stringify(wanted));
    }
    const kept = [...workspaceRoles.keys()];
    await transaction.$executeRawUnsafe(KEEP_HAND_ROLES, accountId, id, kept);
    const ofAccount = [accountRole, accountRoleSources.byHand];
    const guarded = ofAccount.some((role) => role !== null)
      ? await this.listIds(transaction, KEEP_GUARDED, [accountId, id, kept])
      : [];
    const ended = await this.listIds(transaction, END_GROUP_ROLES, [accountId, id, [...kept, ...guarded]]);
    const mayHaveKeys = ofAccount.some((role) => role !== null && role !== 'viewer');
    const lost = [...guarded, ...ended];
    if (!mayHaveKeys && lost.length > 0) await transaction.$executeRawUnsafe(DISABLE_KEYS, id, lost, now);
  }

  private async listMappings(
    transaction: Transaction,
    accountId: string,
    issuer: string,
  ): Promise<readonly NewGroupMapping[]> {
    const where = { accountId, issuer, ...OF_LIVING_WORKSPACES };
    const rows = await transaction.groupMapping.findMany({ where });
    return rows.flatMap((row) => toNewGroupMapping({ ...row, group: row.groupName }) ?? []);
  }

  private async listIds(
    transaction: Transaction,
    text: string,
    values: readonly unknown[],
  ): Promise<readonly string[]> {
    const rows = await transaction.$queryRawUnsafe<{ id: string }[]>(text, ...values);
    return rows.map(({ id }) => id);
  }
}

function hasSameRoles(one: Person, other: Person): boolean {
  const rolesOf = ({ accountRoleSources, workspaceRoleSources }: Person): string =>
    JSON.stringify([
      accountRoleSources,
      [...workspaceRoleSources].toSorted(([first], [second]) => (first < second ? -1 : 1)),
    ]);
  return rolesOf(one) === rolesOf(other);
}
