// The list of generations on the wire, and its query: an extension of the contract. Contract: docs/contract.md#generations.
import { readStatuses, STATUS_CLASSES } from '../../domain/generations/generation-list.js';
import { API_TYPES, apiTypeOf, LISTED_API_TYPES } from '../../domain/generations/generation.js';
import type { Generation } from '../../domain/generations/generation.js';
import { ERROR_MESSAGE } from './generation.dto.js';
import { generationHeaderId } from '../../domain/identifiers.js';
import { usdToNumber } from '../../domain/spend/money.js';
import { ObjectListField } from '../../http/fields/compound-fields.js';
import {
  EnumField,
  FlagField,
  FormattedField,
  KeyHashField,
  IntegerField,
  LimitField,
  NumberField,
  QueryFlagField,
  TextField,
  TimeField,
  UsdField,
  UuidField,
  WorkspaceIdField,
} from '../../http/fields/scalar-fields.js';
import type { LoggedKeyNames } from '../../persistence/generations/logged-keys.js';
import { providerName } from '../../providers/index.js';

export class GenerationsQueryDto {
  @WorkspaceIdField("Default: the workspace of `api_key_hash`, else the account's default workspace.")
  workspace_id?: string;

  @QueryFlagField({
    default: false,
    description:
      'Whether the list has the calls of all workspaces of the account, of at most 100. Replaces `workspace_id`.',
  })
  all_workspaces: boolean = false;

  @KeyHashField('Only calls of this key: SHA-256 of a secret of the account in lower-case hexadecimal.')
  api_key_hash?: string;

  @TextField({
    optional: true,
    hiddenMaxLength: 256,
    description: 'Only calls of this model: its id or an alias.',
  })
  model?: string;

  @TextField({
    optional: true,
    hiddenMaxLength: 256,
    description: 'Only calls that this provider served or failed last: its slug, name or alias.',
  })
  provider?: string;

  @EnumField(LISTED_API_TYPES, {
    optional: true,
    description: 'Only calls of this operation: `embeddings`, or `completions` for chat.',
  })
  api_type?: (typeof LISTED_API_TYPES)[number];

  @FormattedField({
    optional: true,
    pattern: new RegExp(`^(?:[1-5]\\d\\d|${STATUS_CLASSES.join('|')})$`),
    message: `must be a status, such as 200, or one of ${STATUS_CLASSES.join(', ')}`,
    description:
      'Only calls with this status: a number, a class (`2xx`, `4xx`, `5xx`), or `error` for 400 and above.',
  })
  status?: string;

  @TextField({
    optional: true,
    hiddenMaxLength: 100,
    description: 'Only calls that failed with this `error_type`, such as `context_length_exceeded`.',
  })
  error_type?: string;

  @TextField({ optional: true, hiddenMaxLength: 128, description: 'Only calls with this x-request-id.' })
  request_id?: string;

  @TextField({ optional: true, hiddenMaxLength: 256, description: 'Only calls of this session.' })
  session_id?: string;

  @TextField({ optional: true, hiddenMaxLength: 1_000, description: 'Only calls that name this user.' })
  user_id?: string;

  @TimeField({ optional: true, description: 'Start of the range, inclusive, in UTC.' })
  from?: string;

  @TimeField({ optional: true, description: 'End of the range, exclusive, in UTC.' })
  to?: string;

  @TextField({ optional: true, hiddenMaxLength: 200, description: 'The `next_cursor` of the previous page.' })
  cursor?: string;

  @LimitField({ maximum: 100, default: 50 })
  limit = 50;
}

export class ListedGenerationDto {
  @TextField({ description: 'Equals the header x-generation-id.' }) id: string;
  @TimeField() created_at: string;
  @UuidField() workspace_id: string;
  @TextField({ nullable: true, description: 'Null: the key is purged.' }) api_key_hash: string | null;
  @TextField({ nullable: true, description: 'Null: the key is purged.' }) api_key_name: string | null;
  @TextField() model: string;
  @TextField({ nullable: true, description: 'Slug; null: no provider was reached.' }) provider: string | null;
  @TextField({ nullable: true }) provider_name: string | null;
  @TextField({ nullable: true, description: "The endpoint's tag and the provider's own name of the model." })
  endpoint_id: string | null;
  @EnumField(API_TYPES) api_type: string;
  @IntegerField({ description: 'The HTTP status that the caller received.' }) status: number;
  @TextField({ nullable: true, description: 'As in `error.metadata`; null: the call succeeded.' })
  error_type: string | null;
  @TextField({ nullable: true, description: ERROR_MESSAGE }) error_message: string | null;
  @IntegerField({ description: 'Number of provider calls.' }) attempts: number;
  @IntegerField() input_count: number;
  @IntegerField() tokens_prompt: number;
  @IntegerField({ description: 'Of chat; 0 for embeddings.' }) tokens_completion: number;
  @IntegerField() tokens_total: number;
  @TextField({ nullable: true, description: 'Of the first choice of a chat; null: none.' }) finish_reason:
    string | null;
  @FlagField({ description: 'Whether the caller asked for a stream; false for embeddings.' })
  streamed: boolean;
  @FlagField({ description: 'Whether the caller left before the end of a chat.' }) cancelled: boolean;
  @IntegerField({ nullable: true, description: 'Width of the vectors; null: a failure.' })
  dimensions: number | null;
  @UsdField({ description: 'USD charged to the caller.' }) usage: number;
  @UsdField({ nullable: true, description: 'USD that providers charge; null: no price is known.' })
  upstream_inference_cost: number | null;
  @FlagField() is_byok: boolean;
  @NumberField({ description: 'Milliseconds of the whole call.' }) latency: number;
  @NumberField({ nullable: true, description: 'Milliseconds spent waiting for providers.' })
  generation_time: number | null;
  @TextField({ nullable: true, description: 'The user that the request named.' }) external_user:
    string | null;
  @TextField({ nullable: true }) session_id: string | null;
  @TextField({ description: 'The x-request-id of the response.' }) request_id: string;
  @TextField() data_region: string;
}

export class GenerationsResponseDto {
  @ObjectListField(ListedGenerationDto, { description: 'Newest first.' }) data: ListedGenerationDto[];
  @TextField({ nullable: true, description: '`cursor` of the next page; null on the last page.' })
  next_cursor: string | null;
  @TimeField({
    nullable: true,
    description:
      'Not null: a search for rare calls has ended for this page. All calls since this time are searched; `next_cursor` continues.',
  })
  searched_until: string | null;
}

/** The rule of the field has checked the text. Calls with an `error_type` are found among those that failed. */
export function statusesOf({ status, error_type }: GenerationsQueryDto): readonly number[] | undefined {
  const wanted = status ?? (error_type === undefined ? undefined : 'error');
  return wanted === undefined ? undefined : (readStatuses(wanted) ?? undefined);
}

export function toListedGenerationDto(
  generation: Generation,
  key: LoggedKeyNames | undefined,
): ListedGenerationDto {
  const { provider, cost, upstreamCost } = generation;
  return {
    id: generationHeaderId(generation.id),
    created_at: generation.createdAt.toISOString(),
    workspace_id: generation.workspaceId,
    api_key_hash: key?.hash ?? null,
    api_key_name: key?.name ?? null,
    model: generation.model,
    provider,
    provider_name: provider === null ? null : providerName(provider),
    endpoint_id: generation.endpoint,
    api_type: apiTypeOf(generation),
    status: generation.status,
    error_type: generation.errorType,
    error_message: generation.errorMessage,
    attempts: generation.attempts.length,
    input_count: generation.inputCount,
    tokens_prompt: generation.promptTokens,
    tokens_completion: generation.chat?.completionTokens ?? 0,
    tokens_total: generation.totalTokens,
    finish_reason: generation.chat?.finishReason ?? null,
    streamed: generation.chat?.isStreamed ?? false,
    cancelled: generation.chat?.isCancelled ?? false,
    dimensions: generation.dimensions,
    usage: cost === null ? 0 : usdToNumber(cost),
    upstream_inference_cost: upstreamCost === null ? null : usdToNumber(upstreamCost),
    is_byok: generation.isByok,
    latency: generation.durationMs,
    generation_time: generation.upstreamMs,
    external_user: generation.userId,
    session_id: generation.sessionId,
    request_id: generation.requestId,
    data_region: generation.region,
  };
}
