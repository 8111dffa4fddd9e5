// The models of the catalogue with their layers.
import { Injectable } from '@nestjs/common';
import { idsOf } from '../catalogue/catalogue-model.js';
import { KINDS } from '../catalogue/reader/kinds.js';
import type { AnyModel, Kind } from '../catalogue/reader/kinds.js';
import { AppError } from '../domain/errors.js';
import type { Page } from '../domain/page.js';
import { CatalogueRevisionsRepository } from '../persistence/catalogue/catalogue-revisions.repository.js';
import { indexOf, mergeLayers, shippedDocuments } from '../routing/catalogue-layers.js';
import type { CatalogueLayer, DocumentIndex, LayerName, MergedLayers } from '../routing/catalogue-layers.js';
import { CatalogueSource } from '../routing/catalogue-source.js';
import { CredentialAccess } from '../routing/credentials/credential-access.js';
import { providerSlugOf } from '../providers/index.js';
import { MAX_IDS } from './dto/catalogue-queries.dto.js';
import type { CatalogueQueryDto } from './dto/catalogue-queries.dto.js';

export interface CatalogueName {
  readonly kind: Kind;
  readonly id: string;
}

export interface CatalogueEntry {
  readonly kind: Kind;
  readonly id: string;
  readonly name: string | null;
  readonly isDisabled: boolean;
  readonly version: number;
  readonly problem: string | null;
  /** Lowest first. */
  readonly layers: readonly CatalogueLayer[];
  readonly merged: MergedLayers;
}

@Injectable()
export class CatalogueEntries {
  constructor(
    private readonly source: CatalogueSource,
    private readonly revisions: CatalogueRevisionsRepository,
    private readonly access: CredentialAccess,
  ) {}

  async list({ offset, limit, ...query }: CatalogueQueryDto): Promise<Page<CatalogueEntry>> {
    const wanted = query.q?.toLowerCase();
    const slug =
      query.provider === undefined ? undefined : (providerSlugOf(query.provider) ?? query.provider);
    const ids = query.ids === undefined ? null : readIds(query.ids);
    const found = this.models(query.kind).filter(
      ({ kind, model }) =>
        (ids === null || ids.has(model.id)) &&
        (query.disabled === undefined || (model.disabled ?? false) === query.disabled) &&
        (query.source === undefined || this.layerNames({ kind, id: model.id }).includes(query.source)) &&
        (slug === undefined || model.endpoints.some(({ provider }) => provider === slug)) &&
        (query.configured === undefined || this.isConfigured(model) === query.configured) &&
        (wanted === undefined ||
          [...idsOf(model), model.name].some((text) => text.toLowerCase().includes(wanted))),
    );
    const page = found.slice(offset, offset + limit).map(({ kind, model }) => ({ kind, id: model.id }));
    return { items: await this.read(page), total: found.length };
  }

  async read(names: readonly CatalogueName[]): Promise<CatalogueEntry[]> {
    const file = this.fileDocuments();
    const { layers: known } = this.source;
    const withRows = names.filter(({ kind, id }) => known.entry(kind, id));
    const layers = withRows.length === 0 ? [] : await this.revisions.layersOf(withRows);
    return names.map(({ kind, id }) => {
      const stored = layers.find((entry) => entry.kind === kind && entry.id === id);
      const documents: readonly (readonly [LayerName, unknown])[] = [
        ['shipped', shippedDocuments()[kind].get(id)],
        ['imported', stored?.documents.imported],
        ['operator', stored?.documents.operator],
        ['file', file?.[kind].get(id)],
      ];
      const present = documents.flatMap(([name, document]) =>
        document ? [{ name, document: document as CatalogueLayer['document'] }] : [],
      );
      const model = known.model(kind, id);
      return {
        kind,
        id,
        name: model?.name ?? null,
        isDisabled: model?.disabled ?? false,
        version: stored?.version ?? 0,
        problem: known.entry(kind, id)?.problem ?? null,
        layers: present,
        merged: mergeLayers(present),
      };
    });
  }

  /** A moving alias by the models that it stands for. */
  private isConfigured(model: AnyModel): boolean {
    if (!('targets' in model)) return this.access.isConfigured(model);
    const targets = model.targets.map(({ target }) => this.source.layers.model('chat_models', target));
    return targets.some((target) => target !== undefined && this.access.isConfigured(target));
  }

  private models(wanted: Kind | undefined): { readonly kind: Kind; readonly model: AnyModel }[] {
    const kinds = wanted === undefined ? KINDS : [wanted];
    return kinds.flatMap((kind) => this.source.list(kind).map((model) => ({ kind, model })));
  }

  private layerNames({ kind, id }: CatalogueName): LayerName[] {
    const { layers } = this.source;
    return [
      ...(shippedDocuments()[kind].has(id) ? (['shipped'] as const) : []),
      ...(layers.entry(kind, id)?.ranks ?? []),
      ...(layers.isOfFile(kind, id) ? (['file'] as const) : []),
    ];
  }

  private fileDocuments(): DocumentIndex | null {
    const { fileDocument } = this.source;
    return fileDocument === null ? null : indexOf([fileDocument]);
  }
}

function readIds(text: string): ReadonlySet<string> {
  const ids = text.split(',').map((id) => id.trim());
  if (ids.length > MAX_IDS)
    throw new AppError('invalid_request', { detail: `ids: must be at most ${MAX_IDS}, joined by commas` });
  return new Set(ids);
}
