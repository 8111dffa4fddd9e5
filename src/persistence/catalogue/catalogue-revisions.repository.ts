// The stored revisions of the catalogue.
import { Injectable } from '@nestjs/common';
import { RANKS } from '../../catalogue/stored-entry.js';
import type { Rank, StoredEntry } from '../../catalogue/stored-entry.js';
import type { Actor, AuditEntry } from '../../domain/audit.js';
import { labelOfManager } from '../../domain/people/manager.js';
import { Clock } from '../../domain/clock.js';
import { AuditLogRepository } from '../audit/audit-log.repository.js';
import { Database } from '../database/database.js';
import type { Transaction } from '../database/database.js';
import {
  APPEND,
  CHANGED_LAYERS,
  FIND_REVISION,
  LAYERS,
  LIST_REVISIONS,
  LOCK_CATALOGUE,
  NEWEST_VERSION,
  REVISIONS_OF_ENTRY,
} from './catalogue-statements.js';

/** Revisions of one page of a load. */
const PAGE = 200;
/** Of an entry, newest first. */
const SHOWN_OF_ENTRY = 50;

/** Null: the layer ends. */
export type CatalogueDocument = Readonly<Record<string, unknown>> | null;

export interface NewRevision {
  readonly rank: Rank;
  readonly kind: string;
  readonly id: string;
  readonly document: CatalogueDocument;
}

export interface Revision extends NewRevision {
  readonly version: number;
  /** The layer before it; null: there was none. */
  readonly before: CatalogueDocument;
  /** The label of the key. */
  readonly actor: string;
  readonly reason: string | null;
  readonly createdAt: Date;
}

interface LayerRow {
  /** Null: the page has no entries. */
  readonly kind: string | null;
  readonly id: string;
  readonly rank: string;
  readonly version: number;
  readonly document: CatalogueDocument;
}

type Row<Columns> = Columns & Record<string, unknown>;

@Injectable()
export class CatalogueRevisionsRepository {
  constructor(
    private readonly database: Database,
    private readonly audit: AuditLogRepository,
    private readonly clock: Clock,
  ) {}

  /** The next entries that changed after a version; `version` is that of the last of them, and equal when there are none. */
  async changedAfter(
    version: number,
  ): Promise<{ readonly version: number; readonly entries: readonly StoredEntry[] }> {
    const rows = await this.database.query<Row<LayerRow & { readonly lastVersion: number }>>({
      name: 'changed-catalogue',
      text: CHANGED_LAYERS,
      values: [version, PAGE],
    });
    return { version: rows[0]?.lastVersion ?? version, entries: toEntries(rows) };
  }

  async newestVersion(): Promise<number> {
    const [row] = await this.database.query<{ version: number }>({ text: NEWEST_VERSION });
    return row?.version ?? 0;
  }

  async layersOf(
    entries: readonly { readonly kind: string; readonly id: string }[],
  ): Promise<readonly StoredEntry[]> {
    const values = [entries.map(({ kind }) => kind), entries.map(({ id }) => id)];
    return toEntries(await this.database.query<Row<LayerRow>>({ text: LAYERS, values }));
  }

  /**
   * Appends the revisions with the versions that follow `newest`, and their audit entries. False, and nothing is stored: a
   * revision that the caller does not know came first.
   */
  async append(
    newest: number,
    revisions: readonly NewRevision[],
    { actor, reason }: Pick<Revision, 'reason'> & { readonly actor: Actor },
    describe: (revision: NewRevision, version: number) => AuditEntry,
    /** Further statements of the change, which it waits for. */
    within: (transaction: Transaction) => Promise<void> = () => Promise.resolve(),
  ): Promise<boolean> {
    return this.database.transact(async (transaction) => {
      await transaction.$queryRawUnsafe(LOCK_CATALOGUE);
      if ((await newestIn(transaction)) !== newest) return false;
      await transaction.$executeRawUnsafe(
        APPEND,
        newest,
        labelOfManager(actor),
        reason,
        this.clock.now().toISOString(),
        JSON.stringify(revisions),
      );
      for (const [index, revision] of revisions.entries())
        await this.audit.record(describe(revision, newest + index + 1), transaction);
      await within(transaction);
      return true;
    }, actor.accountId);
  }

  /** Newest first. */
  async list(before: number, limit: number): Promise<readonly Revision[]> {
    return this.database.query<Row<Revision>>({ text: LIST_REVISIONS, values: [before, limit] });
  }

  async find(version: number): Promise<Revision | null> {
    const [found] = await this.database.query<Row<Revision>>({ text: FIND_REVISION, values: [version] });
    return found ?? null;
  }

  /** The newest ones, newest first. */
  async ofEntry(kind: string, id: string): Promise<readonly Revision[]> {
    const values = [kind, id, SHOWN_OF_ENTRY];
    return this.database.query<Row<Revision>>({ text: REVISIONS_OF_ENTRY, values });
  }
}

async function newestIn(transaction: Transaction): Promise<number> {
  const [row] = await transaction.$queryRawUnsafe<{ version: number }[]>(NEWEST_VERSION);
  return row?.version ?? 0;
}

/** Rows of one entry become one. */
function toEntries(rows: readonly LayerRow[]): StoredEntry[] {
  const entries = new Map<string, StoredEntry>();
  for (const { kind, id, rank: name, version, document } of rows) {
    const rank = RANKS.find((known) => known === name);
    if (kind === null || !rank) continue;
    const key = `${kind} ${id}`;
    const known = entries.get(key) ?? { kind, id, version, documents: {} };
    entries.set(key, {
      ...known,
      version: Math.max(known.version, version),
      documents: { ...known.documents, ...(document && { [rank]: document }) },
    });
  }
  return [...entries.values()];
}
