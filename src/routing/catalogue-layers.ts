// The layers of the catalogue in the format of its files, as management shows them: every member with the layer that it comes
// from.
import { SHIPPED } from '../catalogue/generated/shipped.js';
import { byKind } from '../catalogue/reader/kinds.js';
import type { Kind } from '../catalogue/reader/kinds.js';
import { isObject } from '../domain/members.js';
import { canonicalEndpointTag } from '../providers/index.js';

/** Lowest first. */
export const LAYER_NAMES = ['shipped', 'imported', 'operator', 'file'] as const;
export type LayerName = (typeof LAYER_NAMES)[number];

type Members = Readonly<Record<string, unknown>>;

export interface CatalogueLayer {
  readonly name: LayerName;
  readonly document: Members;
}

export interface MergedLayers {
  readonly document: Members;
  /** The layer of each member; `endpoints` has those of each endpoint, by tag. */
  readonly sources: Members;
}

/** The models of a document of the format, by kind and id. */
export type DocumentIndex = Readonly<Record<Kind, ReadonlyMap<string, Members>>>;

let shipped: DocumentIndex | undefined;

/** Made at the first use: calls need none of it. */
export function shippedDocuments(): DocumentIndex {
  shipped ??= indexOf(Object.values(JSON.parse(SHIPPED) as object));
  return shipped;
}

export function indexOf(documents: readonly unknown[]): DocumentIndex {
  const tops = documents.filter(isObject) as Members[];
  return byKind((kind) => {
    const defaults = Object.assign(
      {},
      ...tops.map(({ defaults: given }) => (given as Members | undefined)?.[kind]),
    ) as Members;
    const models = tops.flatMap((top) => (top[kind] ?? []) as readonly Members[]);
    return new Map(models.map((model) => [String(model['id']), withDefaults(model, defaults)]));
  });
}

function withDefaults(model: Members, defaults: Members): Members {
  if (model['endpoints'] === undefined) return model;
  const endpoints = endpointsOf(model).map((endpoint) =>
    Object.assign({}, defaults[String(endpoint['provider'])], endpoint),
  );
  return { ...model, endpoints };
}

/** A member of a higher layer wins; endpoints are merged by their tags. */
export function mergeLayers(layers: readonly CatalogueLayer[]): MergedLayers {
  const document: Record<string, unknown> = {};
  const sources: Record<string, unknown> = {};
  const endpoints = new Map<string, { readonly members: Members; readonly sources: Members }>();
  for (const { name, document: layer } of layers) {
    const { endpoints: _merged, ...members } = layer;
    Object.assign(document, flattened(members));
    Object.assign(sources, sourcesOf(members, name));
    for (const endpoint of endpointsOf(layer)) {
      const tag = tagOf(endpoint);
      const below = endpoints.get(tag);
      endpoints.set(tag, {
        members: { ...below?.members, ...flattened(endpoint) },
        sources: { ...below?.sources, ...sourcesOf(endpoint, name) },
      });
    }
  }
  return {
    document: {
      ...document,
      ...(endpoints.size > 0 && { endpoints: [...endpoints.values()].map(({ members }) => members) }),
    },
    sources: {
      ...sources,
      ...(endpoints.size > 0 && {
        endpoints: Object.fromEntries([...endpoints].map(([tag, { sources: own }]) => [tag, own])),
      }),
    },
  };
}

function endpointsOf({ endpoints }: Members): readonly Members[] {
  return Array.isArray(endpoints) ? (endpoints as readonly Members[]) : [];
}

/** In the spelling of the catalogue. */
export function tagOf({ provider, tag }: Members): string {
  const written = String(tag ?? provider);
  return canonicalEndpointTag(written) ?? written;
}

function sourcesOf(members: Members, name: LayerName): Record<string, LayerName> {
  return Object.fromEntries(Object.keys(members).map((member) => [member, name]));
}

/** A list within a list counts as its items. */
function flattened(members: Members): Members {
  return Object.fromEntries(
    Object.entries(members).map(([name, value]) => [name, Array.isArray(value) ? value.flat(3) : value]),
  );
}
