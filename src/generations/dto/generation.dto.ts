// The record of a call on the wire. Contract: docs/contract.md#generations.
import { apiTypeOf } from '../../domain/generations/generation.js';
import type { Generation, GenerationAttempt } from '../../domain/generations/generation.js';
import type { GenerationWithKey } from '../generations.service.js';
import { generationHeaderId } from '../../domain/identifiers.js';
import { usdOrNull } from '../../domain/spend/money.js';
import { ListField, ObjectListField } from '../../http/fields/compound-fields.js';
import {
  EnumField,
  FlagField,
  IntegerField,
  NumberField,
  TextField,
  TimeField,
  UsdField,
} from '../../http/fields/scalar-fields.js';
import { CostPartDto, costPartsOf } from './cost-part.dto.js';
import { GuardrailHitDto } from './guardrail-hit.dto.js';

const NEVER = { nullable: true, description: 'Always null.' } as const;
/** A member of chat calls; embeddings have null. */
const ofChat = (description: string) =>
  ({ nullable: true, description: `${description} Null for embeddings.` }) as const;
export const ERROR_MESSAGE =
  'Why the call failed, at most 300 characters: the words of the provider, else of the service. Null as well where the ' +
  'workspace has a destination in privacy mode, and where no contents are kept.';
const REPORTED = 'As the provider reported it; null when it did not.';

class ProviderResponseDto {
  @TextField({ description: 'The provider.' }) provider_name: string;
  @TextField({ description: 'The provider and its own name of the model.' }) endpoint_id: string;
  @IntegerField({ nullable: true, description: 'HTTP status; null: no response.' }) status: number | null;
  @NumberField({ description: 'Milliseconds.' }) latency: number;
  @FlagField({ optional: true, description: 'Whether an own provider key was used; absent for embeddings.' })
  is_byok?: boolean;
  @TextField({ description: 'The model of the attempt: fallback can change it.' }) model_permaslug: string;
  @TextField({ optional: true, description: "The provider's own id of the answer; absent for embeddings." })
  id?: string;
  @ListField(String, {
    optional: true,
    description:
      'Members of the request that the endpoint did not get, thoughts of earlier turns among them. Absent: it got all.',
  })
  edits?: string[];
}

export class GenerationDto {
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
  @IntegerField({ description: 'HTTP status of the call.' }) status: number;
  @TextField({ nullable: true, description: 'The class of its error; null when the call succeeded.' })
  error_type: string | null;
  @TextField({ nullable: true, description: ERROR_MESSAGE }) error_message: string | null;
  @TextField({ nullable: true, description: 'embeddings, completions for chat, messages, or responses.' })
  api_type: string | null;
  @TextField(
    ofChat(
      'The API in which the answering provider was called: chat, messages, responses, gemini or converse.',
    ),
  )
  provider_wire: string | null;
  @TextField({
    nullable: true,
    description: 'The provider that served the call, or was tried last; null when none was reached.',
  })
  provider_name: string | null;
  @NumberField({ nullable: true, description: 'Milliseconds of the whole call.' }) latency: number | null;
  @NumberField({ nullable: true, description: 'Milliseconds spent waiting for providers.' })
  generation_time: number | null;
  @NumberField(NEVER) moderation_latency: number | null;
  @TextField(ofChat('Of the first choice: stop, length, tool_calls, content_filter or error.'))
  finish_reason: string | null;
  @TextField(ofChat("The provider's own word.")) native_finish_reason: string | null;
  @FlagField({ nullable: true, description: 'Whether the caller asked for a stream; false for embeddings.' })
  streamed: boolean | null;
  @FlagField({ nullable: true, description: 'Whether the caller left before the end of a chat.' }) cancelled:
    boolean | null;
  @NumberField(ofChat('Milliseconds from the receipt of the request to the first content of a stream.'))
  time_to_first_token: number | null;
  @IntegerField({ nullable: true }) tokens_prompt: number | null;
  @IntegerField({ nullable: true, description: '0 for embeddings.' }) tokens_completion: number | null;
  @IntegerField({
    nullable: true,
    description:
      "The provider's count. For embeddings it is bounded by the number of tokens that the inputs can have; for chat " +
      'it is null when the provider reported none.',
  })
  native_tokens_prompt: number | null;
  @IntegerField({ nullable: true, description: `0 for embeddings. ${REPORTED}` }) native_tokens_completion:
    number | null;
  @IntegerField(NEVER) native_tokens_completion_images: number | null;
  @IntegerField(ofChat(REPORTED)) native_tokens_reasoning: number | null;
  @IntegerField(ofChat(REPORTED)) native_tokens_cached: number | null;
  @IntegerField(ofChat(REPORTED)) native_tokens_cache_write: number | null;
  @IntegerField(ofChat('Images, files and videos of the request.')) num_media_prompt: number | null;
  @IntegerField(ofChat('Always 0.')) num_media_completion: number | null;
  @IntegerField(ofChat('Audio parts of the request.')) num_input_audio_prompt: number | null;
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
  @UsdField({
    nullable: true,
    description:
      'USD that prompt caching saved; negative when writing cost more. Null without cached tokens.',
  })
  cache_discount: number | null;
  @TextField(
    ofChat(
      'Origin of the charged tokens: reported by the provider, counted here, estimated, or none are charged.',
    ),
  )
  usage_source: string | null;
  @IntegerField({ nullable: true, description: 'Billed search units of a rerank call; null for others.' })
  search_units: number | null;
  @IntegerField({
    nullable: true,
    description: 'As a rerank call asked for; null: all, or another operation.',
  })
  top_n: number | null;
  @UsdField({
    nullable: true,
    description: 'USD of the cost above the reservation, which the caller does not pay. Null: none.',
  })
  overrun: number | null;
  @ObjectListField(
    CostPartDto,
    ofChat(
      'The cost by class of tokens; `prompt` includes media and the fee of a request. Parts without tokens are left out.',
    ),
  )
  cost_parts: CostPartDto[] | null;
  @IntegerField(NEVER) app_id: number | null;
  @TextField({ nullable: true, description: 'The user that the request named.' }) external_user:
    string | null;
  @TextField({ nullable: true }) http_referer: string | null;
  @TextField({ nullable: true }) user_agent: string | null;
  @TextField(ofChat('The moving alias that the request named, where it named one.'))
  requested_model: string | null;
  @TextField(ofChat('The preset that the request named.')) preset_id: string | null;
  @TextField(ofChat('Its slug.')) preset: string | null;
  @IntegerField(ofChat('The version that was used.')) preset_version: number | null;
  @TextField(NEVER) router: string | null;
  @TextField(ofChat('As the provider named it.')) service_tier: string | null;
  @TextField(NEVER) web_search_engine: string | null;
  @TextField({ nullable: true }) workspace_id: string | null;
  @TextField({ nullable: true, description: 'Null: the key is purged.' }) api_key_hash: string | null;
  @IntegerField({
    nullable: true,
    description: 'The newest stored revision of the catalogue at the start of the call; 0: none.',
  })
  catalogue_version: number | null;
  @TextField({
    nullable: true,
    example: '2026-01-01',
    description: 'The first day of the price row of the endpoint that served; null: its price is not known.',
  })
  price_effective_from: string | null;
  @ObjectListField(GuardrailHitDto, {
    nullable: true,
    description: 'Matches that content filters of guardrails replaced or counted; null: none.',
  })
  guardrails: GuardrailHitDto[] | null;
  @EnumField(['catalogue', 'ceiling'], {
    nullable: true,
    description:
      '`ceiling`: the model is not in the catalogue, and costs what its provider takes for its most expensive models. Null: no price is known.',
  })
  price_source: string | null;
  @TextField({ nullable: true }) session_id: string | null;
  @TextField({ nullable: true, description: 'The x-request-id of the response.' }) request_id: string | null;
  @TextField(NEVER) response_cache_source_id: string | null;
  @ObjectListField(ProviderResponseDto, {
    nullable: true,
    description: 'All attempts, in order; null when no provider was reached.',
  })
  provider_responses: ProviderResponseDto[] | null;
}

// The contract requires these members of every call.
const NEVER_KNOWN = {
  moderation_latency: null,
  native_tokens_completion_images: null,
  num_search_results: null,
  num_fetches: null,
  app_id: null,
  router: null,
  web_search_engine: null,
  response_cache_source_id: null,
} as const;

/** `providerName` turns a provider's slug into its name. */
export function toGenerationDto(
  { generation, keyHash }: GenerationWithKey,
  providerName: (slug: string) => string,
): GenerationDto {
  const { requestContext, attempts } = generation;
  const cost = usdOrNull(generation.cost);
  return {
    ...NEVER_KNOWN,
    ...chatMembers(generation),
    provider_wire: generation.chat?.providerWire ?? null,
    cost_parts: generation.chat && costPartsOf(generation.chat, generation.promptTokens),
    id: generationHeaderId(generation.id),
    created_at: generation.createdAt.toISOString(),
    model: generation.model,
    origin: requestContext?.referer ?? '',
    is_byok: generation.isByok,
    usage: cost ?? 0,
    total_cost: cost ?? 0,
    data_region: generation.region,
    status: generation.status,
    error_type: generation.errorType,
    error_message: generation.errorMessage,
    api_type: apiTypeOf(generation),
    provider_name: generation.provider === null ? null : providerName(generation.provider),
    latency: generation.durationMs,
    generation_time: generation.upstreamMs,
    tokens_prompt: generation.promptTokens,
    upstream_id: generation.upstreamId,
    upstream_inference_cost: usdOrNull(generation.upstreamCost),
    external_user: generation.userId,
    http_referer: requestContext?.referer ?? null,
    user_agent: requestContext?.userAgent ?? null,
    workspace_id: generation.workspaceId,
    api_key_hash: keyHash,
    catalogue_version: generation.pricing?.catalogueVersion ?? null,
    price_effective_from: generation.pricing?.effectiveFrom ?? null,
    guardrails: generation.guardrails ? [...generation.guardrails] : null,
    price_source: priceSourceOf(generation),
    session_id: generation.sessionId,
    request_id: generation.requestId,
    provider_responses:
      attempts.length === 0
        ? null
        : attempts.map((attempt) => toProviderResponse(generation, attempt, providerName)),
  };
}

function chatMembers({ chat, rerank, promptTokens }: Generation) {
  return {
    finish_reason: chat?.finishReason ?? null,
    native_finish_reason: chat?.nativeFinishReason ?? null,
    streamed: chat?.isStreamed ?? false,
    cancelled: chat?.isCancelled ?? false,
    time_to_first_token: chat?.timeToFirstTokenMs ?? null,
    tokens_completion: chat?.completionTokens ?? 0,
    native_tokens_prompt: chat ? (chat.reportedTokens?.prompt ?? null) : promptTokens,
    native_tokens_completion: chat ? (chat.reportedTokens?.completion ?? null) : 0,
    native_tokens_reasoning: chat?.reportedTokens?.reasoning ?? null,
    native_tokens_cached: chat?.reportedTokens?.cached ?? null,
    native_tokens_cache_write: chat?.reportedTokens?.cacheWrite ?? null,
    num_media_prompt: chat?.mediaCount ?? null,
    num_media_completion: chat ? 0 : null,
    num_input_audio_prompt: chat?.audioCount ?? null,
    cache_discount: usdOrNull(chat?.cacheDiscount ?? null),
    usage_source: (chat ?? rerank)?.usageSource ?? null,
    search_units: rerank?.searchUnits ?? null,
    top_n: rerank?.topN ?? null,
    overrun: usdOrNull(chat?.overrun ?? null),
    requested_model: chat?.requestedModel ?? null,
    preset_id: chat?.preset?.id ?? null,
    preset: chat?.preset?.slug ?? null,
    preset_version: chat?.preset?.version ?? null,
    service_tier: chat?.serviceTier ?? null,
  } satisfies Partial<GenerationDto>;
}

function toProviderResponse(
  generation: Generation,
  { provider, endpoint, status, durationMs, isByok, model, upstreamId, droppedMembers }: GenerationAttempt,
  providerName: (slug: string) => string,
): ProviderResponseDto {
  return {
    provider_name: providerName(provider),
    endpoint_id: endpoint,
    status,
    latency: durationMs,
    model_permaslug: model ?? generation.model,
    ...(isByok === undefined ? {} : { is_byok: isByok }),
    ...(upstreamId ? { id: upstreamId } : {}),
    ...(droppedMembers === undefined ? {} : { edits: [...droppedMembers] }),
  };
}

function priceSourceOf({ pricing }: Generation): string | null {
  if (!pricing || pricing.effectiveFrom === null) return null;
  return pricing.isCeiling ? 'ceiling' : 'catalogue';
}
