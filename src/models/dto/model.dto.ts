// A model's record on the wire. Source: contract 4.5.
import { ApiProperty } from '@nestjs/swagger';
import { priceOn } from '../../catalogue/catalogue-model.js';
import type { CatalogueModel } from '../../catalogue/catalogue-model.js';
import { formatUsd } from '../../domain/spend/money.js';
import type { PicoUsd } from '../../domain/spend/money.js';

// Clients read a decimal string here, and know this one for "there is no fixed price".
const UNKNOWN_PRICE = '-1';

export class ModelArchitectureDto {
  @ApiProperty({ type: [String], example: ['text'] })
  input_modalities: string[];

  @ApiProperty({ type: [String], example: ['embeddings'] })
  output_modalities: string[];

  @ApiProperty({ type: String, nullable: true, example: 'text->embeddings' })
  modality: string | null;

  @ApiProperty({ type: String, nullable: true, description: 'Always Other.' })
  tokenizer: string | null;

  @ApiProperty({ type: String, nullable: true, description: 'Always null.' })
  instruct_type: string | null;
}

export class PricingDto {
  @ApiProperty({
    example: '0.00000002',
    description:
      'USD for one input token, as a decimal string. -1: the price is not known; calls of keys with a limit, and of ' +
      'workspaces and accounts with one, are refused.',
  })
  prompt: string;

  @ApiProperty({ description: 'Always 0: embeddings have no output tokens.' })
  completion: string;
}

class ModelLinksDto {
  @ApiProperty({ description: 'Where the endpoints are listed.' })
  details: string;
}

class TopProviderDto {
  @ApiProperty()
  is_moderated: boolean;

  @ApiProperty({ type: 'integer', nullable: true })
  context_length: number | null;

  @ApiProperty({ type: 'integer', nullable: true })
  max_completion_tokens: number | null;
}

export class ModelDto {
  @ApiProperty({ example: 'openai/text-embedding-3-small' })
  id: string;

  @ApiProperty()
  canonical_slug: string;

  @ApiProperty()
  name: string;

  @ApiProperty({ type: 'integer', description: 'Unix seconds.' })
  created: number;

  @ApiProperty()
  description: string;

  @ApiProperty({ type: 'integer', nullable: true, description: 'Tokens of one input.' })
  context_length: number | null;

  @ApiProperty()
  architecture: ModelArchitectureDto;

  @ApiProperty({ description: 'Of the cheapest endpoint whose price is known.' })
  pricing: PricingDto;

  @ApiProperty()
  top_provider: TopProviderDto;

  @ApiProperty({ type: 'object', additionalProperties: true, nullable: true, description: 'Always null.' })
  per_request_limits: object | null;

  @ApiProperty({ type: 'object', additionalProperties: true, nullable: true, description: 'Always null.' })
  default_parameters: object | null;

  @ApiProperty({ type: [String], nullable: true, description: 'Always null: embedding models do not speak.' })
  supported_voices: string[] | null;

  @ApiProperty({ type: [String], example: ['dimensions'] })
  supported_parameters: string[];

  @ApiProperty()
  links: ModelLinksDto;
}

export class ModelResponseDto {
  @ApiProperty()
  data: ModelDto;
}

export function toModelDto(model: CatalogueModel, day: string): ModelDto {
  return {
    id: model.id,
    canonical_slug: model.id,
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
  const modalities = [...new Set(model.endpoints.flatMap((endpoint) => endpoint.modalities))];
  return {
    input_modalities: modalities,
    output_modalities: ['embeddings'],
    modality: `${modalities.join('+')}->embeddings`,
    tokenizer: 'Other',
    instruct_type: null,
  };
}

export function toPricingDto(perToken: PicoUsd | null): PricingDto {
  return { prompt: perToken === null ? UNKNOWN_PRICE : formatUsd(perToken), completion: '0' };
}

/** Unix seconds. */
export function createdAt(model: CatalogueModel): number {
  return Date.parse(`${model.createdAt}T00:00:00Z`) / 1000;
}

/** What every endpoint of the model takes: what an upstream lacks is done here. */
export function supportedParameters(model: CatalogueModel): string[] {
  return model.otherDimensions === null ? ['encoding_format'] : ['dimensions', 'encoding_format'];
}

function lowestPrice(model: CatalogueModel, day: string): PicoUsd | null {
  return model.endpoints
    .map((endpoint) => priceOn(endpoint, day))
    .reduce((low, price) => (low === null || (price !== null && price < low) ? price : low), null);
}
