// The body of POST /embeddings. Unknown members go upstream. Contract: docs/contract.md#embeddings-request.
import { Allow } from 'class-validator';
import { LRUCache } from 'lru-cache';
import { ENCODING_FORMATS } from '../../domain/embeddings/embedding.js';
import type { EmbeddingInput, EncodingFormat } from '../../domain/embeddings/embedding.js';
import type { CallerTrace } from '../../domain/caller-trace.js';
import { rejectHostileShape, rejectTooManyMembers } from '../../http/fields/json-shape.js';
import {
  MODEL_NAME,
  rejectInvalidCall,
  rejectLongText,
  SessionIdField,
  TraceField,
  withoutNull,
} from '../../http/dto/call-fields.js';
import { CustomField, ObjectField } from '../../http/fields/compound-fields.js';
import { EnumField, FormattedField, IntegerField, TextField } from '../../http/fields/scalar-fields.js';
import { INPUT_SCHEMA, readEmbeddingInput } from './embedding-input.js';
import { ProviderPreferencesDto } from '../../http/dto/provider-preferences.dto.js';

const MAX_DIMENSIONS = 100_000;
const MAX_INPUT_TYPE_LENGTH = 100;
const MAX_USER_LENGTH = 1_000;
// Sent upstream, where long lists may be valid.
const EXTRA = { elements: 10_000, values: 20_000, allowsAnyName: true, isWellFormed: true };

// Valid settings are not validated again with the next input: validation takes 20 times as long as a look-up.
const VALID_SETTINGS = new LRUCache<string, true>({ max: 1_000 });

export class CreateEmbeddingDto {
  @CustomField(INPUT_SCHEMA, {
    rules: [Allow()],
    example: ['The quick brown fox', 'jumps over the lazy dog'],
  })
  input: EmbeddingInput;

  @FormattedField({
    pattern: MODEL_NAME,
    message: 'must have the form vendor/model',
    example: 'local/hashing',
    description: 'An id of the form vendor/model, or the name behind the slash where one model has it.',
  })
  model: string;

  @IntegerField({
    optional: true,
    minimum: 1,
    hiddenMaximum: MAX_DIMENSIONS,
    description: 'Width of the vectors.',
  })
  dimensions?: number;

  @EnumField(ENCODING_FORMATS, { default: 'float' })
  encoding_format: EncodingFormat = 'float';

  @TextField({ optional: true, hiddenMaxLength: MAX_INPUT_TYPE_LENGTH, example: 'search_document' })
  input_type?: string;

  @ObjectField(ProviderPreferencesDto, { optional: true, nullable: true })
  provider?: ProviderPreferencesDto;

  @TextField({ optional: true, hiddenMaxLength: MAX_USER_LENGTH, description: 'Identifier of the end user.' })
  user?: string;

  @SessionIdField()
  session_id?: string;

  @TraceField()
  trace?: CallerTrace;

  /** The unknown members of the body. */
  @Allow()
  extra: Readonly<Record<string, unknown>> = {};
}

/**
 * Reads and validates a body. The validation pipe of the other routes would copy every token of the input, and drop the
 * members that go upstream. Throws `invalid_request`.
 */
export function readCreateEmbedding(body: Readonly<Record<string, unknown>>): CreateEmbeddingDto {
  rejectTooManyMembers(body);
  const {
    input,
    model,
    dimensions,
    encoding_format,
    input_type,
    provider,
    user,
    session_id,
    trace,
    ...extra
  } = withoutNull(body);
  const dto = new CreateEmbeddingDto();
  Object.assign(dto, { model, dimensions, input_type, provider, user, session_id, trace, extra });
  if (encoding_format !== undefined) dto.encoding_format = encoding_format as EncodingFormat;
  const settings = repeatedSettings(dto);
  if (settings === null || !VALID_SETTINGS.has(settings)) {
    rejectWrongMembers(dto);
    if (settings !== null) VALID_SETTINGS.set(settings, true);
  }
  dto.input = readEmbeddingInput(input);
  return dto;
}

/** Validates every member except the input. */
function rejectWrongMembers(dto: CreateEmbeddingDto): void {
  const { extra, input_type } = dto;
  rejectHostileShape(extra, [], EXTRA);
  rejectLongText({ input_type }, MAX_INPUT_TYPE_LENGTH);
  rejectInvalidCall(dto, MAX_USER_LENGTH);
}

/** The settings that most calls of a client share, as a key; null: other members need validation in every call. */
function repeatedSettings(dto: CreateEmbeddingDto): string | null {
  const { model, dimensions, encoding_format, input_type, provider, user, session_id, trace, extra } = dto;
  if (provider !== undefined || user !== undefined || session_id !== undefined || trace !== undefined)
    return null;
  if (Object.keys(extra).length > 0 || isNested(model) || isNested(dimensions)) return null;
  if (isNested(encoding_format) || isNested(input_type)) return null;
  // JSON distinguishes the number 1 from the text "1", and an absent member from every value.
  return JSON.stringify({ model, dimensions, encoding_format, input_type });
}

/** True for null as well. */
function isNested(value: unknown): boolean {
  return typeof value === 'object';
}
