// The queries of the lists of models. Contract: docs/contract.md#models.
import { MODALITIES } from '../../domain/embeddings/modality.js';
import {
  EnumField,
  FormattedField,
  IntegerField,
  LimitField,
  NumberField,
  QueryFlagField,
  TextField,
  WorkspaceIdField,
} from '../../http/fields/scalar-fields.js';
import { IgnoresUnknownMembers } from '../../http/fields/validation.pipe.js';

/** The orders of the API. Those by popularity and benchmarks have no figures here, and keep the catalogue's order. */
export const MODEL_SORTS = [
  'pricing-low-to-high',
  'pricing-high-to-low',
  'context-high-to-low',
  'throughput-high-to-low',
  'latency-low-to-high',
  'newest',
  'most-popular',
  'top-weekly',
  'intelligence-high-to-low',
  'coding-high-to-low',
  'agentic-high-to-low',
  'design-arena-elo-high-to-low',
] as const;
export type ModelSort = (typeof MODEL_SORTS)[number];

const OUTPUT_MODALITIES = [
  'text',
  'image',
  'audio',
  'video',
  'speech',
  'transcription',
  'rerank',
  'decisions',
  'embeddings',
];
const MAX_OFFSET = 1_000_000;
const MAX_LIMIT = 1_000;
const MAX_LENGTH = 1_000;
const MAX_TOKENS = 1_000_000_000;
const MAX_DAYS = 1_000_000;

/** Values separated by commas. */
const ListField = (description: string, example: string): PropertyDecorator =>
  TextField({ optional: true, maxLength: MAX_LENGTH, description, example });

const PriceField = (description: string): PropertyDecorator =>
  NumberField({ optional: true, query: true, minimum: 0, description });

const DaysField = (description: string): PropertyDecorator =>
  IntegerField({ optional: true, query: true, minimum: 0, hiddenMaximum: MAX_DAYS, description });

// Without initialisers: both absent is the whole list.
const OffsetField = (): PropertyDecorator =>
  IntegerField({ query: true, minimum: 0, hiddenMaximum: MAX_OFFSET, default: 0 });

function choices(values: readonly string[]): RegExp {
  const one = `(?:${values.join('|')})`;
  return new RegExp(`^(?:all|${one}(?:,${one})*)$`);
}

const OutputModalitiesField = (): PropertyDecorator =>
  FormattedField({
    optional: true,
    example: 'embeddings',
    description: `all, or a list of these, joined by commas: ${OUTPUT_MODALITIES.join(', ')}. Default: all.`,
    pattern: choices(OUTPUT_MODALITIES),
    message: `must be all, or some of ${OUTPUT_MODALITIES.join(', ')}, joined by commas`,
  });

/** Clients send filters that this service does not have. They must not read as a failure. */
@IgnoresUnknownMembers()
export class ModelFiltersDto {
  @QueryFlagField({
    default: true,
    description: 'false: the list includes models without a configured provider.',
  })
  configured: boolean = true;

  @TextField({ optional: true, maxLength: MAX_LENGTH, description: 'A part of an id or of the name.' })
  q?: string;

  @ListField('Parameters that the model supports, joined by commas.', 'dimensions')
  supported_parameters?: string;

  @FormattedField({
    optional: true,
    example: 'text',
    description: `Modalities that the model takes, joined by commas: ${MODALITIES.join(', ')}.`,
    pattern: choices(MODALITIES),
    message: `must be some of ${MODALITIES.join(', ')}, joined by commas`,
  })
  input_modalities?: string;

  @ListField('Slugs, aliases or names of providers that serve the model, joined by commas.', 'openai')
  providers?: string;

  @ListField('The first parts of model ids, joined by commas.', 'openai')
  model_authors?: string;

  @TextField({
    optional: true,
    maxLength: MAX_LENGTH,
    description: 'Models have no category here: with a category the list is empty.',
  })
  category?: string;

  @IntegerField({
    optional: true,
    query: true,
    minimum: 0,
    hiddenMaximum: MAX_TOKENS,
    description: 'The least context length.',
  })
  context?: number;

  @PriceField('The least price of a million input tokens in USD.') min_price?: number;
  @PriceField('The highest price of a million input tokens in USD. An unknown price is above any bound.')
  max_price?: number;
  @DaysField('The least age in days.') min_age_days?: number;
  @DaysField('The highest age in days.') max_age_days?: number;

  @QueryFlagField({ optional: true, description: 'true: models with an endpoint that retains nothing.' })
  zdr?: boolean;

  @EnumField(MODEL_SORTS, { optional: true, description: "Default: the catalogue's order." })
  sort?: ModelSort;
}

export class ModelCountQueryDto extends ModelFiltersDto {
  @OutputModalitiesField() output_modalities?: string;
}

export class EmbeddingModelsQueryDto extends ModelFiltersDto {
  @OffsetField() offset?: number;
  @LimitField({ maximum: MAX_LIMIT, default: 500 }) limit?: number;
}

export class ModelsQueryDto extends EmbeddingModelsQueryDto {
  @OutputModalitiesField() output_modalities?: string;
}

export class UserModelsQueryDto extends ModelsQueryDto {
  @WorkspaceIdField(
    'Of people: the workspace of their keys. Default: the default workspace of the account. Keys are in one.',
  )
  workspace_id?: string;
}
