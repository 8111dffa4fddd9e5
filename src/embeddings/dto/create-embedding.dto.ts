// The body of POST /embeddings. Members that are not known here are kept and sent upstream (decisions 8).
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { plainToInstance } from 'class-transformer';
import {
  Allow,
  IsIn,
  IsInt,
  IsObject,
  IsString,
  Matches,
  Max,
  MaxLength,
  Min,
  ValidateNested,
  validateSync,
} from 'class-validator';
import { LRUCache } from 'lru-cache';
import { ENCODING_FORMATS } from '../../domain/embeddings/embedding.js';
import type { EmbeddingInput, EncodingFormat } from '../../domain/embeddings/embedding.js';
import { AppError } from '../../domain/errors.js';
import type { CallerTrace } from '../../domain/generations/generation.js';
import { IfGiven, IfGivenAndNotNull } from '../../http/fields/optional-members.js';
import { OPERATION_BODY, rejectHostileShape, rejectTooManyMembers } from '../../http/body/json-shape.js';
import { validationFailure } from '../../http/fields/validation.pipe.js';
import { InputProblem, readEmbeddingInput } from './embedding-input.js';
import { ProviderPreferencesDto } from './provider-preferences.dto.js';

const MAX_DIMENSIONS = 100_000;
const MAX_INPUT_TYPE_LENGTH = 100;
const MAX_USER_LENGTH = 1_000;
const MAX_SESSION_LENGTH = 256;
const MAX_TRACE_LENGTH = 16_384;
// Texts of `provider` altogether: names and prices.
const MAX_PROVIDER_LENGTH = 2 ** 20;
// A pair of surrogates counts as one character.
const UNITS_PER_CHARACTER = 2;
const PROVIDER = { ...OPERATION_BODY, characters: MAX_PROVIDER_LENGTH };
const TRACE = {
  elements: MAX_TRACE_LENGTH,
  values: MAX_TRACE_LENGTH,
  characters: MAX_TRACE_LENGTH,
  allowsAnyName: true,
};
// Sent upstream, where there may be long lists.
const EXTRA = { elements: 10_000, values: 20_000, allowsAnyName: true };

// Settings that were found right need not be validated again with the next input: that would be a fifteenth of a call.
const RIGHT_SETTINGS = new LRUCache<string, true>({ max: 1_000 });

// Decorators apply from the bottom up and the first failing rule is told: the type of a member stands lowest.
export class CreateEmbeddingDto {
  @ApiProperty({
    oneOf: [
      { type: 'string', minLength: 1 },
      { type: 'array', minItems: 1, items: { type: 'string', minLength: 1 } },
      { type: 'array', minItems: 1, items: { type: 'integer' }, description: 'One tokenised input.' },
      { type: 'array', minItems: 1, items: { type: 'array', minItems: 1, items: { type: 'integer' } } },
      {
        type: 'array',
        minItems: 1,
        description: 'Multimodal items: one vector each.',
        items: {
          type: 'object',
          required: ['content'],
          properties: { content: { type: 'array', minItems: 1, items: { type: 'object' } } },
        },
      },
    ],
    example: ['The quick brown fox', 'jumps over the lazy dog'],
  })
  @Allow()
  input: EmbeddingInput;

  @ApiProperty({ example: 'local/hashing', description: 'In the form vendor/model.' })
  @Matches(/^[\w.-]{1,100}\/[\w.:/-]{1,200}$/, { message: 'must have the form vendor/model' })
  @IsString({ message: 'must be a string' })
  model: string;

  @ApiPropertyOptional({ type: 'integer', minimum: 1, description: 'Width of the vectors.' })
  @IfGiven()
  @Max(MAX_DIMENSIONS, { message: `must be at most ${MAX_DIMENSIONS}` })
  @Min(1, { message: 'must be at least 1' })
  @IsInt({ message: 'must be a whole number' })
  dimensions?: number;

  @ApiPropertyOptional({ enum: ENCODING_FORMATS, default: 'float' })
  @IfGiven()
  @IsIn(ENCODING_FORMATS, { message: `must be one of ${ENCODING_FORMATS.join(', ')}` })
  encoding_format: EncodingFormat = 'float';

  @ApiPropertyOptional({ example: 'search_document' })
  @IfGiven()
  @MaxLength(MAX_INPUT_TYPE_LENGTH, { message: `must have at most ${MAX_INPUT_TYPE_LENGTH} characters` })
  @IsString({ message: 'must be a string' })
  input_type?: string;

  @ApiPropertyOptional({ type: ProviderPreferencesDto, nullable: true })
  @IfGivenAndNotNull()
  @IsObject({ message: 'must be an object or null' })
  @ValidateNested({ message: 'must be an object or null' })
  provider?: ProviderPreferencesDto | null;

  @ApiPropertyOptional({ description: 'Identifier of the end user.' })
  @IfGiven()
  @MaxLength(MAX_USER_LENGTH, { message: `must have at most ${MAX_USER_LENGTH} characters` })
  @IsString({ message: 'must be a string' })
  user?: string;

  @ApiPropertyOptional({ maxLength: MAX_SESSION_LENGTH, description: 'For tracing only.' })
  @IfGiven()
  @MaxLength(MAX_SESSION_LENGTH, { message: `must have at most ${MAX_SESSION_LENGTH} characters` })
  @IsString({ message: 'must be a string' })
  session_id?: string;

  @ApiPropertyOptional({ type: 'object', additionalProperties: true, description: 'For tracing only.' })
  @IfGiven()
  @IsObject({ message: 'must be an object' })
  trace?: CallerTrace;

  /** What is left of the body. */
  @Allow()
  extra: Readonly<Record<string, unknown>> = {};
}

/**
 * Reads and validates a body. Not by the validation pipe of every other route: that one would copy each of a hundred
 * thousand tokens, and drop the members that go upstream.
 * Throws `invalid_request`.
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
  } = body;
  const dto = new CreateEmbeddingDto();
  Object.assign(dto, { model, dimensions, input_type, provider, user, session_id, trace, extra });
  if (encoding_format !== undefined) dto.encoding_format = encoding_format as EncodingFormat;
  const settings = repeatedSettings(dto);
  if (settings === null || !RIGHT_SETTINGS.has(settings)) {
    rejectWrongMembers(dto);
    if (settings !== null) RIGHT_SETTINGS.set(settings, true);
  }
  try {
    dto.input = readEmbeddingInput(input);
  } catch (error) {
    if (error instanceof InputProblem) throw new AppError('invalid_request', { detail: error.message });
    throw error;
  }
  return dto;
}

/** All that has to be right whatever the input is. */
function rejectWrongMembers(dto: CreateEmbeddingDto): void {
  const { provider, trace, extra, input_type, user, session_id } = dto;
  rejectHostileShape(provider, ['provider'], PROVIDER);
  rejectHostileShape(trace, ['trace'], TRACE);
  rejectHostileShape(extra, [], EXTRA);
  rejectLongText({ user }, MAX_USER_LENGTH);
  rejectLongText({ session_id }, MAX_SESSION_LENGTH);
  rejectLongText({ input_type }, MAX_INPUT_TYPE_LENGTH);
  if (isPlainObject(provider)) dto.provider = plainToInstance(ProviderPreferencesDto, provider as object);
  const problems = validateSync(dto, {
    whitelist: true,
    forbidNonWhitelisted: true,
    stopAtFirstError: true,
    validationError: { target: false, value: false },
  });
  if (problems.length > 0) throw validationFailure(problems);
  rejectUnstorableText({ input_type, user, session_id, trace });
}

/** What all calls of a client mostly have in common; null where there is more, which has to be looked at every time. */
function repeatedSettings(dto: CreateEmbeddingDto): string | null {
  const { model, dimensions, encoding_format, input_type, provider, user, session_id, trace, extra } = dto;
  if (provider !== undefined || user !== undefined || session_id !== undefined || trace !== undefined)
    return null;
  if (Object.keys(extra).length > 0 || isObject(model) || isObject(dimensions)) return null;
  if (isObject(encoding_format) || isObject(input_type)) return null;
  // As JSON, the number 1 and the text "1" stay apart, and what is absent from all that can be said.
  return JSON.stringify({ model, dimensions, encoding_format, input_type });
}

/** What counts characters takes its time with some millions of them. */
function rejectLongText(member: Readonly<Record<string, unknown>>, most: number): void {
  for (const [name, value] of Object.entries(member)) {
    if (typeof value === 'string' && value.length > UNITS_PER_CHARACTER * most)
      throw new AppError('invalid_request', { detail: `${name}: must have at most ${most} characters` });
  }
}

/** PostgreSQL stores no NUL, and no half of a surrogate pair in JSON; a trace has a size. */
function rejectUnstorableText(members: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(members)) {
    if (value === undefined) continue;
    const json = JSON.stringify(value);
    if (json.length > MAX_TRACE_LENGTH) {
      throw new AppError('invalid_request', {
        detail: `${name}: must have at most ${MAX_TRACE_LENGTH} characters as JSON`,
      });
    }
    if (/(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f][0-9a-f]{2})/i.test(json)) {
      throw new AppError('invalid_request', {
        detail: `${name}: must not hold NUL or half a surrogate pair`,
      });
    }
  }
}

/** Or null. */
function isObject(value: unknown): boolean {
  return typeof value === 'object';
}

function isPlainObject(value: unknown): value is object {
  return isObject(value) && value !== null && !Array.isArray(value);
}
