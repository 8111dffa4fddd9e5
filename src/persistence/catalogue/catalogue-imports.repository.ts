// Imports of the catalogue: proposals that wait for a person.
import { Injectable } from '@nestjs/common';
import type { Actor, DescribeChange } from '../../domain/audit.js';
import { labelOfManager } from '../../domain/people/manager.js';
import type { CatalogueImport } from '../../domain/catalogue-import.js';
import { Clock } from '../../domain/clock.js';
import { uuidV7 } from '../../domain/identifiers.js';
import { AuditLogRepository } from '../audit/audit-log.repository.js';
import { Database } from '../database/database.js';
import type { Transaction } from '../database/database.js';
import {
  DISCARD_IMPORT,
  FIND_IMPORT,
  FIND_SUMMARY,
  INSERT_IMPORT,
  LIST_IMPORTS,
  MARK_APPLIED,
  REMOVE_OLD_IMPORTS,
} from './import-statements.js';

/** The newest ones are kept. */
const KEPT = 20;

export interface ImportSummary extends Omit<CatalogueImport, 'proposals'> {
  readonly proposalCount: number;
}

type Row<Columns> = Columns & Record<string, unknown>;

@Injectable()
export class CatalogueImportsRepository {
  constructor(
    private readonly database: Database,
    private readonly audit: AuditLogRepository,
    private readonly clock: Clock,
  ) {}

  /** Returns its id. Null: one that is not discarded has the same content. */
  async add(
    { lists, proposals, actor }: Pick<CatalogueImport, 'lists' | 'proposals'> & { readonly actor: Actor },
    contentHash: string,
    describe: DescribeChange<ImportSummary>,
  ): Promise<string | null> {
    const now = this.clock.now();
    const values = [
      uuidV7(now),
      JSON.stringify(lists),
      contentHash,
      labelOfManager(actor),
      JSON.stringify(proposals),
      now.toISOString(),
    ];
    return this.database.transact(async (transaction) => {
      const [added] = await transaction.$queryRawUnsafe<{ id: string }[]>(INSERT_IMPORT, ...values);
      if (!added) return null;
      await transaction.$executeRawUnsafe(REMOVE_OLD_IMPORTS, KEPT);
      await this.audit.record(describe(null, await summaryIn(transaction, added.id)), transaction);
      return added.id;
    }, actor.accountId);
  }

  /** Newest first. */
  async list(): Promise<readonly ImportSummary[]> {
    return this.database.query<Row<ImportSummary>>({ text: LIST_IMPORTS });
  }

  async find(id: string): Promise<CatalogueImport | null> {
    const [found] = await this.database.query<Row<CatalogueImport>>({ text: FIND_IMPORT, values: [id] });
    return found ?? null;
  }

  /**
   * `applied`: versions by number of a proposal. False, and nothing is stored: the import is discarded, or has one of them already.
   */
  async markApplied(
    id: string,
    applied: Readonly<Record<string, number>>,
    describe: DescribeChange<ImportSummary>,
    transaction: Transaction,
  ): Promise<boolean> {
    const before = await summaryIn(transaction, id);
    const rows = await transaction.$queryRawUnsafe<unknown[]>(MARK_APPLIED, id, JSON.stringify(applied));
    if (rows.length === 0) return false;
    await this.audit.record(describe(before, await summaryIn(transaction, id)), transaction);
    return true;
  }

  /** False: there is none, or it is discarded already. */
  async discard(
    id: string,
    { actor }: { readonly actor: Actor },
    describe: DescribeChange<ImportSummary>,
  ): Promise<boolean> {
    return this.database.transact(async (transaction) => {
      const before = await summaryIn(transaction, id);
      const rows = await transaction.$queryRawUnsafe<unknown[]>(DISCARD_IMPORT, id);
      if (rows.length === 0) return false;
      await this.audit.record(describe(before, null), transaction);
      return true;
    }, actor.accountId);
  }
}

async function summaryIn(transaction: Transaction, id: string): Promise<ImportSummary | null> {
  const [found] = await transaction.$queryRawUnsafe<ImportSummary[]>(FIND_SUMMARY, id);
  return found ?? null;
}
