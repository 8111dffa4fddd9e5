// The catalogue: its models with their layers and history, and the changes of an operator.
import { queryOptions } from '@tanstack/react-query';
import type { CursorPage } from '../components/data/held-pages';
import { ApiError, api, call } from './client';
import type { Schemas } from './client';
import { loadByOffset } from './offset-pages';

export type CatalogueKind = Schemas['CatalogueEntryDto']['kind'];
export type LayerName = Schemas['CatalogueLayerDto']['name'];
export type Revision = Schemas['CatalogueRevisionDto'];

/** A price that begins on a UTC day, in the format of a catalogue file. */
export interface PriceRow {
  readonly effective_from: string;
  readonly source: string;
  readonly usd_per_million_tokens?: Amount | Readonly<Record<string, Amount>>;
  readonly [member: string]: unknown;
}

/** USD, as a number or as decimal text. */
export type Amount = number | string;

export interface EndpointDocument {
  readonly provider: string;
  /** Absent: the slug of the provider. */
  readonly tag?: string;
  readonly prices?: readonly PriceRow[];
  readonly [member: string]: unknown;
}

/** A moving alias stands for another model from a UTC day on. */
export interface TargetRow {
  readonly effective_from: string;
  readonly source: string;
  readonly target: string;
}

/** A model in the format of a catalogue file, as JSON. */
export interface ModelDocument {
  readonly endpoints?: readonly EndpointDocument[];
  readonly targets?: readonly TargetRow[];
  readonly [member: string]: unknown;
}

type Sources = Readonly<Record<string, LayerName>>;
export interface DocumentSources {
  /** By tag, in the order of the endpoints of the model. */
  readonly endpoints?: Readonly<Record<string, Sources>>;
  readonly [member: string]: LayerName | Readonly<Record<string, Sources>> | undefined;
}

interface Documents {
  readonly model: ModelDocument;
  readonly sources: DocumentSources;
}

export type CatalogueEntry = Omit<Schemas['CatalogueEntryDto'], keyof Documents> & Documents;
export type CatalogueModel = CatalogueEntry &
  Pick<Schemas['CatalogueModelDto'], 'can_change' | 'revisions'> & {
    readonly documents: readonly { readonly name: LayerName; readonly model: ModelDocument }[];
  };

export const CATALOGUE = ['catalogue'];
const PAGE = 50;

export interface CatalogueSearch {
  readonly q?: string | undefined;
  readonly provider?: string | undefined;
  readonly kind?: CatalogueKind | undefined;
  readonly source?: LayerName | undefined;
  readonly disabled?: boolean | undefined;
  readonly configured?: boolean | undefined;
}

export function loadCatalogue(
  search: CatalogueSearch,
  cursor: string | undefined,
  signal: AbortSignal,
): Promise<CursorPage<CatalogueEntry>> {
  const filters = Object.fromEntries(Object.entries(search).filter(([, value]) => value !== undefined));
  return loadByOffset(cursor, PAGE, async (page) => {
    const query = { ...filters, ...page };
    return (await call(api.GET('/api/v1/catalogue/models', { params: { query }, signal }))) as unknown as {
      readonly data: readonly CatalogueEntry[];
      readonly total_count: number;
    };
  });
}

export const pathOf = (id: string): { readonly author: string; readonly slug: string } => {
  const slash = id.indexOf('/');
  return { author: id.slice(0, slash), slug: id.slice(slash + 1) };
};

export const catalogueModelQuery = (id: string) =>
  queryOptions({
    queryKey: [...CATALOGUE, 'model', id],
    queryFn: ({ signal }): Promise<CatalogueModel> => readCatalogueModel(id, signal),
  });

export async function readCatalogueModel(id: string, signal?: AbortSignal): Promise<CatalogueModel> {
  const params = { path: pathOf(id) };
  const init = signal === undefined ? { params } : { params, signal };
  const { data } = await call(api.GET('/api/v1/catalogue/models/{author}/{slug}', init));
  return data as unknown as CatalogueModel;
}

/** The layer of the operator, made from a revision of the model. */
export interface LayerChange {
  readonly id: string;
  /** Of a new model. */
  readonly kind?: CatalogueKind;
  /** Null: the layer ends. */
  readonly layer: ModelDocument | null;
  /** The newest revision that the reader knows. */
  readonly version: number;
  readonly reason: string | null;
}

export async function changeLayer({ id, kind, layer, version, reason }: LayerChange): Promise<void> {
  const path = pathOf(id);
  const header = { 'If-Match': `"${version}"` };
  const change = reason === null ? {} : { reason };
  if (layer === null) {
    const params = { path, header, query: change };
    await call(api.DELETE('/api/v1/catalogue/models/{author}/{slug}', { params }));
    return;
  }
  const body = { ...(kind === undefined ? {} : { kind }), model: layer as Record<string, never>, ...change };
  await call(api.PUT('/api/v1/catalogue/models/{author}/{slug}', { params: { path, header }, body }));
}

export async function revertChange(version: number): Promise<Revision> {
  const params = { path: { version: String(version) } };
  return (await call(api.POST('/api/v1/catalogue/changes/{version}/revert', { params, body: {} }))).data;
}

/** Another person changed the model since it was read. */
export const isOvertaken = (error: unknown): boolean =>
  error instanceof ApiError && error.status === 409 && error.message.includes('the newest revision of');
