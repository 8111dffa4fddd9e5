// Reads embedding models.
import { INPUT_TYPES } from '../../domain/embeddings/embedding.js';
import { MODALITIES } from '../../domain/embeddings/modality.js';
import type { Modality } from '../../domain/embeddings/modality.js';
import type { ModelFamilies } from '../../domain/providers/provider.js';
import { givesWidth } from '../catalogue-model.js';
import type { CatalogueModel, InputForm, ModelEndpoint } from '../catalogue-model.js';
import type { Cursor, ObjectCursor } from './cursor.js';
import {
  given,
  modelMembers,
  readChoices,
  readCount,
  readEndpoints,
  readFlag,
  readLabel,
  readNames,
} from './members.js';
import type { EndpointMembers, EndpointRules, KnownModels } from './members.js';
import { readTokenPrices } from './prices.js';

const INPUT_FORMS: readonly InputForm[] = ['texts', 'tokens', 'multimodal'];
const WIDEST = 1_000_000;
export const EMBEDDING_ENDPOINT_MEMBERS = [
  ...'family input_forms input_types modalities takes_dimensions max_inputs_per_call'.split(' '),
  ...'max_tokens_per_input max_tokens_per_call max_bytes_per_call modality_prices part_rates'.split(' '),
  'allowed_members',
];
const OTHER_THAN_TEXT = MODALITIES.filter((modality) => modality !== 'text');

export function readEmbeddingModel(
  cursor: Cursor,
  known: KnownModels<CatalogueModel>,
  rules: EndpointRules,
  families: ReadonlyMap<string, ModelFamilies>,
): CatalogueModel {
  const { members, base, shared } = modelMembers(cursor, known, ['native_dimensions', 'other_dimensions']);
  const readNative = (member: Cursor): number => {
    const width = member.integer(1, WIDEST);
    // Another width is another model: stored vectors of callers must not change.
    if (base && width !== base.nativeDimensions)
      member.fail(`must stay ${base.nativeDimensions}: another width is another model, with another id`);
    return width;
  };
  const model = {
    ...base,
    ...shared,
    nativeDimensions: members.read('native_dimensions', readNative, base?.nativeDimensions),
    otherDimensions: members.read('other_dimensions', readOtherDimensions, base?.otherDimensions ?? null),
    endpoints: members.read(
      'endpoints',
      (member) =>
        readEndpoints(member, base?.endpoints ?? [], EMBEDDING_ENDPOINT_MEMBERS, rules, (endpoint) =>
          readEndpoint(endpoint, families.get(endpoint.shared.provider)),
        ),
      base?.endpoints,
    ),
  };
  const widest = widestOf(model);
  if (!model.endpoints.some((endpoint) => givesWidth(endpoint, model.nativeDimensions, widest)))
    cursor.fail(`no endpoint takes_dimensions, so that none gives vectors of ${widest}`);
  return model;
}

/**
 * The provider would answer with its one model for both. `onlyModels` has the upstream models read so far, by provider.
 */
export function rejectSecondModel(
  cursor: Cursor,
  { endpoints }: { readonly endpoints: readonly Pick<ModelEndpoint, 'provider' | 'upstreamModel'>[] },
  onlyModels: Map<string, string>,
  oneModelProviders: readonly string[],
): void {
  for (const { provider, upstreamModel } of endpoints) {
    if (!oneModelProviders.includes(provider)) continue;
    const only = onlyModels.get(provider) ?? upstreamModel;
    if (only !== upstreamModel)
      cursor.fail(
        `${provider} serves one model, and the catalogue has two there: ${only} and ${upstreamModel}`,
      );
    onlyModels.set(provider, upstreamModel);
  }
}

function readEndpoint(
  { item, members, base, shared }: EndpointMembers<ModelEndpoint>,
  families: ModelFamilies | undefined,
): ModelEndpoint {
  const family = readFamily(item, members, shared.upstreamModel, families);
  return {
    ...base,
    ...shared,
    ...given('family', family),
    inputForms: members.read('input_forms', readChoices(INPUT_FORMS), base?.inputForms ?? ['texts']),
    modalities: members.read('modalities', readChoices(MODALITIES), base?.modalities ?? ['text']),
    takesDimensions: members.read('takes_dimensions', readFlag, base?.takesDimensions ?? false),
    maxInputsPerCall: members.read('max_inputs_per_call', readCount, base?.maxInputsPerCall),
    maxTokensPerInput: members.read('max_tokens_per_input', readCount, base?.maxTokensPerInput),
    ...given('maxTokensPerCall', members.optional('max_tokens_per_call', readCount)),
    ...given('maxBytesPerCall', members.optional('max_bytes_per_call', readCount)),
    ...given('inputTypes', members.optional('input_types', readChoices(INPUT_TYPES))),
    ...given('allowedMembers', members.optional('allowed_members', readNames)),
    prices: members.read('prices', readTokenPrices, base?.prices),
    ...given('modalityPrices', members.optional('modality_prices', byModality(readTokenPrices))),
    ...given('partRates', members.optional('part_rates', byModality(readPartRate))),
  };
}

/** Undefined where the provider has no families, or the name of the model shows its own. */
function readFamily(
  item: Cursor,
  members: ObjectCursor,
  upstreamModel: string,
  families: ModelFamilies | undefined,
): string | undefined {
  const family = members.optional('family', (member) =>
    families ? member.choice(families.names) : member.fail('this provider has no families of models'),
  );
  if (family === undefined && families?.of(upstreamModel) === null)
    item.fail(
      `upstream_model does not show the family of the model; add family, one of ${families.names.join(', ')}`,
    );
  return family;
}

function byModality<Value>(
  read: (member: Cursor) => Value,
): (cursor: Cursor) => Partial<Record<Modality, Value>> {
  return (cursor) => {
    const object = cursor.object(OTHER_THAN_TEXT);
    const values: Partial<Record<Modality, Value>> = {};
    for (const modality of OTHER_THAN_TEXT)
      object.optional(modality, (member) => {
        values[modality] = read(member);
      });
    return values;
  };
}

function readPartRate(cursor: Cursor): { readonly tokens: number; readonly source: string } {
  const rate = cursor.object(['tokens', 'source']);
  return { tokens: rate.read('tokens', readCount), source: rate.read('source', readLabel) };
}

function widestOf({
  nativeDimensions,
  otherDimensions: others,
}: Pick<CatalogueModel, 'nativeDimensions' | 'otherDimensions'>): number {
  if (others === null) return nativeDimensions;
  return 'least' in others ? others.most : others.reduce((one, other) => Math.max(one, other), 0);
}

function readOtherDimensions(cursor: Cursor): CatalogueModel['otherDimensions'] {
  if (cursor.isNull()) return null;
  if (cursor.isList()) return cursor.list().map((item) => item.integer(1, WIDEST));
  const range = cursor.object(['least', 'most']);
  const least = range.read('least', (member) => member.integer(1, WIDEST));
  return { least, most: range.read('most', (member) => member.integer(least, WIDEST)) };
}
