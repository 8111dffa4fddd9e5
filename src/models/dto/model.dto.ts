// A model's record on the wire. Contract: docs/contract.md#models.
import { priceOn } from '../../catalogue/catalogue-model.js';
import type { CatalogueModel } from '../../catalogue/catalogue-model.js';
import type { Modality } from '../../domain/embeddings/modality.js';
import { formatUsd } from '../../domain/spend/money.js';
import type { PicoUsd } from '../../domain/spend/money.js';
import { FreeObjectField, ListField, ObjectField } from '../../http/fields/compound-fields.js';
import { EnumField, FlagField, IntegerField, TextField } from '../../http/fields/scalar-fields.js';

// Clients read a decimal string and treat this one as "no fixed price".
const UNKNOWN_PRICE = '-1';

export class ModelArchitectureDto {
  @ListField(String, { example: ['text'] }) input_modalities: string[];
  @ListField(String, { example: ['embeddings'] }) output_modalities: string[];
  @TextField({ nullable: true, example: 'text->embeddings' }) modality: string | null;
  @TextField({ nullable: true, description: 'Always Other.' }) tokenizer: string | null;
  @TextField({ nullable: true, description: 'Always null.' }) instruct_type: string | null;
}

export class PricingDto {
  @TextField({
    example: '0.00000002',
    description:
      'USD for one input token, as a decimal string. -1: the price is unknown; calls of keys with a limit, and of ' +
      'workspaces and accounts with one, are rejected.',
  })
  prompt: string;

  @TextField({ description: 'Always 0: embeddings have no output tokens.' }) completion: string;
}

class ModelLinksDto {
  @TextField({ description: 'The path of the list of endpoints.' }) details: string;
}

class TopProviderDto {
  @FlagField() is_moderated: boolean;
  @IntegerField({ nullable: true }) context_length: number | null;
  @IntegerField({ nullable: true }) max_completion_tokens: number | null;
}

export class ModelDto {
  @TextField({ example: 'openai/text-embedding-3-small' }) id: string;
  @TextField() canonical_slug: string;
  @TextField() name: string;
  @IntegerField({ description: 'Unix seconds.' }) created: number;
  @TextField() description: string;
  @IntegerField({ nullable: true, description: 'Tokens of one input.' }) context_length: number | null;
  @ObjectField(ModelArchitectureDto) architecture: ModelArchitectureDto;
  @ObjectField(PricingDto, { description: 'Of the cheapest endpoint whose price is known.' })
  pricing: PricingDto;
  @ObjectField(TopProviderDto) top_provider: TopProviderDto;
  @FreeObjectField({ nullable: true, description: 'Always null.' }) per_request_limits: object | null;
  @FreeObjectField({ nullable: true, description: 'Always null.' }) default_parameters: object | null;
  @ListField(String, { nullable: true, description: 'Always null: embedding models have no voices.' })
  supported_voices: string[] | null;
  @ListField(String, { example: ['dimensions'] }) supported_parameters: string[];
  @ObjectField(ModelLinksDto) links: ModelLinksDto;
}

export class ModelResponseDto {
  @ObjectField(ModelDto) data: ModelDto;
}

/** The record, and beside it the members that OpenAI's clients read. */
export class RetrievedModelDto extends ModelResponseDto {
  @TextField({ example: 'openai/text-embedding-3-small' }) id: string;
  @EnumField(['model']) object: string;
  @IntegerField({ description: 'Unix seconds.' }) created: number;
  @TextField({ example: 'openai', description: 'The first part of the id.' }) owned_by: string;
}

export function toRetrievedModelDto(model: CatalogueModel, day: string): RetrievedModelDto {
  const data = toModelDto(model, day);
  const { id, created } = data;
  return { data, id, created, object: 'model', owned_by: id.split('/')[0] ?? '' };
}

export function toModelDto(model: CatalogueModel, day: string): ModelDto {
  return {
    id: model.id,
    canonical_slug: model.canonicalSlug ?? model.id,
    name: model.name,
    created: createdAt(model),
    description: model.description,
    context_length: model.contextLength,
    architecture: toArchitectureDto(model),
    pricing: toPricingDto(lowestPrice(model, day)),
    top_provider: {
      is_moderated: false,
      context_length: model.contextLength,
      max_completion_tokens: null,
    },
    per_request_limits: null,
    default_parameters: null,
    supported_voices: null,
    supported_parameters: supportedParameters(model),
    links: { details: `/api/v1/models/${model.id}/endpoints` },
  };
}

export function toArchitectureDto(model: CatalogueModel): ModelArchitectureDto {
  const modalities = modalitiesOfModel(model);
  return {
    input_modalities: modalities,
    output_modalities: ['embeddings'],
    modality: `${modalities.join('+')}->embeddings`,
    tokenizer: 'Other',
    instruct_type: null,
  };
}

export function modalitiesOfModel({ endpoints }: CatalogueModel): Modality[] {
  return [...new Set(endpoints.flatMap(({ modalities }) => modalities))];
}

export function toPricingDto(perToken: PicoUsd | null): PricingDto {
  return { prompt: perToken === null ? UNKNOWN_PRICE : formatUsd(perToken), completion: '0' };
}

/** Unix seconds. */
export function createdAt(model: CatalogueModel): number {
  return Date.parse(`${model.createdAt}T00:00:00Z`) / 1000;
}

/** The parameters that every endpoint of the model supports: this service adds those that an upstream lacks. */
export function supportedParameters(model: CatalogueModel): string[] {
  return model.otherDimensions === null ? ['encoding_format'] : ['dimensions', 'encoding_format'];
}

/** The price of the cheapest endpoint for one token; null when none is known. */
export function lowestPrice(model: CatalogueModel, day: string): PicoUsd | null {
  return model.endpoints
    .map((endpoint) => priceOn(endpoint, day))
    .reduce((low, price) => (low === null || (price !== null && price < low) ? price : low), null);
}
