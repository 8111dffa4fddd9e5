// Reads the members that models of every kind share.
import type { ProviderWire } from '../../domain/chat/model-wire.js';
import type { DataPolicy } from '../../domain/providers/provider.js';
import { QUANTIZATIONS } from '../../domain/providers/provider-preferences.js';
import { endpointTag } from '../catalogue-model.js';
import type { CatalogueModel, ModelEndpoint } from '../catalogue-model.js';
import type { Cursor, ObjectCursor } from './cursor.js';

export const MOST = 1_000_000_000;
const MODEL_MEMBERS =
  'id name description created_at context_length endpoints canonical_slug aliases disabled expires_on successor'.split(
    ' ',
  );
/** Members that `defaults` never state: they make an endpoint. */
const OWN_MEMBERS = ['provider', 'tag', 'upstream_model', 'prices'];
export const SHARED_MEMBERS = ['quantization', 'data_policy'];

/** The endpoints that a catalogue may name. */
export interface EndpointRules {
  /** The slugs of the providers of one kind of models. */
  readonly providers: readonly string[];
  /** Those whose models this catalogue may change, but not add. */
  readonly closedProviders: readonly string[];
  /** Of the chat models of each provider. */
  readonly chatWires: ReadonlyMap<string, readonly ProviderWire[]>;
  /** A slug or a tag with its provider's own slug; undefined for an unknown one. */
  readonly canonicalTag: (tag: string) => string | undefined;
  /** Members of the endpoints that this catalogue adds, by provider. */
  readonly defaults: ReadonlyMap<string, ObjectCursor>;
}

/** The models of the layers below, by id. */
export interface KnownModels<Model> {
  get(id: string): Model | undefined;
}

type AnyModel = Omit<CatalogueModel, 'nativeDimensions' | 'otherDimensions' | 'endpoints'>;

export function modelMembers<Model extends AnyModel>(
  cursor: Cursor,
  known: KnownModels<Model>,
  names: readonly string[],
): { readonly members: ObjectCursor; readonly base: Model | undefined; readonly shared: AnyModel } {
  const members = cursor.object([...MODEL_MEMBERS, ...names]);
  const id = members.read('id', readId);
  const base = known.get(id);
  const shared = {
    id,
    ...given('canonicalSlug', members.optional('canonical_slug', readId)),
    ...given(
      'aliases',
      members.optional('aliases', (member) => member.list().map(readId)),
    ),
    name: members.read('name', readLabel, base?.name ?? id),
    description: members.read('description', readLabel, base?.description ?? ''),
    createdAt: members.read('created_at', readDay, base?.createdAt),
    contextLength: members.read('context_length', readCount, base?.contextLength),
    ...given('disabled', members.optional('disabled', readFlag)),
    ...given('expiresOn', members.optional('expires_on', readDay)),
    ...given('successor', members.optional('successor', readId)),
  };
  return { members, base, shared };
}

/** The endpoints of the layers below with the changes of this one, then those that it adds. */
export function readEndpoints<Endpoint extends AnyEndpoint>(
  cursor: Cursor,
  below: readonly Endpoint[],
  names: readonly string[],
  rules: EndpointRules,
  read: (endpoint: EndpointMembers<Endpoint>) => Endpoint,
): Endpoint[] {
  const items = cursor.list();
  if (items.length === 0) cursor.fail('must name at least one endpoint');
  const endpoints = new Map(below.map((endpoint) => [endpointTag(endpoint), endpoint]));
  const named = new Set<string>();
  for (const item of items) {
    const endpoint = read(endpointMembers(item, endpoints, names, rules));
    const tag = endpointTag(endpoint);
    if (named.has(tag))
      item.fail(`${tag} appears here twice; give the endpoints of one provider different tags`);
    named.add(tag);
    endpoints.set(tag, endpoint);
  }
  return [...endpoints.values()];
}

type AnyEndpoint = Pick<ModelEndpoint, 'provider' | 'tag' | 'upstreamModel' | 'quantization' | 'dataPolicy'>;

export interface EndpointMembers<Endpoint extends AnyEndpoint> {
  readonly item: Cursor;
  readonly members: ObjectCursor;
  /** The endpoint that this one changes. */
  readonly base: Endpoint | undefined;
  /** Those of every kind. */
  readonly shared: AnyEndpoint;
}

function endpointMembers<Endpoint extends AnyEndpoint>(
  item: Cursor,
  known: ReadonlyMap<string, Endpoint>,
  names: readonly string[],
  { providers, closedProviders, canonicalTag, defaults }: EndpointRules,
): EndpointMembers<Endpoint> {
  const own = item.object([...OWN_MEMBERS, ...names, ...SHARED_MEMBERS]);
  const provider = own.read('provider', (member) => member.choice(providers, canonicalTag));
  const tag = own.optional('tag', (member) => readTag(member, provider, canonicalTag));
  const base = known.get(tag ?? provider);
  if (!base && closedProviders.includes(provider))
    item.fail(`provider: ${provider} serves its own model only`);
  const members = base ? own : own.over(defaults.get(provider));
  const shared = {
    provider,
    ...(tag === undefined || tag === provider ? {} : { tag }),
    upstreamModel: members.read('upstream_model', readLabel, base?.upstreamModel),
    quantization: members.read('quantization', readQuantization, base?.quantization ?? null),
    dataPolicy: members.read('data_policy', readDataPolicy, base?.dataPolicy),
  };
  return { item, members, base, shared };
}

export function readCount(cursor: Cursor): number {
  return cursor.integer(1, MOST);
}

export function readFlag(cursor: Cursor): boolean {
  return cursor.boolean();
}

export function readChoices<Value extends string>(values: readonly Value[]): (cursor: Cursor) => Value[] {
  return (cursor) => {
    const items = cursor.list();
    if (items.length === 0) cursor.fail(`must name at least one of ${values.join(', ')}`);
    return [...new Set(items.map((item) => item.choice(values)))];
  };
}

export function readNames(cursor: Cursor): string[] {
  const names = itemsOf(cursor).map((item) => item.text(/^\w{1,100}$/, 'the name of a member'));
  return [...new Set(names)];
}

/** A list within the list counts as its items, so that aliases of YAML can put lists together. */
export function itemsOf(cursor: Cursor, levels = 3): Cursor[] {
  return cursor.list().flatMap((item) => (levels > 0 && item.isList() ? itemsOf(item, levels - 1) : [item]));
}

export function readLabel(cursor: Cursor): string {
  return cursor.text(/^(?=.*\S)[^\p{Cc}]{1,500}$/u, 'text of 1 to 500 characters, in one line');
}

export function readDay(cursor: Cursor): string {
  const day = cursor.text(/^\d{4}-\d{2}-\d{2}$/, 'a day of the form YYYY-MM-DD');
  const moment = new Date(`${day}T00:00:00Z`);
  const isDay = !Number.isNaN(moment.getTime()) && moment.toISOString().startsWith(day);
  return isDay ? day : cursor.fail('must be a day of the calendar');
}

/** Without the member where the catalogue has none. */
export function given<Name extends string, Value>(
  name: Name,
  value: Value | undefined,
): { readonly [Member in Name]?: Value } {
  return (value === undefined ? {} : { [name]: value }) as { readonly [Member in Name]?: Value };
}

export function readId(cursor: Cursor): string {
  return cursor.text(/^[\w.-]{1,100}\/[\w.:-]{1,200}$/, 'of the form vendor/model');
}

/** Preferences of a base slug match every variant, so a tag must begin with its provider's slug. */
function readTag(cursor: Cursor, provider: string, canonicalTag: EndpointRules['canonicalTag']): string {
  const written = cursor.text(/^[\w./-]{1,100}$/, 'letters, digits and ._/-, at most 100');
  const tag = canonicalTag(written) ?? written;
  const isRight = tag === provider || (tag.startsWith(`${provider}/`) && tag.length > provider.length + 1);
  return isRight ? tag : cursor.fail(`must be ${provider}, or ${provider}/ and a name`);
}

function readQuantization(cursor: Cursor): string | null {
  return cursor.isNull() ? null : cursor.choice(QUANTIZATIONS);
}

export function readDataPolicy(cursor: Cursor): DataPolicy {
  const policy = cursor.object(['retains_prompts', 'trains']);
  return {
    retainsPrompts: policy.read('retains_prompts', readFlag),
    trains: policy.read('trains', readFlag),
  };
}
