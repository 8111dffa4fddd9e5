// Models of the catalogue as operators see them, and its history. Contract: docs/contract.md#catalogue.
import { KINDS } from '../../catalogue/reader/kinds.js';
import { RANKS } from '../../catalogue/stored-entry.js';
import { FreeObjectField, ListField, ObjectListField } from '../../http/fields/compound-fields.js';
import { EnumField, FlagField, IntegerField, TextField, TimeField } from '../../http/fields/scalar-fields.js';
import type { Revision } from '../../persistence/catalogue/catalogue-revisions.repository.js';
import { LAYER_NAMES } from '../../routing/catalogue-layers.js';
import type { CatalogueEntry } from '../catalogue-entries.js';
import type { CatalogueHistory } from '../catalogue.service.js';

const DOCUMENT = 'In the format of docs/catalogue.example.yaml, as JSON';

export class CatalogueEntryDto {
  @TextField({ example: 'acme/chat-1' }) id: string;
  @EnumField(KINDS) kind: string;
  @TextField({ nullable: true, description: 'Null: no layer defines it any more.' }) name: string | null;
  @FlagField() disabled: boolean;
  @IntegerField({ description: 'Its newest revision, for `If-Match`; 0: none.' }) version: number;
  @TextField({
    nullable: true,
    description:
      'Why the process that answers cannot read that revision: the model is as it was before; null: it can.',
  })
  problem: string | null;
  @ListField(String, { values: LAYER_NAMES, description: 'The layers that have it, lowest first.' })
  layers: readonly string[];
  @FreeObjectField({ description: `${DOCUMENT}: all layers together.` }) model: object;
  @FreeObjectField({
    description: 'The layer of each member of `model`; `endpoints` has those of each endpoint, by its tag.',
  })
  sources: object;
}

class CatalogueLayerDto {
  @EnumField(LAYER_NAMES) name: string;
  @FreeObjectField({ description: DOCUMENT }) model: object;
}

export class CatalogueRevisionDto {
  @IntegerField({ description: 'Without gaps, in the order of the changes.' }) version: number;
  @EnumField(KINDS) kind: string;
  @TextField({ example: 'acme/chat-1' }) id: string;
  @EnumField(RANKS, { description: 'The layer that changed.' }) layer: string;
  @TextField({ nullable: true, description: 'The label of the key; null: another account may not see it.' })
  actor: string | null;
  @TextField({ nullable: true }) reason: string | null;
  @FreeObjectField({ nullable: true, description: 'The layer before; null: there was none.' })
  before: object | null;
  @FreeObjectField({ nullable: true, description: 'The layer after; null: it has ended.' })
  after: object | null;
  @TimeField() created_at: string;
}

export class CatalogueModelDto extends CatalogueEntryDto {
  @FlagField({
    description:
      'Whether the key that asks may change it: its account operates the service, and `CATALOGUE_FILE` does not define the model.',
  })
  can_change: boolean;
  @ObjectListField(CatalogueLayerDto, { description: 'Lowest first.' }) documents: CatalogueLayerDto[];
  @ObjectListField(CatalogueRevisionDto, { description: 'The newest 50, newest first.' })
  revisions: CatalogueRevisionDto[];
}

export class CatalogueChangesDto {
  @ObjectListField(CatalogueRevisionDto, { description: 'Newest first.' }) data: CatalogueRevisionDto[];
  @IntegerField({ nullable: true, description: '`before` of the next page; null on the last page.' })
  next: number | null;
}

export function toCatalogueEntryDto(entry: CatalogueEntry): CatalogueEntryDto {
  return {
    id: entry.id,
    kind: entry.kind,
    name: entry.name,
    disabled: entry.isDisabled,
    version: entry.version,
    problem: entry.problem,
    layers: entry.layers.map(({ name }) => name),
    model: entry.merged.document,
    sources: entry.merged.sources,
  };
}

export function toCatalogueModelDto(entry: CatalogueHistory): CatalogueModelDto {
  return {
    ...toCatalogueEntryDto(entry),
    can_change: entry.showsActors && !entry.layers.some(({ name }) => name === 'file'),
    documents: entry.layers.map(({ name, document }) => ({ name, model: document })),
    revisions: entry.revisions.map((revision) => toCatalogueRevisionDto(revision, entry.showsActors)),
  };
}

export function toCatalogueRevisionDto(revision: Revision, showsActor: boolean): CatalogueRevisionDto {
  return {
    version: revision.version,
    kind: revision.kind,
    id: revision.id,
    layer: revision.rank,
    actor: showsActor ? revision.actor : null,
    reason: showsActor ? revision.reason : null,
    before: revision.before,
    after: revision.document,
    created_at: revision.createdAt.toISOString(),
  };
}
