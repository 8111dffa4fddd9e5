// The record of a call on the wire. Source: contract section 6.
import { ApiProperty } from '@nestjs/swagger';
import type { Generation, GenerationAttempt } from '../../domain/generations/generation.js';
import { generationHeaderId } from '../../domain/identifiers.js';
import { usdToNumber } from '../../domain/spend/money.js';
import type { PicoUsd } from '../../domain/spend/money.js';

const NEVER = 'Always null: embeddings know nothing of it.';

class ProviderResponseDto {
  @ApiProperty({ description: 'The provider.' })
  provider_name: string;

  @ApiProperty({ description: 'The provider and its own name of the model.' })
  endpoint_id: string;

  @ApiProperty({ type: 'integer', nullable: true, description: 'Null when it did not answer.' })
  status: number | null;

  @ApiProperty({ description: 'Milliseconds.' })
  latency: number;
}

class GenerationDto {
  @ApiProperty({ description: 'As the header x-generation-id has it.' })
  id: string;

  @ApiProperty({ format: 'date-time' })
  created_at: string;

  @ApiProperty()
  model: string;

  @ApiProperty({ description: 'The address of the application that called; empty when it did not say.' })
  origin: string;

  @ApiProperty()
  is_byok: boolean;

  @ApiProperty({
    description:
      'USD that the caller pays; 0 also where no price is known, and upstream_inference_cost is null then.',
  })
  usage: number;

  @ApiProperty({ description: 'Equals usage.' })
  total_cost: number;

  @ApiProperty()
  data_region: string;

  @ApiProperty({ type: String, nullable: true, description: 'Always embeddings.' })
  api_type: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Who served, or was tried last; null when no provider was reached.',
  })
  provider_name: string | null;

  @ApiProperty({ type: Number, nullable: true, description: 'Milliseconds of the whole call.' })
  latency: number | null;

  @ApiProperty({ type: Number, nullable: true, description: 'Milliseconds spent waiting for providers.' })
  generation_time: number | null;

  @ApiProperty({ type: Number, nullable: true, description: NEVER })
  moderation_latency: number | null;

  @ApiProperty({ type: String, nullable: true, description: NEVER })
  finish_reason: string | null;

  @ApiProperty({ type: String, nullable: true, description: NEVER })
  native_finish_reason: string | null;

  @ApiProperty({ type: Boolean, nullable: true, description: 'Always false: embeddings do not stream.' })
  streamed: boolean | null;

  @ApiProperty({ type: Boolean, nullable: true, description: 'Always false.' })
  cancelled: boolean | null;

  @ApiProperty({ type: 'integer', nullable: true })
  tokens_prompt: number | null;

  @ApiProperty({ type: 'integer', nullable: true, description: 'Always 0.' })
  tokens_completion: number | null;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'As the provider counted them, and at most as many as the inputs can have.',
  })
  native_tokens_prompt: number | null;

  @ApiProperty({ type: 'integer', nullable: true, description: 'Always 0.' })
  native_tokens_completion: number | null;

  @ApiProperty({ type: 'integer', nullable: true, description: NEVER })
  native_tokens_completion_images: number | null;

  @ApiProperty({ type: 'integer', nullable: true, description: NEVER })
  native_tokens_reasoning: number | null;

  @ApiProperty({ type: 'integer', nullable: true, description: NEVER })
  native_tokens_cached: number | null;

  @ApiProperty({ type: 'integer', nullable: true, description: NEVER })
  num_media_prompt: number | null;

  @ApiProperty({ type: 'integer', nullable: true, description: NEVER })
  num_media_completion: number | null;

  @ApiProperty({ type: 'integer', nullable: true, description: NEVER })
  num_input_audio_prompt: number | null;

  @ApiProperty({ type: 'integer', nullable: true, description: NEVER })
  num_search_results: number | null;

  @ApiProperty({ type: 'integer', nullable: true, description: NEVER })
  num_fetches: number | null;

  @ApiProperty({ type: String, nullable: true, description: "The provider's own id of the call." })
  upstream_id: string | null;

  @ApiProperty({
    type: Number,
    nullable: true,
    description:
      'USD that the provider charges, for unusable answers, for failed calls and beyond what the inputs can cost as well; ' +
      'null where no price is known.',
  })
  upstream_inference_cost: number | null;

  @ApiProperty({ type: Number, nullable: true, description: NEVER })
  cache_discount: number | null;

  @ApiProperty({ type: 'integer', nullable: true, description: NEVER })
  app_id: number | null;

  @ApiProperty({ type: String, nullable: true, description: 'The user that the request named.' })
  external_user: string | null;

  @ApiProperty({ type: String, nullable: true })
  http_referer: string | null;

  @ApiProperty({ type: String, nullable: true })
  user_agent: string | null;

  @ApiProperty({ type: String, nullable: true, description: NEVER })
  preset_id: string | null;

  @ApiProperty({ type: String, nullable: true, description: NEVER })
  router: string | null;

  @ApiProperty({ type: String, nullable: true, description: NEVER })
  service_tier: string | null;

  @ApiProperty({ type: String, nullable: true, description: NEVER })
  web_search_engine: string | null;

  @ApiProperty({ type: String, nullable: true })
  workspace_id: string | null;

  @ApiProperty({ type: String, nullable: true })
  session_id: string | null;

  @ApiProperty({ type: String, nullable: true, description: "The answer's x-request-id." })
  request_id: string | null;

  @ApiProperty({ type: String, nullable: true, description: NEVER })
  response_cache_source_id: string | null;

  @ApiProperty({
    type: [ProviderResponseDto],
    nullable: true,
    description: 'Every attempt, in order; null when no provider was reached.',
  })
  provider_responses: ProviderResponseDto[] | null;
}

export class GenerationResponseDto {
  @ApiProperty()
  data: GenerationDto;
}

// What other kinds of calls have and embeddings have not: the contract requires the members all the same.
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
