// The /catalogue operations that concern the history: the operator's changes, and the revisions of a model.
import { Injectable } from '@nestjs/common';
import { idsOf } from '../catalogue/catalogue-model.js';
import { CatalogueError } from '../catalogue/reader/cursor.js';
import { KINDS } from '../catalogue/reader/kinds.js';
import type { AnyModel, Kind } from '../catalogue/reader/kinds.js';
import type { StoredEntry } from '../catalogue/stored-layer.js';
import { AppConfig } from '../config/app-config.js';
import { describeChange } from '../domain/audit.js';
import type { Actor, AuditedType } from '../domain/audit.js';
import type { ApiKey } from '../domain/keys/api-key.js';
import { AppError } from '../domain/errors.js';
import { CatalogueRevisionsRepository } from '../persistence/catalogue/catalogue-revisions.repository.js';
import type { NewRevision, Revision } from '../persistence/catalogue/catalogue-revisions.repository.js';
import { CatalogueSource } from '../routing/catalogue-source.js';
import { StoredCatalogue } from '../routing/stored-catalogue.js';
import { CatalogueEntries } from './catalogue-entries.js';
import type { CatalogueEntry, CatalogueName } from './catalogue-entries.js';
import type { CatalogueChangesQueryDto } from './dto/catalogue-queries.dto.js';

// Attempts of a change that another change overtakes.
const MAX_ATTEMPTS = 10;
// Bytes of a stored document.
const MAX_DOCUMENT = 262_144;
// Models with rows.
const MAX_ENTRIES = 10_000;

export interface CatalogueHistory extends CatalogueEntry {
  readonly revisions: readonly Revision[];
  /** Whether the caller operates this service. */
  readonly showsActors: boolean;
}

const AUDITED: AuditedType<Pick<NewRevision, 'id' | 'document'> & { readonly version: number }> = {
  objectType: 'catalogue_model',
  objectId: ({ id }) => id,
  workspaceId: () => null,
  state: ({ document, version }) => ({ version, ...document }),
};

@Injectable()
export class CatalogueService {
  constructor(
    private readonly config: AppConfig,
    private readonly entries: CatalogueEntries,
    private readonly source: CatalogueSource,
    private readonly stored: StoredCatalogue,
    private readonly revisions: CatalogueRevisionsRepository,
  ) {}

  async get(key: ApiKey, id: string, kind?: Kind): Promise<CatalogueHistory> {
    const name = { id, kind: kind ?? (await this.kindOf(id)) ?? noSuchModel(id) };
    const [[entry], revisions] = await Promise.all([
      this.entries.read([name]),
      this.revisions.ofEntry(name.kind, id),
    ]);
    if (!entry || (entry.layers.length === 0 && revisions.length === 0)) return noSuchModel(id);
    return { ...entry, revisions, showsActors: this.isOperator(key) };
  }

  /** Replaces the operator's layer. `expected`: the newest revision that the caller knows; undefined: any. */
  async put(
    actor: Actor,
    id: string,
    change: { readonly kind?: Kind | undefined; readonly model: Readonly<Record<string, unknown>> },
    { reason, expected }: { readonly reason: string | null; readonly expected: number | undefined },
  ): Promise<CatalogueHistory> {
    this.requireOperator(actor.key);
    const kind = change.kind ?? (await this.kindOf(id));
    if (kind === null) reject(`kind: must be one of ${KINDS.join(', ')}: there is no model ${id} yet`);
    if ((change.model['id'] ?? id) !== id) reject(`model.id: must be ${id}, or absent`);
    const document = { id, ...change.model };
    if (JSON.stringify(document).length > MAX_DOCUMENT)
      reject(`model: must have at most ${MAX_DOCUMENT} characters of JSON`);
    await this.change(
      actor,
      { kind, id, rank: 'operator', document },
      { reason, expected },
      'invalid_request',
    );
    return this.get(actor.key, id, kind);
  }

  /** Ends the operator's layer. */
  async delete(
    actor: Actor,
    id: string,
    options: { readonly reason: string | null; readonly expected: number | undefined },
  ): Promise<void> {
    this.requireOperator(actor.key);
    const kind = (await this.kindOf(id)) ?? noSuchModel(id);
    await this.change(actor, { kind, id, rank: 'operator', document: null }, options, 'conflict');
  }

  /** A new revision with the layer before that one. */
  async revert(actor: Actor, version: number, reason: string | null): Promise<Revision> {
    this.requireOperator(actor.key);
    const found = Number.isSafeInteger(version) ? await this.revisions.find(version) : null;
    if (!found) throw new AppError('not_found', { detail: `there is no revision ${version}` });
    const { rank, kind, id, before: document } = found;
    const options = { reason: reason ?? `reverts revision ${version}`, expected: undefined };
    const appended = await this.change(actor, { rank, kind, id, document }, options, 'conflict');
    return (await this.revisions.find(appended)) ?? noSuchModel(id);
  }

  async changes(
    key: ApiKey,
    { before, limit }: CatalogueChangesQueryDto,
  ): Promise<{
    readonly items: readonly Revision[];
    readonly next: number | null;
    readonly showsActors: boolean;
  }> {
    // One more shows whether there is a next page.
    const found = await this.revisions.list(before ?? Number.MAX_SAFE_INTEGER, limit + 1);
    const items = found.slice(0, limit);
    const next = found.length > limit ? (items.at(-1)?.version ?? null) : null;
    return { items, next, showsActors: this.isOperator(key) };
  }

  /** `onProblem`: the error for a layer that cannot be read, or not beside the others. Returns the version. */
  private async change(
    actor: Actor,
    revision: NewRevision,
    { reason, expected }: { readonly reason: string | null; readonly expected: number | undefined },
    onProblem: 'invalid_request' | 'conflict',
  ): Promise<number> {
    const { kind, id, rank, document } = revision;
    const name = { kind: kind as Kind, id };
    if (this.entries.fileDocuments()?.[name.kind]?.has(id))
      throw new AppError('conflict', { detail: `CATALOGUE_FILE defines ${id}: change it there` });
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      await this.stored.load();
      const { version: newest } = this.source.rows;
      const [entry] = await this.revisions.layersOf([name]);
      if (expected !== undefined && expected !== (entry?.version ?? 0))
        throw new AppError('conflict', {
          detail: `the newest revision of ${id} is ${entry?.version ?? 0}, not ${expected}; read it again`,
        });
      const before = (entry?.documents[rank] ?? null) as NewRevision['document'];
      if (document === null && before === null)
        throw new AppError('not_found', { detail: `${id} has no layer of the ${rank} that could end` });
      await this.check(name, newest + 1, { ...entry?.documents, [rank]: document }, onProblem);
      const describe = describeChange(actor, AUDITED);
      const isAppended = await this.revisions.append(
        newest,
        [revision],
        { actor, reason },
        (_revision, version) =>
          describe(
            before && { id, document: before, version: entry?.version ?? 0 },
            document && { id, document, version },
          ),
      );
      if (!isAppended) continue;
      await this.stored.load();
      return newest + 1;
    }
    throw new AppError('conflict', { detail: 'other changes of the catalogue came first; try again' });
  }

  /** The whole catalogue with the change, before anything is stored. */
  private async check(
    { kind, id }: CatalogueName,
    version: number,
    documents: StoredEntry['documents'],
    onProblem: 'invalid_request' | 'conflict',
  ): Promise<void> {
    const { rows } = this.source;
    if (rows.entry(kind, id) === undefined && rows.entries().length >= MAX_ENTRIES)
      throw new AppError('limit_reached', { detail: `the catalogue has ${MAX_ENTRIES} changed models` });
    await this.rejectOtherWidth({ kind, id }, documents);
    const owner = this.entries.models().find(({ model }) => model.id !== id && idsOf(model).includes(id));
    if (owner) throw new AppError(onProblem, { detail: `${id} is another name of ${owner.model.id}` });
    const next = await this.stored.withEntries(version, [{ kind, id, version, documents }]);
    const problem = next.entry(kind, id)?.problem ?? null;
    if (problem !== null) throw new AppError(onProblem, { detail: problem });
    if (documents.operator) this.rejectUnknownTargets(next.model(kind, id), onProblem);
    try {
      this.source.check(next);
    } catch (error) {
      if (!(error instanceof CatalogueError)) throw error;
      throw new AppError(onProblem, { detail: `beside CATALOGUE_FILE: ${error.message}` });
    }
  }

  /** Calls pass over a target that goes later; one that is new is a mistake. */
  private rejectUnknownTargets(entry: AnyModel | undefined, onProblem: 'invalid_request' | 'conflict'): void {
    if (!entry || !('targets' in entry)) return;
    const known = new Set(this.entries.models('chat_models').map(({ model }) => model.id));
    const unknown = entry.targets.find(({ target }) => !known.has(target));
    if (unknown)
      throw new AppError(onProblem, { detail: `targets: there is no chat model ${unknown.target}` });
  }

  /** Callers keep vectors by the id of their model, also of one that has been deleted since. */
  private async rejectOtherWidth(
    { kind, id }: CatalogueName,
    documents: StoredEntry['documents'],
  ): Promise<void> {
    if (kind !== 'models') return;
    const known = this.source.rows.model(kind, id) as { readonly nativeDimensions?: number } | undefined;
    const earlier = known ? [] : await this.revisions.ofEntry(kind, id);
    const width =
      known?.nativeDimensions ?? earlier.map(({ document }) => document?.['native_dimensions']).find(Boolean);
    for (const document of Object.values(documents) as NewRevision['document'][]) {
      const wanted = document?.['native_dimensions'];
      if (wanted === undefined || width === undefined || wanted === width) continue;
      throw new AppError('conflict', {
        detail: `native_dimensions: ${id} has ${JSON.stringify(width)}; another width is another model, with another id`,
      });
    }
  }

  /** Null: no layer has ever had the model. */
  private async kindOf(id: string): Promise<Kind | null> {
    const found = this.entries.models().find(({ model }) => model.id === id);
    if (found) return found.kind;
    await this.stored.load();
    return KINDS.find((kind) => this.source.rows.entry(kind, id)) ?? null;
  }

  private isOperator({ accountId }: Pick<ApiKey, 'accountId'>): boolean {
    return this.config.operatorAccounts.includes(accountId);
  }

  private requireOperator(key: ApiKey): void {
    if (this.isOperator(key)) return;
    const isNamed = this.config.operatorAccounts.length > 0;
    throw new AppError('operator_account_needed', {
      detail: isNamed ? 'OPERATOR_ACCOUNTS does not name this account' : 'OPERATOR_ACCOUNTS names no account',
    });
  }
}

function reject(detail: string): never {
  throw new AppError('invalid_request', { detail });
}

function noSuchModel(id: string): never {
  throw new AppError('not_found', { detail: `no layer of the catalogue has a model ${id}` });
}
