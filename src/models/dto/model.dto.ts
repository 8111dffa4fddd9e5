// A model's record on the wire. Contract: docs/contract.md#models.
import { dataOf } from '../../http/openapi/envelopes.js';
import { formatUsd } from '../../domain/spend/money.js';
import { PRESET_MARK } from '../../domain/preset.js';
import type { PicoUsd } from '../../domain/spend/money.js';
import { rowOn } from '../../catalogue/catalogue-model.js';
import { isChatEndpoint, searchesWeb } from '../../domain/chat/chat-model.js';
import type { DatedChatPrices, PriceTier } from '../../domain/chat/chat-model.js';
import {
  FreeObjectField,
  ListField,
  ObjectField,
  ObjectListField,
} from '../../http/fields/compound-fields.js';
import { EnumField, FlagField, IntegerField, TextField } from '../../http/fields/scalar-fields.js';
import {
  cheapestEndpoint,
  createdAt,
  inputModalities,
  isChatModel,
  listedChatPrices,
  outputModalities,
  promptPrice,
  searchUnitPrice,
  supportedParameters,
} from '../listed-model.js';
import type { ListedEndpoint, ListedModel } from '../listed-model.js';

// Clients read a decimal string and treat this one as "no fixed price".
const UNKNOWN_PRICE = '-1';

export class ModelArchitectureDto {
  @ListField(String, { example: ['text'] }) input_modalities: string[];
  @ListField(String, { example: ['embeddings'] }) output_modalities: string[];
  @TextField({ nullable: true, example: 'text->embeddings' }) modality: string | null;
  @TextField({ nullable: true, description: 'GPT where it is known, else Other.' }) tokenizer: string | null;
  @TextField({ nullable: true, description: 'Always null.' }) instruct_type: string | null;
}

/** Absent of embedding models, and where the price of a chat model is unknown. */
const PriceField = (description: string): PropertyDecorator =>
  TextField({ optional: true, description: `USD. Chat models: ${description}` });

/** Absent members keep the price beside the overrides. */
class PricingOverrideDto {
  @IntegerField({ optional: true, description: 'It holds for prompts of more tokens than that.' })
  min_prompt_tokens?: number;
  @IntegerField({ optional: true, example: 1030, description: 'It holds from this UTC time on, as HHMM.' })
  utc_start?: number;
  @IntegerField({ optional: true, example: 400, description: 'It holds before this UTC time, as HHMM.' })
  utc_end?: number;
  @PriceField('One input token.') prompt?: string;
  @PriceField('One output token.') completion?: string;
  @PriceField('One cached token of the prompt.') input_cache_read?: string;
  @PriceField('One token that is written to the cache.') input_cache_write?: string;
  @PriceField('One token that is written to the cache for an hour.') input_cache_write_1h?: string;
  @PriceField('One token of audio in the prompt.') audio?: string;
  @PriceField('One cached token of audio in the prompt.') input_audio_cache?: string;
}

export class PricingDto {
  @TextField({
    example: '0.00000002',
    description:
      'USD for one input token, as a decimal string. -1: the price is unknown; calls of keys with a limit, and of ' +
      'workspaces and accounts with one, are rejected.',
  })
  prompt: string;

  @TextField({ description: 'USD for one output token. Embeddings and rerank have none: always 0.' })
  completion: string;
  @PriceField('One cached token of the prompt.') input_cache_read?: string;
  @PriceField('One token that is written to the cache.') input_cache_write?: string;
  @PriceField('One token that is written to the cache for an hour, where that has a price of its own.')
  input_cache_write_1h?: string;
  @PriceField('One reasoning token.') internal_reasoning?: string;
  @PriceField('One token of audio in the prompt.') audio?: string;
  @PriceField('One image, beside its tokens.') image?: string;
  @PriceField(
    'One request, beside its tokens. Rerank models: one search unit, a query with up to 100 documents.',
  )
  request?: string;
  @PriceField(
    'One search of the web that the provider runs for the model. Absent: the endpoint gets no such tool.',
  )
  web_search?: string;
  @ObjectListField(PricingOverrideDto, {
    optional: true,
    description:
      'Prices of long prompts and of hours. Of several that apply, the later one wins, price by price.',
  })
  overrides?: PricingOverrideDto[];
}

class ModelLinksDto {
  @TextField({ description: 'The path of the list of endpoints.' }) details: string;
}

class AliasTargetDto {
  @TextField({ example: 'anthropic/claude-sonnet-5', description: 'Its id.' }) slug: string;
  @TextField() name: string;
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
  @TextField({ description: 'The name, for coding agents.' }) display_name: string;
  @IntegerField({ description: 'Unix seconds.' }) created: number;
  @TextField() description: string;
  @IntegerField({
    nullable: true,
    description: 'Tokens of one input, or of prompt and answer of a chat model.',
  })
  context_length: number | null;
  @ObjectField(ModelArchitectureDto) architecture: ModelArchitectureDto;
  @ObjectField(PricingDto, { description: 'Of the cheapest endpoint whose price is known.' })
  pricing: PricingDto;
  @ObjectField(TopProviderDto) top_provider: TopProviderDto;
  @FreeObjectField({ nullable: true, description: 'Always null.' }) per_request_limits: object | null;
  @FreeObjectField({ nullable: true, description: 'Always null.' }) default_parameters: object | null;
  @ListField(String, { nullable: true, description: 'Always null: no model has voices.' })
  supported_voices: string[] | null;
  @ListField(String, { example: ['dimensions'] }) supported_parameters: string[];
  @ObjectField(ModelLinksDto) links: ModelLinksDto;
  @TextField({
    optional: true,
    example: '2027-03-31',
    description: 'The day (UTC) from which on its vendor may have withdrawn it. Absent: none is known.',
  })
  expiration_date?: string;
  @ObjectField(AliasTargetDto, {
    optional: true,
    description: 'Of a moving alias: the model that calls of it use now.',
  })
  alias_target?: AliasTargetDto;
  @FlagField({
    optional: true,
    description: 'true: a provider lists it, and the catalogue does not have it. Absent otherwise.',
  })
  unlisted?: boolean;
}

/** The record, and beside it the members that OpenAI's clients read. */
export class RetrievedModelDto extends dataOf(ModelDto) {
  @TextField({ example: 'openai/text-embedding-3-small' }) id: string;
  @EnumField(['model']) object: string;
  @IntegerField({ description: 'Unix seconds.' }) created: number;
  @TextField({ example: 'openai', description: 'The first part of the id.' }) owned_by: string;
}

export function toRetrievedModelDto(model: ListedModel, day: string): RetrievedModelDto {
  const data = toModelDto(model, day);
  const { id, created } = data;
  return { data, id, created, object: 'model', owned_by: id.split('/')[0] ?? '' };
}

export function toModelDto(model: ListedModel, day: string): ModelDto {
  return {
    id: model.id,
    canonical_slug: model.canonicalSlug ?? model.id,
    name: model.name,
    display_name: model.name,
    created: createdAt(model),
    description: model.description,
    context_length: model.contextLength,
    architecture: toArchitectureDto(model),
    pricing: toModelPricingDto(model, day),
    top_provider: toTopProviderDto(model),
    per_request_limits: null,
    default_parameters: null,
    supported_voices: null,
    supported_parameters: supportedParameters(model),
    links: { details: `/api/v1/models/${linkedId(model)}/endpoints` },
    ...(model.expiresOn !== undefined && { expiration_date: model.expiresOn }),
    ...('isUnlisted' in model && { unlisted: true }),
    ...(model.aliasTarget && { alias_target: { slug: model.aliasTarget.id, name: model.aliasTarget.name } }),
  };
}

/** A preset is listed beside its model. */
function linkedId({ id, canonicalSlug }: ListedModel): string {
  return id.startsWith(PRESET_MARK) ? (canonicalSlug ?? id) : id;
}

/** The first endpoint of a chat model is the one that its vendor serves, where there is one. */
function toTopProviderDto(model: ListedModel): TopProviderDto {
  const [first] = isChatModel(model) ? model.endpoints : [];
  return {
    is_moderated: false,
    context_length: first?.contextLength ?? model.contextLength,
    max_completion_tokens: first?.maxOutputTokens ?? null,
  };
}

export function toArchitectureDto(model: ListedModel): ModelArchitectureDto {
  const modalities = inputModalities(model);
  const outputs = outputModalities(model);
  return {
    input_modalities: modalities,
    output_modalities: outputs,
    modality: `${modalities.join('+')}->${outputs.join('+')}`,
    tokenizer: isChatModel(model) && model.tokenizer !== null ? 'GPT' : 'Other',
    instruct_type: null,
  };
}

function toModelPricingDto(model: ListedModel, day: string): PricingDto {
  // Without a known price, any endpoint shows that it is unknown.
  const endpoint = cheapestEndpoint(model, day) ?? model.endpoints[0];
  return endpoint ? toPricingDto(endpoint, day) : { prompt: UNKNOWN_PRICE, completion: UNKNOWN_PRICE };
}

export function toPricingDto(endpoint: ListedEndpoint, day: string): PricingDto {
  if (!isChatEndpoint(endpoint)) {
    const unit = searchUnitPrice(endpoint, day);
    return {
      prompt: priceText(promptPrice(endpoint, day)),
      completion: '0',
      ...(unit !== null && { request: formatUsd(unit) }),
    };
  }
  const prices = listedChatPrices(endpoint, day);
  if (prices === null) return { prompt: UNKNOWN_PRICE, completion: UNKNOWN_PRICE };
  return {
    prompt: formatUsd(prices.prompt),
    completion: formatUsd(prices.completion),
    input_cache_read: formatUsd(prices.cacheRead),
    input_cache_write: formatUsd(prices.cacheWrite),
    internal_reasoning: formatUsd(prices.reasoning),
    audio: formatUsd(prices.audioInput),
    image: formatUsd(prices.image),
    request: formatUsd(prices.request),
    ...(searchesWeb(endpoint) && { web_search: formatUsd(prices.webSearch) }),
    ...overridesOf(rowOn(endpoint.prices, day)),
  };
}

/** The members of a row that one list of prices cannot show. */
function overridesOf(row: DatedChatPrices | null): Pick<PricingDto, 'input_cache_write_1h' | 'overrides'> {
  return {
    ...(row?.cacheWrite1h !== undefined && { input_cache_write_1h: formatUsd(row.cacheWrite1h) }),
    ...(row?.tiers && row.tiers.length > 0 && { overrides: row.tiers.map(toOverrideDto) }),
  };
}

function toOverrideDto(tier: PriceTier): PricingOverrideDto {
  const prices = {
    prompt: tier.prompt,
    completion: tier.completion,
    input_cache_read: tier.cacheRead,
    input_cache_write: tier.cacheWrite,
    input_cache_write_1h: tier.cacheWrite1h,
    audio: tier.audioInput,
    input_audio_cache: tier.audioInputCached,
  };
  return {
    ...(tier.minPromptTokens !== undefined && { min_prompt_tokens: tier.minPromptTokens }),
    ...(tier.utcStart !== undefined && { utc_start: clockNumber(tier.utcStart) }),
    ...(tier.utcEnd !== undefined && { utc_end: clockNumber(tier.utcEnd) }),
    ...Object.fromEntries(
      Object.entries(prices).flatMap(([name, price]) =>
        price === undefined ? [] : [[name, formatUsd(price)]],
      ),
    ),
  };
}

/** 630 minutes are 1030. */
function clockNumber(minutes: number): number {
  return Math.floor(minutes / 60) * 100 + (minutes % 60);
}

function priceText(price: PicoUsd | null): string {
  return price === null ? UNKNOWN_PRICE : formatUsd(price);
}
