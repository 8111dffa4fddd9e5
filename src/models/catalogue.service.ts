// The /catalogue operations that concern the history: the operator's changes, and the revisions of a model.
import { Injectable } from '@nestjs/common';
import { KINDS } from '../catalogue/reader/kinds.js';
import type { Kind } from '../catalogue/reader/kinds.js';
import type { Actor } from '../domain/audit.js';
import type { Manager } from '../domain/people/manager.js';
import { AppError } from '../domain/errors.js';
import { CatalogueRevisionsRepository } from '../persistence/catalogue/catalogue-revisions.repository.js';
import type { Revision } from '../persistence/catalogue/catalogue-revisions.repository.js';
import { CatalogueSource } from '../routing/catalogue-source.js';
import { StoredCatalogue } from '../routing/stored-catalogue.js';
import { CatalogueChanges } from './catalogue-changes.js';
import { CatalogueEntries } from './catalogue-entries.js';
import type { CatalogueEntry } from './catalogue-entries.js';
import type { CatalogueChangesQueryDto } from './dto/catalogue-queries.dto.js';

// Bytes of a stored document.
const MAX_DOCUMENT = 262_144;

export interface CatalogueHistory extends CatalogueEntry {
  readonly revisions: readonly Revision[];
  /** Whether the caller operates this service. */
  readonly showsActors: boolean;
}

@Injectable()
export class CatalogueService {
  constructor(
    private readonly changer: CatalogueChanges,
    private readonly entries: CatalogueEntries,
    private readonly source: CatalogueSource,
    private readonly stored: StoredCatalogue,
    private readonly revisions: CatalogueRevisionsRepository,
  ) {}

  async get(manager: Manager, id: string, kind?: Kind): Promise<CatalogueHistory> {
    const name = { id, kind: kind ?? (await this.kindOf(id)) ?? noSuchModel(id) };
    const [[entry], revisions] = await Promise.all([
      this.entries.read([name]),
      this.revisions.ofEntry(name.kind, id),
    ]);
    if (!entry || (entry.layers.length === 0 && revisions.length === 0)) return noSuchModel(id);
    return { ...entry, revisions, showsActors: this.changer.isOperator(manager) };
  }

  /** Replaces the operator's layer. `expected`: the newest revision that the caller knows; undefined: any. */
  async put(
    actor: Actor,
    id: string,
    wanted: { readonly kind?: Kind | undefined; readonly model: Readonly<Record<string, unknown>> },
    { reason, expected }: { readonly reason: string | null; readonly expected: number | undefined },
  ): Promise<CatalogueHistory> {
    this.changer.requireOperator(actor);
    const kind = wanted.kind ?? (await this.kindOf(id));
    if (kind === null) reject(`kind: must be one of ${KINDS.join(', ')}: there is no model ${id} yet`);
    if ((wanted.model['id'] ?? id) !== id) reject(`model.id: must be ${id}, or absent`);
    const document = { id, ...wanted.model };
    if (JSON.stringify(document).length > MAX_DOCUMENT)
      reject(`model: must have at most ${MAX_DOCUMENT} characters of JSON`);
    const change = { kind, id, rank: 'operator', expected, documentAfter: () => document } as const;
    await this.changer.append(actor, [change], { reason, onProblem: 'invalid_request' });
    return this.get(actor, id, kind);
  }

  /** Ends the operator's layer. */
  async delete(
    actor: Actor,
    id: string,
    { reason, expected }: { readonly reason: string | null; readonly expected: number | undefined },
  ): Promise<void> {
    this.changer.requireOperator(actor);
    const kind = (await this.kindOf(id)) ?? noSuchModel(id);
    const change = { kind, id, rank: 'operator', expected, documentAfter: () => null } as const;
    await this.changer.append(actor, [change], { reason, onProblem: 'conflict' });
  }

  /** A new revision with the layer before that one. */
  async revert(actor: Actor, version: number, reason: string | null): Promise<Revision> {
    this.changer.requireOperator(actor);
    const found = Number.isSafeInteger(version) ? await this.revisions.find(version) : null;
    if (!found) throw new AppError('not_found', { detail: `there is no revision ${version}` });
    const { rank, kind, id, before: document } = found;
    const change = { rank, kind: kind as Kind, id, documentAfter: () => document };
    const appended = await this.changer.append(actor, [change], {
      reason: reason ?? `reverts revision ${version}`,
      onProblem: 'conflict',
    });
    return (await this.revisions.find(appended)) ?? noSuchModel(id);
  }

  async changes(
    manager: Manager,
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
    return { items, next, showsActors: this.changer.isOperator(manager) };
  }

  /** Null: no layer has ever had the model. */
  private async kindOf(id: string): Promise<Kind | null> {
    const { layers } = this.source;
    const owner = layers.ownerOf(id);
    if (owner?.id === id) return owner.kind;
    await this.stored.load();
    return KINDS.find((kind) => layers.model(kind, id) ?? layers.entry(kind, id)) ?? null;
  }
}

function reject(detail: string): never {
  throw new AppError('invalid_request', { detail });
}

function noSuchModel(id: string): never {
  throw new AppError('not_found', { detail: `no layer of the catalogue has a model ${id}` });
}
