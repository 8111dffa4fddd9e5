// The operator's catalogue file: models besides the shipped ones, and changes to the endpoints and prices of those.
import { INPUT_TYPES } from '../domain/embeddings/input-type.js';
import { MODALITIES } from '../domain/embeddings/modality.js';
import type { Modality } from '../domain/embeddings/modality.js';
import type { ChatModel } from '../domain/chat/chat-model.js';
import type { ModelFamilies } from '../domain/embeddings/model-families.js';
import {
  readChoices,
  readCount,
  readDataPolicy,
  readDatedRows,
  readDay,
  readEndpoints,
  readFlag,
  readId,
  readLabel,
  readModels,
  readPricePerToken,
  readQuantization,
  readTag,
} from './file/fields.js';
import type { CanonicalTag } from './file/fields.js';
import { givesWidth, idsOf } from './catalogue-model.js';
import type { CatalogueModel, DatedPrice, InputForm, ModelEndpoint } from './catalogue-model.js';
import { readChatModels } from './file/chat-models.js';
import { YamlCursor, YamlObject } from './yaml-cursor.js';

export interface CatalogueFileContext {
  /** The name of the file in messages. */
  readonly fileName: string;
  readonly shipped: readonly CatalogueModel[];
  readonly shippedChat: readonly ChatModel[];
  /** The slugs that an endpoint may name. */
  readonly providers: readonly string[];
  /** The same for endpoints of chat models. */
  readonly chatProviders: readonly string[];
  readonly canonicalTag: CanonicalTag;
  /** Providers that serve one model and ignore the requested name. */
  readonly oneModelProviders: readonly string[];
  /** By provider, for those whose models differ in their bodies. */
  readonly families: ReadonlyMap<string, ModelFamilies>;
}

const INPUT_FORMS: readonly InputForm[] = ['texts', 'tokens', 'multimodal'];
const WIDEST = 1_000_000;

export interface CatalogueContents {
  readonly models: readonly CatalogueModel[];
  readonly chatModels: readonly ChatModel[];
}

/**
 * The shipped models with the changes of the file, then the models that it adds. Throws CatalogueFileError.
 *
 * A member that the file does not name keeps its shipped value. `prices` replaces the whole list, so that a shipped row
 * of a later day cannot win over the file's.
 */
export function readCatalogueFile(text: string, context: CatalogueFileContext): CatalogueContents {
  const cursor = YamlCursor.parse(text, context.fileName);
  const top = cursor.object(['models', 'chat_models']);
  const onlyModels = new Map<string, string>();
  const models = readModels(top, 'models', context.shipped, (item, known) => {
    const model = readModel(item, known, context);
    rejectSecondModel(item, model, onlyModels, context);
    return model;
  });
  const chatModels = readChatModels(top, context);
  rejectNamesOfBothKinds(cursor, models, chatModels);
  return { models, chatModels };
}

/** `GET /models/{author}/{slug}` finds one model. */
function rejectNamesOfBothKinds(
  cursor: YamlCursor,
  models: readonly CatalogueModel[],
  chatModels: readonly ChatModel[],
): void {
  const names = new Set(models.flatMap(idsOf));
  const shared = chatModels.flatMap(idsOf).find((name) => names.has(name));
  if (shared !== undefined) cursor.fail(`${shared} names an embedding model and a chat model`);
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
    (member) =>
      readEndpoints(member, base?.endpoints ?? [], (item, shipped) => readEndpoint(item, shipped, context)),
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
    contextLength: model.read('context_length', readCount, base?.contextLength),
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
  const maxTokensPerCall = endpoint.optional('max_tokens_per_call', readCount) ?? base?.maxTokensPerCall;
  const maxBytesPerCall = endpoint.optional('max_bytes_per_call', readCount) ?? base?.maxBytesPerCall;
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
    takesDimensions: endpoint.read('takes_dimensions', readFlag, base?.takesDimensions ?? false),
    maxInputsPerCall: endpoint.read('max_inputs_per_call', readCount, base?.maxInputsPerCall),
    maxTokensPerInput: endpoint.read('max_tokens_per_input', readCount, base?.maxTokensPerInput),
    ...(maxTokensPerCall === undefined ? {} : { maxTokensPerCall }),
    ...(maxBytesPerCall === undefined ? {} : { maxBytesPerCall }),
    ...(inputTypes && { inputTypes }),
    ...(modalityPrices && { modalityPrices }),
    prices: endpoint.read('prices', readPrices, base?.prices),
    quantization: endpoint.read('quantization', readQuantization, base?.quantization ?? null),
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
  return readDatedRows(cursor, (item) => {
    const price = item.object(['effective_from', 'usd_per_million_tokens', 'source']);
    return {
      effectiveFrom: price.read('effective_from', readDay),
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

function readOtherDimensions(cursor: YamlCursor): CatalogueModel['otherDimensions'] {
  if (cursor.isNull()) return null;
  if (cursor.isList()) return cursor.list().map((item) => item.integer(1, WIDEST));
  const range = cursor.object(['least', 'most']);
  const least = range.read('least', (member) => member.integer(1, WIDEST));
  return { least, most: range.read('most', (member) => member.integer(least, WIDEST)) };
}
