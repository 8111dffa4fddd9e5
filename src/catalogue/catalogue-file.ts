// The operator's catalogue file: models besides the shipped ones, and changes to the endpoints and prices of those.
import { INPUT_TYPES } from '../domain/embeddings/input-type.js';
import { MODALITIES } from '../domain/embeddings/modality.js';
import type { Modality } from '../domain/embeddings/modality.js';
import { parseUsdPerMillion } from '../domain/spend/money.js';
import type { ModelFamilies } from '../domain/embeddings/model-families.js';
import { QUANTIZATIONS } from '../domain/embeddings/provider-preferences.js';
import { endpointTag, givesWidth } from './catalogue-model.js';
import type { CatalogueModel, DataPolicy, DatedPrice, InputForm, ModelEndpoint } from './catalogue-model.js';
import { rejectSharedNames, withoutTakenNames } from './model-names.js';
import { YamlCursor, YamlObject } from './yaml-cursor.js';

export interface CatalogueFileContext {
  /** The name of the file in messages. */
  readonly fileName: string;
  readonly shipped: readonly CatalogueModel[];
  /** The slugs that an endpoint may name. */
  readonly providers: readonly string[];
  /** A slug or a tag with its provider's own slug; undefined for an unknown one. */
  readonly canonicalTag: (tag: string) => string | undefined;
  /** Those of them that serve one model and ignore the requested name. */
  readonly oneModelProviders: readonly string[];
  /** By provider, for those whose models differ in their bodies. */
  readonly families: ReadonlyMap<string, ModelFamilies>;
}

const INPUT_FORMS: readonly InputForm[] = ['texts', 'tokens', 'multimodal'];
const MOST = 1_000_000_000;
const WIDEST = 1_000_000;

/**
 * The shipped models with what the file changes, then the models that it adds. Throws CatalogueFileError.
 *
 * A member that the file does not name keeps its shipped value. `prices` replaces the whole list, so that a shipped row
 * of a later day cannot win over the file's.
 */
export function readCatalogueFile(text: string, context: CatalogueFileContext): CatalogueModel[] {
  const top = YamlCursor.parse(text, context.fileName).object(['models']);
  const models = new Map(context.shipped.map((model) => [model.id, model]));
  const named = new Set<string>();
  const onlyModels = new Map<string, string>();
  top.read('models', (list) => {
    for (const cursor of list.list()) {
      const model = readModel(cursor, models, context);
      if (named.has(model.id)) cursor.fail(`${model.id} appears in this file twice`);
      named.add(model.id);
      rejectSecondModel(cursor, model, onlyModels, context);
      models.set(model.id, model);
    }
    rejectSharedNames(list, models, named);
  });
  return [...models.values()].map((model) => withoutTakenNames(model, models));
}

function readModel(
  cursor: YamlCursor,
  known: ReadonlyMap<string, CatalogueModel>,
  context: CatalogueFileContext,
): CatalogueModel {
  const model = cursor.object(
    'id name description created_at native_dimensions other_dimensions context_length endpoints canonical_slug aliases'.split(
      ' ',
    ),
  );
  const id = model.read('id', readId);
  const base = known.get(id);
  const canonicalSlug = model.optional('canonical_slug', readId) ?? base?.canonicalSlug;
  const aliases = model.optional('aliases', (member) => member.list().map(readId)) ?? base?.aliases;
  const endpoints = model.read(
    'endpoints',
    (member) => readEndpoints(member, base?.endpoints ?? [], context),
    base?.endpoints,
  );
  const read = {
    ...base,
    id,
    ...(canonicalSlug === undefined ? {} : { canonicalSlug }),
    ...(aliases && { aliases }),
    endpoints,
    name: model.read('name', readLabel, base?.name ?? id),
    description: model.read('description', readLabel, base?.description ?? ''),
    createdAt: model.read('created_at', readDay, base?.createdAt),
    nativeDimensions: model.read(
      'native_dimensions',
      (member) => {
        const width = member.integer(1, WIDEST);
        // Another width is another model: stored vectors of callers must not change.
        if (base && width !== base.nativeDimensions)
          member.fail(`must stay ${base.nativeDimensions}: another width is another model, with another id`);
        return width;
      },
      base?.nativeDimensions,
    ),
    otherDimensions: model.read('other_dimensions', readOtherDimensions, base?.otherDimensions ?? null),
    contextLength: model.read('context_length', (member) => member.integer(1, MOST), base?.contextLength),
  };
  const widest = widestOf(read);
  if (!endpoints.some((endpoint) => givesWidth(endpoint, read.nativeDimensions, widest)))
    cursor.fail(`no endpoint takes_dimensions, so that none gives vectors of ${widest}`);
  return read;
}

/**
 * The provider would answer with its one model for both. `onlyModels` has the upstream models read so far, by provider.
 */
function rejectSecondModel(
  cursor: YamlCursor,
  { endpoints }: CatalogueModel,
  onlyModels: Map<string, string>,
  { oneModelProviders }: CatalogueFileContext,
): void {
  for (const { provider, upstreamModel } of endpoints) {
    if (!oneModelProviders.includes(provider)) continue;
    const only = onlyModels.get(provider) ?? upstreamModel;
    if (only !== upstreamModel)
      cursor.fail(`${provider} serves one model, and this file has two there: ${only} and ${upstreamModel}`);
    onlyModels.set(provider, upstreamModel);
  }
}

function widestOf({ nativeDimensions, otherDimensions: others }: CatalogueModel): number {
  if (others === null) return nativeDimensions;
  return 'least' in others ? others.most : others.reduce((one, other) => Math.max(one, other), 0);
}

function readEndpoints(
  cursor: YamlCursor,
  shipped: readonly ModelEndpoint[],
  context: CatalogueFileContext,
): ModelEndpoint[] {
  const items = cursor.list();
  if (items.length === 0) cursor.fail('must name at least one endpoint');
  const endpoints = new Map(shipped.map((endpoint) => [endpointTag(endpoint), endpoint]));
  const named = new Set<string>();
  for (const item of items) {
    const endpoint = readEndpoint(item, endpoints, context);
    const tag = endpointTag(endpoint);
    if (named.has(tag))
      item.fail(`${tag} appears here twice; give the endpoints of one provider different tags`);
    named.add(tag);
    endpoints.set(tag, endpoint);
  }
  return [...endpoints.values()];
}

function readEndpoint(
  cursor: YamlCursor,
  known: ReadonlyMap<string, ModelEndpoint>,
  { providers, families, canonicalTag }: CatalogueFileContext,
): ModelEndpoint {
  const endpoint = cursor.object([
    ...'provider tag upstream_model family input_forms input_types modalities takes_dimensions max_inputs_per_call'.split(
      ' ',
    ),
    ...'max_tokens_per_input max_tokens_per_call max_bytes_per_call prices modality_prices quantization data_policy'.split(
      ' ',
    ),
  ]);
  const provider = endpoint.read('provider', (member) => member.choice(providers, canonicalTag));
  const tag = endpoint.optional('tag', (member) => readTag(member, provider, canonicalTag));
  const base = known.get(tag ?? provider);
  if (provider === 'local' && !base) cursor.fail('provider: local serves its own model only');
  const count = (member: YamlCursor): number => member.integer(1, MOST);
  const maxTokensPerCall = endpoint.optional('max_tokens_per_call', count) ?? base?.maxTokensPerCall;
  const maxBytesPerCall = endpoint.optional('max_bytes_per_call', count) ?? base?.maxBytesPerCall;
  const inputTypes = endpoint.optional('input_types', readChoices(INPUT_TYPES));
  const modalityPrices = endpoint.optional('modality_prices', readModalityPrices);
  const upstreamModel = endpoint.read('upstream_model', readLabel, base?.upstreamModel);
  const family = readFamily(cursor, endpoint, upstreamModel, families.get(provider));
  return {
    ...base,
    provider,
    ...(family === null ? {} : { family }),
    ...(tag === undefined || tag === provider ? {} : { tag }),
    upstreamModel,
    inputForms: endpoint.read('input_forms', readChoices(INPUT_FORMS), base?.inputForms ?? ['texts']),
    modalities: endpoint.read('modalities', readChoices(MODALITIES), base?.modalities ?? ['text']),
    takesDimensions: endpoint.read(
      'takes_dimensions',
      (member) => member.boolean(),
      base?.takesDimensions ?? false,
    ),
    maxInputsPerCall: endpoint.read('max_inputs_per_call', count, base?.maxInputsPerCall),
    maxTokensPerInput: endpoint.read('max_tokens_per_input', count, base?.maxTokensPerInput),
    ...(maxTokensPerCall === undefined ? {} : { maxTokensPerCall }),
    ...(maxBytesPerCall === undefined ? {} : { maxBytesPerCall }),
    ...(inputTypes && { inputTypes }),
    ...(modalityPrices && { modalityPrices }),
    prices: endpoint.read('prices', readPrices, base?.prices),
    quantization: endpoint.read(
      'quantization',
      (member) => (member.isNull() ? null : member.choice(QUANTIZATIONS)),
      base?.quantization ?? null,
    ),
    dataPolicy: endpoint.read('data_policy', readDataPolicy, base?.dataPolicy),
  };
}

/** Null where the provider has no families, or the name of the model shows its own. */
function readFamily(
  cursor: YamlCursor,
  endpoint: YamlObject,
  upstreamModel: string,
  families: ModelFamilies | undefined,
): string | null {
  const family = endpoint.optional('family', (member) =>
    families ? member.choice(families.names) : member.fail('this provider has no families of models'),
  );
  if (family !== undefined) return family;
  if (families && families.of(upstreamModel) === null)
    cursor.fail(
      `upstream_model does not show the family of the model; add family, one of ${families.names.join(', ')}`,
    );
  return null;
}

function readPrices(cursor: YamlCursor): DatedPrice[] {
  const days = new Set<string>();
  return cursor.list().map((item) => {
    const price = item.object(['effective_from', 'usd_per_million_tokens', 'source']);
    const effectiveFrom = price.read('effective_from', readDay);
    if (days.has(effectiveFrom)) item.fail(`there are two prices from ${effectiveFrom} on`);
    days.add(effectiveFrom);
    return {
      effectiveFrom,
      perToken: price.read('usd_per_million_tokens', readPricePerToken),
      source: price.read('source', readLabel),
    };
  });
}

function readModalityPrices(cursor: YamlCursor): Partial<Record<Modality, readonly DatedPrice[]>> {
  const priced = MODALITIES.filter((modality) => modality !== 'text');
  const object = cursor.object(priced);
  const prices: Partial<Record<Modality, readonly DatedPrice[]>> = {};
  for (const modality of priced) {
    const list = object.optional(modality, readPrices);
    if (list) prices[modality] = list;
  }
  return prices;
}

function readPricePerToken(cursor: YamlCursor): bigint {
  const written = cursor.decimal();
  // The price of one token must be a whole number of the unit of money.
  if (/\.\d{6}\d*[1-9]/.test(written)) cursor.fail('must have at most 6 decimal places');
  return parseUsdPerMillion(written);
}

function readDataPolicy(cursor: YamlCursor): DataPolicy {
  const policy = cursor.object(['retains_prompts', 'trains']);
  return {
    retainsPrompts: policy.read('retains_prompts', (member) => member.boolean()),
    trains: policy.read('trains', (member) => member.boolean()),
  };
}

function readOtherDimensions(cursor: YamlCursor): CatalogueModel['otherDimensions'] {
  if (cursor.isNull()) return null;
  if (cursor.isList()) return cursor.list().map((item) => item.integer(1, WIDEST));
  const range = cursor.object(['least', 'most']);
  const least = range.read('least', (member) => member.integer(1, WIDEST));
  return { least, most: range.read('most', (member) => member.integer(least, WIDEST)) };
}

function readChoices<Value extends string>(values: readonly Value[]): (cursor: YamlCursor) => Value[] {
  return (cursor) => {
    const items = cursor.list();
    if (items.length === 0) cursor.fail(`must name at least one of ${values.join(', ')}`);
    return [...new Set(items.map((item) => item.choice(values)))];
  };
}

/** Preferences of a base slug match every variant, so a tag must begin with its provider's slug. */
function readTag(
  cursor: YamlCursor,
  provider: string,
  canonicalTag: CatalogueFileContext['canonicalTag'],
): string {
  const written = cursor.text(/^[\w./-]{1,100}$/, 'letters, digits and ._/-, at most 100');
  const tag = canonicalTag(written) ?? written;
  const isRight = tag === provider || (tag.startsWith(`${provider}/`) && tag.length > provider.length + 1);
  return isRight ? tag : cursor.fail(`must be ${provider}, or ${provider}/ and a name`);
}

function readId(cursor: YamlCursor): string {
  return cursor.text(/^[\w.-]{1,100}\/[\w.:-]{1,200}$/, 'of the form vendor/model');
}

function readLabel(cursor: YamlCursor): string {
  return cursor.text(/^(?=.*\S)[^\p{Cc}]{1,500}$/u, 'text of 1 to 500 characters, in one line');
}

function readDay(cursor: YamlCursor): string {
  const day = cursor.text(/^\d{4}-\d{2}-\d{2}$/, 'a day of the form YYYY-MM-DD');
  const moment = new Date(`${day}T00:00:00Z`);
  const isDay = !Number.isNaN(moment.getTime()) && moment.toISOString().startsWith(day);
  return isDay ? day : cursor.fail('must be a day of the calendar');
}
