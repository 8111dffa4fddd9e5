// Imports of the catalogue: proposals that wait for a person.
import { Injectable } from '@nestjs/common';
import type { CatalogueImport } from '../../domain/catalogue-import.js';
import { Clock } from '../../domain/clock.js';
import { uuidV7 } from '../../domain/identifiers.js';
import { Database } from '../database/database.js';
import type { Transaction } from '../database/database.js';
import {
  DISCARD_IMPORT,
  FIND_IMPORT,
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
    private readonly clock: Clock,
  ) {}

  /** Returns its id. Null: one that is not discarded has the same content. */
  async add(
    { lists, proposals, actor }: Pick<CatalogueImport, 'lists' | 'proposals' | 'actor'>,
    contentHash: string,
  ): Promise<string | null> {
    const now = this.clock.now();
    const [added] = await this.database.query<{ id: string }>({
      text: INSERT_IMPORT,
      values: [
        uuidV7(now),
        JSON.stringify(lists),
        contentHash,
        actor,
        JSON.stringify(proposals),
        now.toISOString(),
      ],
    });
    if (!added) return null;
    await this.database.query({ text: REMOVE_OLD_IMPORTS, values: [KEPT] });
    return added.id;
  }

  /** Newest first. */
  async list(): Promise<readonly ImportSummary[]> {
    return this.database.query<Row<ImportSummary>>({ text: LIST_IMPORTS });
  }

  async find(id: string): Promise<CatalogueImport | null> {
    const [found] = await this.database.query<Row<CatalogueImport>>({ text: FIND_IMPORT, values: [id] });
    return found ?? null;
  }

  /** `applied`: versions by number of a proposal. False: the import is discarded, or has one of them already. */
  async markApplied(
    id: string,
    applied: Readonly<Record<string, number>>,
    transaction: Transaction,
  ): Promise<boolean> {
    const rows = await transaction.$queryRawUnsafe<unknown[]>(MARK_APPLIED, id, JSON.stringify(applied));
    return rows.length > 0;
  }

  /** False: there is none, or it is discarded already. */
  async discard(id: string): Promise<boolean> {
    return (await this.database.query({ text: DISCARD_IMPORT, values: [id] })).length > 0;
  }
}
