// Changes of stored layers: who may make them, and the catalogue with a change before it is stored.
import { Injectable } from '@nestjs/common';
import type { AnyModel, Kind } from '../catalogue/reader/kinds.js';
import type { ReadEntry } from '../catalogue/layered-catalogue.js';
import type { Rank, StoredEntry } from '../catalogue/stored-entry.js';
import { AppConfig } from '../config/app-config.js';
import { describeChange } from '../domain/audit.js';
import type { Actor, AuditedType } from '../domain/audit.js';
import type { Manager } from '../domain/people/manager.js';
import { hasRight } from '../domain/people/rights.js';
import { AppError } from '../domain/errors.js';
import { CatalogueRevisionsRepository } from '../persistence/catalogue/catalogue-revisions.repository.js';
import type {
  CatalogueDocument,
  NewRevision,
} from '../persistence/catalogue/catalogue-revisions.repository.js';
import type { Transaction } from '../persistence/database/database.js';
import { CatalogueSource } from '../routing/catalogue-source.js';
import { StoredCatalogue } from '../routing/stored-catalogue.js';

// Attempts of a change that another change overtakes.
const MAX_ATTEMPTS = 10;
// Models with rows.
const MAX_ENTRIES = 10_000;

export interface LayerChange {
  readonly kind: Kind;
  readonly id: string;
  readonly rank: Rank;
  /** The newest revision that the caller knows; undefined: any. */
  readonly expected?: number | undefined;
  /** The layer from the one before; null: it ends. */
  readonly documentAfter: (before: CatalogueDocument) => CatalogueDocument;
}

interface ChangeOptions {
  readonly reason: string | null;
  /** The error for a layer that cannot be read, or not beside the others. */
  readonly onProblem: 'invalid_request' | 'conflict';
  /** Throws where the catalogue is not the one that the change was made for. */
  readonly verify?: () => Promise<void>;
  /** Stores more in the transaction of the change. `first`: its first version. */
  readonly within?: (transaction: Transaction, first: number) => Promise<void>;
}

/** A change over the stored layers as they are now. */
interface CheckedChange extends LayerChange {
  /** The newest version of its ranks. */
  readonly previous: number;
  readonly before: CatalogueDocument;
  readonly document: CatalogueDocument;
  readonly entry: StoredEntry;
}

const AUDITED: AuditedType<Pick<NewRevision, 'id' | 'document'> & { readonly version: number }> = {
  objectType: 'catalogue_model',
  objectId: ({ id }) => id,
  workspaceId: () => null,
  state: ({ document, version }) => ({ version, ...document }),
};

@Injectable()
export class CatalogueChanges {
  constructor(
    private readonly config: AppConfig,
    private readonly source: CatalogueSource,
    private readonly stored: StoredCatalogue,
    private readonly revisions: CatalogueRevisionsRepository,
  ) {}

  /** Whether the manager may change the catalogue: he sees its authors and their reasons. */
  isOperator(manager: Manager): boolean {
    return this.isOfOperator(manager) && hasRight(manager, 'catalogue.change', null);
  }

  private isOfOperator({ accountId }: Manager): boolean {
    return this.config.operatorAccounts.includes(accountId);
  }

  requireOperator(manager: Manager): void {
    if (this.isOfOperator(manager)) return;
    const isNamed = this.config.operatorAccounts.length > 0;
    throw new AppError('operator_account_needed', {
      detail: isNamed ? 'OPERATOR_ACCOUNTS does not name this account' : 'OPERATOR_ACCOUNTS names no account',
    });
  }

  /** All of them or none, in one step for every replica. Returns the version of the first; the others follow. */
  async append(actor: Actor, changes: readonly LayerChange[], options: ChangeOptions): Promise<number> {
    for (const { kind, id } of changes)
      if (this.source.layers.isOfFile(kind, id))
        throw new AppError('conflict', { detail: `CATALOGUE_FILE defines ${id}: change it there` });
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      await this.stored.load();
      const { version: newest } = this.source.layers;
      await options.verify?.();
      const checked = await this.check(changes, newest, options.onProblem);
      const first = newest + 1;
      const describe = describeChange(actor, AUDITED);
      const isAppended = await this.revisions.append(
        newest,
        checked.map(({ kind, id, rank, document }) => ({ kind, id, rank, document })),
        { actor, reason: options.reason },
        ({ id, document }, version) => {
          const { before, previous } = checked[version - first] ?? { before: null, previous: 0 };
          return describe(
            before && { id, document: before, version: previous },
            document && { id, document, version },
          );
        },
        (transaction) => options.within?.(transaction, first) ?? Promise.resolve(),
      );
      if (!isAppended) continue;
      await this.stored.load();
      return first;
    }
    throw new AppError('conflict', { detail: 'other changes of the catalogue came first; try again' });
  }

  /** The whole catalogue with the changes, before anything is stored. */
  private async check(
    changes: readonly LayerChange[],
    newest: number,
    onProblem: ChangeOptions['onProblem'],
  ): Promise<CheckedChange[]> {
    const known = await this.revisions.layersOf(changes);
    const checked = changes.map((change, index): CheckedChange => {
      const { kind, id, rank, expected } = change;
      const entry = known.find((candidate) => candidate.kind === kind && candidate.id === id);
      const previous = entry?.version ?? 0;
      if (expected !== undefined && expected !== previous)
        throw new AppError('conflict', {
          detail: `the newest revision of ${id} is ${previous}, not ${expected}; read it again`,
        });
      const before = (entry?.documents[rank] ?? null) as CatalogueDocument;
      const document = change.documentAfter(before);
      if (document === null && before === null)
        throw new AppError('not_found', { detail: `${id} has no layer of the ${rank} that could end` });
      const documents = { ...entry?.documents, [rank]: document };
      const version = newest + index + 1;
      return { ...change, previous, before, document, entry: { kind, id, version, documents } };
    });
    for (const change of checked) await this.rejectUnfit(change, onProblem);
    const read = await this.stored.tryEntries(checked.map(({ entry }) => entry));
    for (const { id, problem } of read)
      if (problem !== null)
        throw new AppError(onProblem, { detail: checked.length > 1 ? `${id}: ${problem}` : problem });
    for (const entry of read) this.rejectUnknownTargets(entry, onProblem);
    return checked;
  }

  private async rejectUnfit(
    { kind, id, entry: { documents } }: CheckedChange,
    onProblem: ChangeOptions['onProblem'],
  ): Promise<void> {
    const { layers } = this.source;
    if (layers.entry(kind, id) === undefined && layers.entryCount >= MAX_ENTRIES)
      throw new AppError('limit_reached', { detail: `the catalogue has ${MAX_ENTRIES} changed models` });
    await this.rejectOtherWidth({ kind, id, documents });
    const owner = layers.ownerOf(id);
    if (owner && owner.id !== id)
      throw new AppError(onProblem, { detail: `${id} is another name of ${owner.id}` });
  }

  /** Calls pass over a target that goes later; one that is new is a mistake. */
  private rejectUnknownTargets({ model, ranks }: ReadEntry, onProblem: ChangeOptions['onProblem']): void {
    const entry: AnyModel | null = ranks.includes('operator') ? model : null;
    if (!entry || !('targets' in entry)) return;
    const unknown = entry.targets.find(({ target }) => !this.source.layers.model('chat_models', target));
    if (unknown)
      throw new AppError(onProblem, { detail: `targets: there is no chat model ${unknown.target}` });
  }

  /** Callers keep vectors by the id of their model, also of one that has been deleted since. */
  private async rejectOtherWidth({
    kind,
    id,
    documents,
  }: Pick<StoredEntry, 'id' | 'documents'> & { readonly kind: Kind }): Promise<void> {
    if (kind !== 'models') return;
    const known = this.source.layers.model(kind, id) as { readonly nativeDimensions?: number } | undefined;
    const earlier = known ? [] : await this.revisions.ofEntry(kind, id);
    const width =
      known?.nativeDimensions ?? earlier.map(({ document }) => document?.['native_dimensions']).find(Boolean);
    for (const document of Object.values(documents) as CatalogueDocument[]) {
      const wanted = document?.['native_dimensions'];
      if (wanted === undefined || width === undefined || wanted === width) continue;
      throw new AppError('conflict', {
        detail: `native_dimensions: ${id} has ${JSON.stringify(width)}; another width is another model, with another id`,
      });
    }
  }
}
