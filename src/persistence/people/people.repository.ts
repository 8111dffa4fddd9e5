// People and their roles.
import { Injectable } from '@nestjs/common';
import type { DescribeChange } from '../../domain/audit.js';
import { Clock } from '../../domain/clock.js';
import type { Page, PageRequest } from '../../domain/page.js';
import type { AccountRole, Person } from '../../domain/people/person.js';
import { AuditLogRepository } from '../audit/audit-log.repository.js';
import { BatchReader } from '../database/batch-reader.js';
import { Database } from '../database/database.js';
import {
  FIND_PEOPLE,
  LIST_PEOPLE,
  LOCK_PERSON_OF_ACCOUNT,
  readPerson,
  toPerson,
} from './person-statements.js';
import type { PersonRow } from './person-statements.js';

/** Absent members keep their value. */
export interface PersonChange {
  /** The role given by hand; null: none. */
  readonly handRole?: AccountRole | null;
  readonly isDisabled?: boolean;
  /** When the keys that the person has created stop. */
  readonly keysValidUntil?: Date;
}

@Injectable()
export class PeopleRepository {
  private readonly people = new BatchReader<string, Person>({
    idOf: (id) => id,
    read: (ids) => this.read(ids),
  });

  constructor(
    private readonly database: Database,
    private readonly audit: AuditLogRepository,
    private readonly clock: Clock,
  ) {}

  /** By an id that a session names: of whatever account. */
  async find(id: string): Promise<Person | null> {
    return this.people.find(id);
  }

  /** People without a role first, then the newest. */
  async list(accountId: string, { offset, limit }: PageRequest): Promise<Page<Person>> {
    const [rows, total] = await Promise.all([
      this.database.query<PersonRow & Record<string, unknown>>({
        text: LIST_PEOPLE,
        values: [accountId, offset, limit],
      }),
      this.database.prisma.person.count({ where: { accountId } }),
    ]);
    return { items: rows.map(toPerson), total };
  }

  /** Null: the account has no such person. `decide` sees the person as the change finds it, and may throw. */
  async change(
    accountId: string,
    id: string,
    decide: (before: Person) => PersonChange,
    describe: DescribeChange<Person>,
  ): Promise<Person | null> {
    return this.database.transact(async (transaction) => {
      const locked = await transaction.$queryRawUnsafe<unknown[]>(LOCK_PERSON_OF_ACCOUNT, accountId, id);
      if (locked.length === 0) return null;
      const before = await readPerson(transaction, id);
      const { handRole, isDisabled, keysValidUntil } = decide(before);
      const isSwitched = isDisabled !== undefined && isDisabled !== (before.disabledAt !== null);
      const isGiven = handRole !== undefined && handRole !== before.accountRoleSources.byHand;
      if (!isSwitched && !isGiven) return before;
      await transaction.person.update({
        where: { accountId_id: { accountId, id } },
        data: {
          ...(isSwitched && { disabledAt: isDisabled ? this.clock.now() : null }),
          ...(isGiven && { handRole }),
          ...(keysValidUntil !== undefined && { keysValidUntil }),
        },
      });
      const after = await readPerson(transaction, id);
      await this.audit.record(describe(before, after), transaction);
      return after;
    }, accountId);
  }

  private async read(ids: readonly string[]): Promise<ReadonlyMap<string, Person>> {
    const rows = await this.database.query<PersonRow & Record<string, unknown>>({
      name: 'find-people',
      text: FIND_PEOPLE,
      values: [ids],
    });
    return new Map(rows.map((row) => [row.id, toPerson(row)]));
  }
}
