// The record of a call on the wire. Contract: docs/contract.md#generations.
import type { Generation, GenerationAttempt } from '../../domain/generations/generation.js';
import { generationHeaderId } from '../../domain/identifiers.js';
import { usdToNumber } from '../../domain/spend/money.js';
import type { PicoUsd } from '../../domain/spend/money.js';
import { ObjectField, ObjectListField } from '../../http/fields/compound-fields.js';
import {
  FlagField,
  IntegerField,
  NumberField,
  TextField,
  TimeField,
  UsdField,
} from '../../http/fields/scalar-fields.js';

const NEVER = { nullable: true, description: 'Always null: embeddings do not have it.' } as const;
const ALWAYS_ZERO = { nullable: true, description: 'Always 0.' } as const;

class ProviderResponseDto {
  @TextField({ description: 'The provider.' }) provider_name: string;
  @TextField({ description: 'The provider and its own name of the model.' }) endpoint_id: string;
  @IntegerField({ nullable: true, description: 'HTTP status; null: no response.' }) status: number | null;
  @NumberField({ description: 'Milliseconds.' }) latency: number;
}

class GenerationDto {
  @TextField({ description: 'Equals the header x-generation-id.' }) id: string;
  @TimeField() created_at: string;
  @TextField() model: string;
  @TextField({ description: 'The address of the calling application; empty when the request has none.' })
  origin: string;
  @FlagField() is_byok: boolean;
  @UsdField({
    description:
      'USD charged to the caller. Also 0 where no price is known; upstream_inference_cost is null then.',
  })
  usage: number;
  @UsdField({ description: 'Equals usage.' }) total_cost: number;
  @TextField() data_region: string;
  @TextField({ nullable: true, description: 'Always embeddings.' }) api_type: string | null;
  @TextField({
    nullable: true,
    description: 'The provider that served the call, or was tried last; null when none was reached.',
  })
  provider_name: string | null;
  @NumberField({ nullable: true, description: 'Milliseconds of the whole call.' }) latency: number | null;
  @NumberField({ nullable: true, description: 'Milliseconds spent waiting for providers.' })
  generation_time: number | null;
  @NumberField(NEVER) moderation_latency: number | null;
  @TextField(NEVER) finish_reason: string | null;
  @TextField(NEVER) native_finish_reason: string | null;
  @FlagField({ nullable: true, description: 'Always false: embeddings do not stream.' })
  streamed: boolean | null;
  @FlagField({ nullable: true, description: 'Always false.' }) cancelled: boolean | null;
  @IntegerField({ nullable: true }) tokens_prompt: number | null;
  @IntegerField(ALWAYS_ZERO) tokens_completion: number | null;
  @IntegerField({
    nullable: true,
    description: "The provider's count, bounded by the number of tokens that the inputs can have.",
  })
  native_tokens_prompt: number | null;
  @IntegerField(ALWAYS_ZERO) native_tokens_completion: number | null;
  @IntegerField(NEVER) native_tokens_completion_images: number | null;
  @IntegerField(NEVER) native_tokens_reasoning: number | null;
  @IntegerField(NEVER) native_tokens_cached: number | null;
  @IntegerField(NEVER) num_media_prompt: number | null;
  @IntegerField(NEVER) num_media_completion: number | null;
  @IntegerField(NEVER) num_input_audio_prompt: number | null;
  @IntegerField(NEVER) num_search_results: number | null;
  @IntegerField(NEVER) num_fetches: number | null;
  @TextField({ nullable: true, description: "The provider's own id of the call." }) upstream_id:
    string | null;
  @UsdField({
    nullable: true,
    description:
      'USD that the provider charges, including unusable responses, failed calls and amounts beyond what the inputs can ' +
      'cost; null where no price is known.',
  })
  upstream_inference_cost: number | null;
  @NumberField(NEVER) cache_discount: number | null;
  @IntegerField(NEVER) app_id: number | null;
  @TextField({ nullable: true, description: 'The user that the request named.' }) external_user:
    string | null;
  @TextField({ nullable: true }) http_referer: string | null;
  @TextField({ nullable: true }) user_agent: string | null;
  @TextField(NEVER) preset_id: string | null;
  @TextField(NEVER) router: string | null;
  @TextField(NEVER) service_tier: string | null;
  @TextField(NEVER) web_search_engine: string | null;
  @TextField({ nullable: true }) workspace_id: string | null;
  @TextField({ nullable: true }) session_id: string | null;
  @TextField({ nullable: true, description: 'The x-request-id of the response.' }) request_id: string | null;
  @TextField(NEVER) response_cache_source_id: string | null;
  @ObjectListField(ProviderResponseDto, {
    nullable: true,
    description: 'All attempts, in order; null when no provider was reached.',
  })
  provider_responses: ProviderResponseDto[] | null;
}

export class GenerationResponseDto {
  @ObjectField(GenerationDto) data: GenerationDto;
}

// The contract requires these members of every call; embeddings do not have them.
const NOT_OF_EMBEDDINGS = {
  moderation_latency: null,
  finish_reason: null,
  native_finish_reason: null,
  native_tokens_completion_images: null,
  native_tokens_reasoning: null,
  native_tokens_cached: null,
  num_media_prompt: null,
  num_media_completion: null,
  num_input_audio_prompt: null,
  num_search_results: null,
  num_fetches: null,
  cache_discount: null,
  app_id: null,
  preset_id: null,
  router: null,
  service_tier: null,
  web_search_engine: null,
  response_cache_source_id: null,
} as const;

/** `providerName` turns a provider's slug into its name. */
export function toGenerationDto(
  generation: Generation,
  providerName: (slug: string) => string,
): GenerationDto {
  const { requestContext, attempts } = generation;
  const cost = toNumber(generation.cost);
  return {
    ...NOT_OF_EMBEDDINGS,
    id: generationHeaderId(generation.id),
    created_at: generation.createdAt.toISOString(),
    model: generation.model,
    origin: requestContext?.referer ?? '',
    is_byok: generation.isByok,
    usage: cost ?? 0,
    total_cost: cost ?? 0,
    data_region: generation.region,
    api_type: generation.operation,
    provider_name: generation.provider === null ? null : providerName(generation.provider),
    latency: generation.durationMs,
    generation_time: generation.upstreamMs,
    streamed: false,
    cancelled: false,
    tokens_prompt: generation.promptTokens,
    tokens_completion: 0,
    native_tokens_prompt: generation.promptTokens,
    native_tokens_completion: 0,
    upstream_id: generation.upstreamId,
    upstream_inference_cost: toNumber(generation.upstreamCost),
    external_user: generation.userId,
    http_referer: requestContext?.referer ?? null,
    user_agent: requestContext?.userAgent ?? null,
    workspace_id: generation.workspaceId,
    session_id: generation.sessionId,
    request_id: generation.requestId,
    provider_responses:
      attempts.length === 0 ? null : attempts.map((attempt) => toProviderResponse(attempt, providerName)),
  };
}

function toProviderResponse(
  { provider, endpoint, status, durationMs }: GenerationAttempt,
  providerName: (slug: string) => string,
): ProviderResponseDto {
  return { provider_name: providerName(provider), endpoint_id: endpoint, status, latency: durationMs };
}

function toNumber(amount: PicoUsd | null): number | null {
  return amount === null ? null : usdToNumber(amount);
}
