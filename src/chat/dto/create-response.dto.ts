// The body of POST /responses (docs/contract.md#responses). Items and tools are read by request/responses/.
import { Allow } from 'class-validator';
import type { CallerTrace } from '../../domain/caller-trace.js';
import { isObject } from '../../domain/members.js';
import { SessionIdField, TraceField } from '../../http/dto/call-fields.js';
import { ProviderPreferencesDto } from '../../http/dto/provider-preferences.dto.js';
import { CustomField, ListField, ObjectField } from '../../http/fields/compound-fields.js';
import { EnumField, FlagField, IntegerField, TextField } from '../../http/fields/scalar-fields.js';
import { CheckedField, PresetField, MetadataField, RangeField } from './chat-fields.js';
import { isReasoning } from './chat-reasoning.js';
import { MAX_LOGPROBS, MAX_MODELS, MAX_USER_LENGTH, SERVICE_TIERS } from './create-chat-completion.dto.js';

const OBJECT = { type: 'object', additionalProperties: true } as const;
const ITEMS = { type: 'array', minItems: 1, items: OBJECT } as const;

export class CreateResponseDto {
  @TextField({
    optional: true,
    hiddenMaxLength: 300,
    example: 'local/echo',
    description:
      'An id of the form vendor/model, or @preset/slug. Required unless `models` or the preset names one.',
  })
  model?: string;

  @PresetField()
  preset?: string;

  @ListField(String, {
    optional: true,
    maxItems: MAX_MODELS,
    rules: [],
    description: 'Models to fall back on, in this order; `model` comes first.',
  })
  models?: string[];

  @CustomField(
    { oneOf: [{ type: 'string' }, ITEMS] },
    {
      rules: [Allow()],
      example: 'Say hello',
      description:
        'A text, or items: message, reasoning, function_call, function_call_output, custom_tool_call and ' +
        'custom_tool_call_output.',
    },
  )
  input: unknown;

  @TextField({ optional: true, description: 'Comes before the input, as a system message.' })
  instructions?: string;

  @IntegerField({
    optional: true,
    minimum: 1,
    description: 'The most tokens of an answer, reasoning included.',
  })
  max_output_tokens?: number;

  @CustomField(
    { type: 'array', items: OBJECT },
    { optional: true, rules: [Allow()], description: 'function, custom, and namespace of both.' },
  )
  tools?: unknown;

  @CustomField(
    { oneOf: [{ type: 'string', enum: ['none', 'auto', 'required'] }, OBJECT] },
    { optional: true, rules: [Allow()] },
  )
  tool_choice?: unknown;

  @FlagField({ optional: true })
  parallel_tool_calls?: boolean;

  @CheckedField(isObject, {
    message: 'must be an object with format and verbosity',
    description: 'format: text, json_object or json_schema; verbosity.',
  })
  text?: Readonly<Record<string, unknown>>;

  @CheckedField(isReasoning, {
    message: 'must be an object with effort, summary, max_tokens, enabled or exclude',
    description: 'effort, summary, max_tokens, enabled, exclude.',
  })
  reasoning?: Readonly<Record<string, unknown>>;

  @ListField(String, {
    optional: true,
    hiddenMaxItems: 64,
    description: '`reasoning.encrypted_content` has an effect.',
  })
  include?: string[];

  @FlagField({ optional: true, description: 'Answer with server-sent events. Default: false.' })
  stream?: boolean;

  @RangeField(0, 2)
  temperature?: number;

  @RangeField(0, 1)
  top_p?: number;

  @IntegerField({ optional: true, minimum: 0 })
  top_k?: number;

  @RangeField(-2, 2)
  frequency_penalty?: number;

  @RangeField(-2, 2)
  presence_penalty?: number;

  @IntegerField({ optional: true, minimum: 0, maximum: MAX_LOGPROBS, description: 'Dropped.' })
  top_logprobs?: number;

  @TextField({ optional: true, hiddenMaxLength: 1_024 })
  prompt_cache_key?: string;

  @CheckedField(isObject, { message: 'must be an object' })
  prompt_cache_options?: Readonly<Record<string, unknown>>;

  @TextField({ optional: true, hiddenMaxLength: 64 })
  prompt_cache_retention?: string;

  @EnumField(SERVICE_TIERS, { optional: true })
  service_tier?: string;

  @TextField({ optional: true, hiddenMaxLength: MAX_USER_LENGTH, description: 'Identifier of the end user.' })
  user?: string;

  @TextField({
    optional: true,
    hiddenMaxLength: MAX_USER_LENGTH,
    description: 'The same; `user` counts first.',
  })
  safety_identifier?: string;

  @MetadataField()
  metadata?: Readonly<Record<string, string>>;

  @ObjectField(ProviderPreferencesDto, { optional: true, nullable: true })
  provider?: ProviderPreferencesDto;

  @SessionIdField()
  session_id?: string;

  @TraceField()
  trace?: CallerTrace;
}

/** Every member of the class. */
export const RESPONSE_MEMBERS = [
  'model',
  'preset',
  'models',
  'input',
  'instructions',
  'max_output_tokens',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'text',
  'reasoning',
  'include',
  'stream',
  'temperature',
  'top_p',
  'top_k',
  'frequency_penalty',
  'presence_penalty',
  'top_logprobs',
  'prompt_cache_key',
  'prompt_cache_options',
  'prompt_cache_retention',
  'service_tier',
  'user',
  'safety_identifier',
  'metadata',
  'provider',
  'session_id',
  'trace',
] as const satisfies readonly (keyof CreateResponseDto)[];
