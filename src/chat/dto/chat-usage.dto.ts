// The usage of a chat answer on the wire (docs/contract.md#chat-usage).
import type { ChatUsage } from '../../domain/chat/chat-usage.js';
import { usdToNumber } from '../../domain/spend/money.js';
import type { PicoUsd } from '../../domain/spend/money.js';
import { ObjectField } from '../../http/fields/compound-fields.js';
import { FlagField, IntegerField, UsdField } from '../../http/fields/scalar-fields.js';

class ChatPromptDetailsDto {
  @IntegerField() cached_tokens: number;
  @IntegerField() cache_write_tokens: number;
  @IntegerField() audio_tokens: number;
  @IntegerField() video_tokens: number;
}

class ChatCompletionDetailsDto {
  @IntegerField() reasoning_tokens: number;
  @IntegerField({ optional: true }) audio_tokens?: number;
  @IntegerField({ optional: true }) image_tokens?: number;
  @IntegerField({ optional: true }) accepted_prediction_tokens?: number;
  @IntegerField({ optional: true }) rejected_prediction_tokens?: number;
}

class ChatCostDetailsDto {
  @UsdField({ nullable: true, description: 'Of calls through own provider keys, else null.' })
  upstream_inference_cost: number | null;
  @UsdField() upstream_inference_prompt_cost: number;
  @UsdField() upstream_inference_completions_cost: number;
}

export class ChatUsageDto {
  @IntegerField() prompt_tokens: number;
  @IntegerField() completion_tokens: number;
  @IntegerField() total_tokens: number;
  @ObjectField(ChatPromptDetailsDto) prompt_tokens_details: ChatPromptDetailsDto;
  @ObjectField(ChatCompletionDetailsDto) completion_tokens_details: ChatCompletionDetailsDto;
  @UsdField({ optional: true, description: 'USD. Absent: no price is known.' }) cost?: number;
  @FlagField() is_byok: boolean;
  @ObjectField(ChatCostDetailsDto, { optional: true }) cost_details?: ChatCostDetailsDto;
}

export interface ShownCost {
  /** Null where no price is known. */
  readonly charged: PicoUsd | null;
  readonly isByok: boolean;
  /** The provider's bill to the owner of an own key. */
  readonly upstream: PicoUsd | null;
  readonly prompt: PicoUsd | null;
  readonly completion: PicoUsd | null;
}

export function toChatUsageDto(usage: ChatUsage, cost: ShownCost): ChatUsageDto {
  const { charged, isByok } = cost;
  return {
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    total_tokens: usage.promptTokens + usage.completionTokens,
    ...(charged === null ? {} : { cost: usdToNumber(charged) }),
    is_byok: isByok,
    prompt_tokens_details: {
      cached_tokens: usage.cachedTokens,
      cache_write_tokens: usage.cacheWriteTokens,
      audio_tokens: usage.audioInputTokens,
      video_tokens: usage.videoInputTokens,
    },
    completion_tokens_details: {
      reasoning_tokens: usage.reasoningTokens,
      ...whenSome('audio_tokens', usage.audioOutputTokens),
      ...whenSome('image_tokens', usage.imageOutputTokens),
      ...whenSome('accepted_prediction_tokens', usage.acceptedPredictionTokens),
      ...whenSome('rejected_prediction_tokens', usage.rejectedPredictionTokens),
    },
    ...costDetails(cost),
  };
}

export function costDetails({
  isByok,
  upstream,
  prompt,
  completion,
}: ShownCost): Pick<ChatUsageDto, 'cost_details'> {
  if (prompt === null || completion === null) return {};
  return {
    cost_details: {
      upstream_inference_cost: isByok && upstream !== null ? usdToNumber(upstream) : null,
      upstream_inference_prompt_cost: usdToNumber(prompt),
      upstream_inference_completions_cost: usdToNumber(completion),
    },
  };
}

function whenSome<Name extends string>(name: Name, tokens: number): Partial<Record<Name, number>> {
  return tokens === 0 ? {} : ({ [name]: tokens } as Record<Name, number>);
}
