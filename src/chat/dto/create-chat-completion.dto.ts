// The body of POST /chat/completions but for its messages and tools. Contract: docs/contract.md#chat-request.
import { Allow } from 'class-validator';
import type { CallerTrace } from '../../domain/caller-trace.js';
import { isObject } from '../../domain/members.js';
import { MODEL_NAME, SessionIdField, TraceField } from '../../http/dto/call-fields.js';
import { ProviderPreferencesDto } from '../../http/dto/provider-preferences.dto.js';
import { CustomField, ListField, ObjectField } from '../../http/fields/compound-fields.js';
import {
  EnumField,
  FlagField,
  FormattedField,
  IntegerField,
  TextField,
} from '../../http/fields/scalar-fields.js';
import {
  CheckedField,
  FlagObjectField,
  LogitBiasField,
  MetadataField,
  PresetField,
  RangeField,
  StopField,
} from './chat-fields.js';
import { isReasoning, REASONING_EFFORTS } from './chat-reasoning.js';
import { MESSAGES_SCHEMA } from './chat-messages.js';
import { TOOLS_SCHEMA } from './chat-tools.js';

export const MAX_MODELS = 8;
const MAX_CHOICES = 8;
export const MAX_LOGPROBS = 20;
export const MAX_USER_LENGTH = 256;
const LIMIT = { optional: true, minimum: 1 } as const;
export const SERVICE_TIERS = ['auto', 'default', 'fast', 'priority', 'flex', 'scale'];
export const VERBOSITIES = ['low', 'medium', 'high', 'xhigh', 'max'];

export class CreateChatCompletionDto {
  @CustomField(MESSAGES_SCHEMA, { rules: [Allow()], example: [{ role: 'user', content: 'Say hello' }] })
  messages: unknown;

  @FormattedField({
    optional: true,
    pattern: MODEL_NAME,
    message: 'must have the form vendor/model',
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

  @EnumField(['fallback', 'sort'], { optional: true, deprecated: true, description: 'No effect.' })
  route?: string;

  @ObjectField(ProviderPreferencesDto, { optional: true, nullable: true })
  provider?: ProviderPreferencesDto;

  @FlagField({ optional: true, description: 'Answer with server-sent events. Default: false.' })
  stream?: boolean;

  @FlagObjectField('include_usage', 'True: the chunk with the usage has no choices.')
  stream_options?: { readonly include_usage?: boolean | null };

  @FlagObjectField('include', 'Deprecated, no effect: usage is always sent.')
  usage?: object;

  @IntegerField({ ...LIMIT, description: 'The most tokens of an answer, reasoning included.' })
  max_completion_tokens?: number;

  @IntegerField({ ...LIMIT, deprecated: true, description: 'The smaller of both limits counts.' })
  max_tokens?: number;

  @RangeField(0, 2)
  temperature?: number;

  @RangeField(0, 1)
  top_p?: number;

  @IntegerField({ optional: true, minimum: 0 })
  top_k?: number;

  @RangeField(0, 1)
  top_a?: number;

  @RangeField(0, 1)
  min_p?: number;

  @RangeField(-2, 2)
  frequency_penalty?: number;

  @RangeField(-2, 2)
  presence_penalty?: number;

  @RangeField(0, 2)
  repetition_penalty?: number;

  @IntegerField({ optional: true, description: 'Sent with all of its digits.' })
  seed?: number;

  @StopField()
  stop?: string | string[];

  @LogitBiasField()
  logit_bias?: Readonly<Record<string, number>>;

  @FlagField({ optional: true })
  logprobs?: boolean;

  @IntegerField({ optional: true, minimum: 0, maximum: MAX_LOGPROBS, description: 'Needs logprobs: true.' })
  top_logprobs?: number;

  @IntegerField({ optional: true, minimum: 1, maximum: MAX_CHOICES, description: 'Answers. Default: 1.' })
  n?: number;

  @CustomField(TOOLS_SCHEMA, { optional: true, rules: [Allow()] })
  tools?: unknown;

  @CustomField(
    { oneOf: [{ type: 'string', enum: ['none', 'auto', 'required', 'any'] }, { type: 'object' }] },
    { optional: true, rules: [Allow()] },
  )
  tool_choice?: unknown;

  @FlagField({ optional: true })
  parallel_tool_calls?: boolean;

  @CustomField({ type: 'object', additionalProperties: true }, { optional: true, rules: [Allow()] })
  response_format?: unknown;

  @FlagField({ optional: true, description: 'True: only endpoints that enforce a json_schema.' })
  structured_outputs?: boolean;

  @CheckedField(isReasoning, {
    message: 'must be an object with effort, max_tokens, exclude, enabled, summary, context or mode',
    description: 'effort, max_tokens, exclude, enabled.',
  })
  reasoning?: Readonly<Record<string, unknown>>;

  @EnumField(REASONING_EFFORTS, { optional: true })
  reasoning_effort?: string;

  @FlagField({ optional: true, description: 'False: the answer carries no reasoning.' })
  include_reasoning?: boolean;

  @EnumField(VERBOSITIES, { optional: true })
  verbosity?: string;

  @CheckedField(isPrediction, {
    message: 'must be {type: "content", content: a string or text parts}',
    description: 'A text that the answer probably repeats.',
  })
  prediction?: { readonly content: string | readonly { readonly text: string }[] };

  @ListField(String, {
    optional: true,
    values: ['text', 'image', 'audio'],
    hiddenMaxItems: 3,
    description: 'Answers are text: image and audio are rejected.',
  })
  modalities?: string[];

  @CheckedField((value) => isObject(value) && value['type'] === 'ephemeral' && isCacheTtl(value['ttl']), {
    message: 'must be {type: "ephemeral"}, with a ttl of 5m or 1h',
  })
  cache_control?: { readonly ttl?: '5m' | '1h' | null };

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

  @SessionIdField()
  session_id?: string;

  @TraceField()
  trace?: CallerTrace;

  @MetadataField()
  metadata?: Readonly<Record<string, string>>;
}

/** Every member of the class. */
export const KNOWN_MEMBERS = [
  'messages',
  'model',
  'preset',
  'models',
  'route',
  'provider',
  'stream',
  'stream_options',
  'usage',
  'max_completion_tokens',
  'max_tokens',
  'temperature',
  'top_p',
  'top_k',
  'top_a',
  'min_p',
  'frequency_penalty',
  'presence_penalty',
  'repetition_penalty',
  'seed',
  'stop',
  'logit_bias',
  'logprobs',
  'top_logprobs',
  'n',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'response_format',
  'structured_outputs',
  'reasoning',
  'reasoning_effort',
  'include_reasoning',
  'verbosity',
  'prediction',
  'modalities',
  'cache_control',
  'prompt_cache_key',
  'prompt_cache_options',
  'prompt_cache_retention',
  'service_tier',
  'user',
  'session_id',
  'trace',
  'metadata',
] as const satisfies readonly (keyof CreateChatCompletionDto)[];

export function isModelName(name: unknown): name is string {
  return typeof name === 'string' && MODEL_NAME.test(name);
}

function isCacheTtl(value: unknown): boolean {
  return value === undefined || value === null || value === '5m' || value === '1h';
}

function isPrediction(value: unknown): boolean {
  if (!isObject(value) || value['type'] !== 'content') return false;
  const { content } = value;
  if (typeof content === 'string') return true;
  return (
    Array.isArray(content) && content.every((part) => isObject(part) && typeof part['text'] === 'string')
  );
}
