// The body of POST /messages (docs/contract.md#messages). Blocks and tools are read by request/messages/.
import { Allow } from 'class-validator';
import type { CallerTrace } from '../../domain/caller-trace.js';
import { isObject } from '../../domain/members.js';
import { SessionIdField, TraceField } from '../../http/dto/call-fields.js';
import { ProviderPreferencesDto } from '../../http/dto/provider-preferences.dto.js';
import { CustomField, ListField, ObjectField } from '../../http/fields/compound-fields.js';
import { FlagField, IntegerField, TextField } from '../../http/fields/scalar-fields.js';
import { CheckedField, PresetField, RangeField } from './chat-fields.js';
import { MAX_MODELS } from './create-chat-completion.dto.js';

const OBJECT = { type: 'object', additionalProperties: true } as const;
const BLOCKS = { type: 'array', items: OBJECT } as const;
const TEXT_OR_BLOCKS = { oneOf: [{ type: 'string' }, BLOCKS] };

export class CreateMessageDto {
  @TextField({ hiddenMaxLength: 300, example: 'anthropic/claude-sonnet-5.5' })
  model: string;

  @PresetField()
  preset?: string;

  @CustomField(
    {
      type: 'array',
      minItems: 1,
      items: {
        type: 'object',
        required: ['role', 'content'],
        properties: { role: { type: 'string' }, content: TEXT_OR_BLOCKS },
      },
    },
    { rules: [Allow()], example: [{ role: 'user', content: 'Say hello' }] },
  )
  messages: unknown;

  @IntegerField({
    optional: true,
    minimum: 0,
    description: 'Required for a message. 0 warms the cache of an endpoint that speaks this wire.',
  })
  max_tokens?: number;

  @CustomField(TEXT_OR_BLOCKS, { optional: true, rules: [Allow()] })
  system?: unknown;

  @CustomField(BLOCKS, { optional: true, rules: [Allow()] })
  tools?: unknown;

  @CheckedField(isObject, { message: 'must be an object' })
  tool_choice?: Readonly<Record<string, unknown>>;

  @CheckedField(isObject, { message: 'must be an object' })
  thinking?: Readonly<Record<string, unknown>>;

  @CheckedField(isObject, { message: 'must be an object' })
  output_config?: Readonly<Record<string, unknown>>;

  @ListField(String, { optional: true, hiddenMaxItems: 64 })
  stop_sequences?: string[];

  @RangeField(0, 1)
  temperature?: number;

  @RangeField(0, 1)
  top_p?: number;

  @IntegerField({ optional: true, minimum: 0 })
  top_k?: number;

  @FlagField({ optional: true, description: 'Answer with server-sent events. Default: false.' })
  stream?: boolean;

  @CheckedField(isObject, { message: 'must be an object' })
  metadata?: Readonly<Record<string, unknown>>;

  @CheckedField(isObject, { message: 'must be an object' })
  cache_control?: Readonly<Record<string, unknown>>;

  @ListField(String, { optional: true, maxItems: MAX_MODELS, rules: [], description: 'Further models.' })
  models?: string[];

  @CheckedField(Array.isArray, {
    message: 'must be a list of {model}',
    schema: { type: 'array', maxItems: MAX_MODELS, items: OBJECT },
    description: 'Further models, after `models`.',
  })
  fallbacks?: readonly unknown[];

  @ObjectField(ProviderPreferencesDto, { optional: true, nullable: true })
  provider?: ProviderPreferencesDto;

  @SessionIdField()
  session_id?: string;

  @TraceField()
  trace?: CallerTrace;
}

/** Every member of the class. */
export const MESSAGE_MEMBERS = [
  'model',
  'preset',
  'messages',
  'max_tokens',
  'system',
  'tools',
  'tool_choice',
  'thinking',
  'output_config',
  'stop_sequences',
  'temperature',
  'top_p',
  'top_k',
  'stream',
  'metadata',
  'cache_control',
  'models',
  'fallbacks',
  'provider',
  'session_id',
  'trace',
] as const satisfies readonly (keyof CreateMessageDto)[];
