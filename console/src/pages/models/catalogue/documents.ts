// Documents of the catalogue: the layer of the operator, and prices by day.
import type {
  Amount,
  CatalogueEntry,
  CatalogueKind,
  CatalogueModel,
  EndpointDocument,
  LayerName,
  ModelDocument,
  PriceRow,
} from '../../../api/catalogue';

export const LAYER_WORDS: Readonly<Record<LayerName, string>> = {
  shipped: 'Shipped',
  imported: 'Imported',
  operator: 'Operator',
  file: 'File',
};

export const KIND_WORDS: Readonly<Record<CatalogueKind, string>> = {
  chat_models: 'Chat',
  models: 'Embeddings',
  rerank_models: 'Rerank',
  moving_aliases: 'Moving alias',
  unlisted: 'Unlisted models',
};

/** Members that make an endpoint, and change nothing of one. */
const IDENTITY = new Set(['provider', 'tag']);

export interface EndpointView {
  readonly tag: string;
  readonly endpoint: EndpointDocument;
  readonly sources: Readonly<Record<string, LayerName>>;
}

/** The effective endpoints with the layer of each member. */
export function endpointViews({ model, sources }: Pick<CatalogueEntry, 'model' | 'sources'>): EndpointView[] {
  const named = Object.entries(sources.endpoints ?? {});
  return (model.endpoints ?? []).flatMap((endpoint, index) => {
    const [tag, own] = named[index] ?? [];
    return tag === undefined || own === undefined ? [] : [{ tag, endpoint, sources: own }];
  });
}

/** The members that the operator has changed. A layer above the operator's keeps the model from changes. */
export function operatorLayer(entry: Pick<CatalogueEntry, 'id' | 'model' | 'sources'>): ModelDocument {
  const { endpoints: _merged, ...members } = entry.model;
  const own = Object.entries(members).filter(([name]) => entry.sources[name] === 'operator');
  const endpoints = endpointViews(entry).flatMap(({ tag, endpoint, sources }) => {
    const changed = Object.entries(endpoint).filter(([name]) => sources[name] === 'operator');
    if (changed.length === 0) return [];
    return [{ ...identityOf(endpoint.provider, tag), ...Object.fromEntries(changed) }];
  });
  return { ...Object.fromEntries(own), id: entry.id, ...(endpoints.length > 0 && { endpoints }) };
}

export const identityOf = (provider: string, tag: string): EndpointDocument => ({
  provider,
  ...(tag === '' || tag === provider ? {} : { tag }),
});

export const tagOf = ({ provider, tag }: EndpointDocument): string => tag ?? provider;

/** The endpoint in the layers below the operator's, the highest first. */
function endpointsBelow({ documents }: Pick<CatalogueModel, 'documents'>, tag: string): EndpointDocument[] {
  return documents
    .filter(({ name }) => name === 'shipped' || name === 'imported')
    .toReversed()
    .flatMap(({ model }) => model.endpoints?.filter((endpoint) => tagOf(endpoint) === tag) ?? []);
}

export const isBelow = (entry: Pick<CatalogueModel, 'documents'>, tag: string): boolean =>
  endpointsBelow(entry, tag).length > 0;

/** The rows of the layers below, which are in force where the operator has none. */
export const pricesBelow = (entry: Pick<CatalogueModel, 'documents'>, tag: string): readonly PriceRow[] =>
  endpointsBelow(entry, tag).find(({ prices }) => prices !== undefined)?.prices ?? [];

/** The layer with these members of an endpoint; undefined: as in the layers below. */
export function withEndpoint(
  layer: ModelDocument,
  { provider, tag }: { readonly provider: string; readonly tag: string },
  changes: Readonly<Record<string, unknown>>,
): ModelDocument {
  const known = layer.endpoints?.find((endpoint) => tagOf(endpoint) === tag);
  const members = Object.entries({ ...(known ?? identityOf(provider, tag)), ...changes });
  const endpoint = Object.fromEntries(
    members.filter(([, value]) => value !== undefined),
  ) as unknown as EndpointDocument;
  const changesNothing = Object.keys(endpoint).every((name) => IDENTITY.has(name));
  const others = layer.endpoints ?? [];
  const kept = known
    ? others.flatMap((one) => (one !== known ? [one] : changesNothing ? [] : [endpoint]))
    : [...others, ...(changesNothing ? [] : [endpoint])];
  const { endpoints: _replaced, ...rest } = layer;
  return kept.length === 0 ? rest : { ...rest, endpoints: kept };
}

/** A layer without an endpoint: that of the layers below is in force, if there is one. */
export function withoutEndpoint(layer: ModelDocument, tag: string): ModelDocument {
  const { endpoints = [], ...rest } = layer;
  const kept = endpoints.filter((endpoint) => tagOf(endpoint) !== tag);
  return kept.length === 0 ? rest : { ...rest, endpoints: kept };
}

/** Null where the layer says nothing: it ends. */
export const layerOrNull = (layer: ModelDocument): ModelDocument | null =>
  Object.keys(layer).every((name) => name === 'id') ? null : layer;

/** The layer with other prices of an endpoint. Prices like those below are not repeated. */
export function withPrices(
  entry: CatalogueModel,
  { tag, endpoint }: Pick<EndpointView, 'tag' | 'endpoint'>,
  rows: readonly PriceRow[],
): ModelDocument {
  const isAsBelow = isBelow(entry, tag) && isSame(rows, pricesBelow(entry, tag));
  const prices = isAsBelow ? undefined : rows;
  return withEndpoint(operatorLayer(entry), { provider: endpoint.provider, tag }, { prices });
}

/** The store keeps members in an order of its own. */
export const isSame = (one: unknown, other: unknown): boolean => textOf(one) === textOf(other);

const textOf = (value: unknown): string =>
  JSON.stringify(value, (_name, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).toSorted(([first], [second]) => (first < second ? -1 : 1)))
      : member,
  );

/** Rows newest first, as a list of days is read. */
export const byDay = <Row extends { readonly effective_from: string }>(rows: readonly Row[]): Row[] =>
  rows.toSorted((one, other) => (one.effective_from > other.effective_from ? -1 : 1));

/** The UTC day of this moment: prices begin with one. */
export const utcToday = (): string => new Date().toISOString().slice(0, 10);

/** `today`: a UTC day. */
export const rowInForce = <Row extends { readonly effective_from: string }>(
  rows: readonly Row[],
  today: string,
): Row | undefined => byDay(rows).find(({ effective_from: day }) => day <= today);

export type RowState = 'in force' | 'later' | 'past';

export function stateOf<Row extends { readonly effective_from: string }>(
  row: Row,
  rows: readonly Row[],
  today: string,
): RowState {
  if (row === rowInForce(rows, today)) return 'in force';
  return row.effective_from > today ? 'later' : 'past';
}

const UNITS: Readonly<Record<string, string>> = {
  usd_per_search_unit: 'search unit',
  usd_per_image: 'image',
  usd_per_request: 'request',
  usd_per_thousand_searches: '1,000 web searches',
};

export interface RowAmount {
  readonly label: string;
  readonly usd: number;
}

const MEMBER_WORDS: Readonly<Record<string, string>> = {
  prompt: 'Input',
  completion: 'Output',
  cache_read: 'Cached input',
  cache_write: 'Cache write',
  cache_write_1h: 'Cache write, 1 hour',
  reasoning: 'Reasoning',
  audio_input: 'Audio in',
  audio_input_cached: 'Cached audio in',
  audio_output: 'Audio out',
};

/** Members of `usd_per_million_tokens`. */
export const TOKEN_PRICES = Object.keys(MEMBER_WORDS);

/** `cache_read` as "Cached input". */
export const priceWord = (member: string): string => MEMBER_WORDS[member] ?? member;

/** USD for a million tokens, by the name of the price. Embeddings have one price. */
export function tokenPrices({ usd_per_million_tokens: prices }: PriceRow): Readonly<Record<string, Amount>> {
  return typeof prices === 'object' ? prices : prices === undefined ? {} : { prompt: prices };
}

/** The amounts of a row in words: for a million tokens, and then for other units. */
export function amountsOf(row: PriceRow): RowAmount[] {
  const prices = tokenPrices(row);
  const tokens = TOKEN_PRICES.filter((member) => prices[member] !== undefined).map((member) => ({
    label: priceWord(member),
    usd: Number(prices[member]),
  }));
  const others = Object.entries(UNITS).flatMap(([member, unit]) =>
    row[member] === undefined
      ? []
      : [{ label: `For 1 ${unit}`.replace('1 1,000', '1,000'), usd: Number(row[member]) }],
  );
  return [...tokens, ...others];
}

/** Parts of a row that have no amount of their own here. */
export function furtherOf(row: PriceRow): string[] {
  const tiers = Array.isArray(row['tiers']) ? row['tiers'].length : 0;
  const services = Object.keys(row['service_tiers'] ?? {});
  return [
    ...(tiers === 0 ? [] : [tiers === 1 ? '1 tier' : `${tiers} tiers`]),
    ...(services.length === 0 ? [] : [`service tiers ${services.join(', ')}`]),
  ];
}

/** The row of the cheapest endpoint, by its input. */
export function cheapestRow({ endpoints = [] }: ModelDocument, today: string): PriceRow | undefined {
  const rows = endpoints.flatMap(({ prices = [] }) => rowInForce(prices, today) ?? []);
  const priceOf = (row: PriceRow) => Number(tokenPrices(row)['prompt'] ?? row['usd_per_search_unit'] ?? 0);
  return rows.toSorted((one, other) => priceOf(one) - priceOf(other))[0];
}

/** Values of a member that is a list, of any endpoint. */
export const valuesOf = ({ endpoints = [] }: ModelDocument, member: string): readonly string[] => [
  ...new Set(endpoints.flatMap((endpoint) => (endpoint[member] ?? []) as readonly string[])),
];

/** The largest number of a member at any endpoint. */
export function mostOf({ endpoints = [] }: ModelDocument, member: string): number | null {
  const numbers = endpoints.flatMap((endpoint) => (endpoint[member] ?? []) as number | []);
  return numbers.length === 0 ? null : Math.max(...numbers);
}
