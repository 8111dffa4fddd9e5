// The bodies and the query of the /byok operations. Source: contract section 6.
import { applyDecorators } from '@nestjs/common';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsString,
  IsUUID,
  Matches,
  Max,
  MaxLength,
  Min,
  MinLength,
} from 'class-validator';
import { EMBEDDING_PROVIDERS } from '../../providers/index.js';
import { PageQueryDto } from '../../http/dto/page-query.dto.js';
import { IfGiven, IfGivenAndNotNull } from '../../http/fields/optional-members.js';
import { IsStorableText } from '../../http/fields/storable-text.js';

// Those that are called over the network: nothing else takes a key.
const PROVIDERS = EMBEDDING_PROVIDERS.filter(({ transport }) => transport === 'http').map(({ slug }) => slug);
const MAX_KEY_LENGTH = 10_000;
const MAX_NAME_LENGTH = 1_000;
const MAX_SORT_ORDER = 1_000_000;
const MAX_ELEMENTS = 100;
const MAX_ELEMENT_LENGTH = 256;

/** One of these lists restricts; none at all is said by null, so that an empty one cannot be meant. */
function AllowList(elements: PropertyDecorator, description: string): PropertyDecorator {
  return applyDecorators(
    ApiPropertyOptional({
      type: [String],
      nullable: true,
      minItems: 1,
      maxItems: MAX_ELEMENTS,
      description: `${description} Null: no restriction.`,
    }),
    IfGivenAndNotNull(),
    IsArray({ message: 'must be an array or null' }),
    ArrayMinSize(1, { message: 'must have at least 1 element, or be null for no restriction' }),
    ArrayMaxSize(MAX_ELEMENTS, { message: `must have at most ${MAX_ELEMENTS} elements` }),
    elements,
  );
}

const Names = (): PropertyDecorator =>
  applyDecorators(
    IsString({ each: true, message: 'must hold strings' }),
    MinLength(1, { each: true, message: 'must not hold empty strings' }),
    MaxLength(MAX_ELEMENT_LENGTH, {
      each: true,
      message: `must hold strings of at most ${MAX_ELEMENT_LENGTH} characters`,
    }),
    Matches(/^[^\p{Cs}\0]*$/u, { each: true, message: 'must not hold NUL or half a surrogate pair' }),
  );

const OptionalFlag = (description: string): PropertyDecorator =>
  applyDecorators(
    ApiPropertyOptional({ description }),
    IfGiven(),
    IsBoolean({ message: 'must be a boolean' }),
  );

const ProviderSlug = (): PropertyDecorator =>
  IsIn(PROVIDERS, { message: `must be one of ${PROVIDERS.join(', ')}` });

// Every provider takes its key, or the parts of it, in a header. One that cannot be sent would leave the calls to the
// shared key, and so to the account.
const SENDABLE = /^(?! )[\x20-\x7e]*(?<! )$/;

const RawKey = (): PropertyDecorator =>
  applyDecorators(
    IsStorableText(MAX_KEY_LENGTH),
    MinLength(1, { message: 'must not be empty' }),
    Matches(SENDABLE, { message: 'must hold printable ASCII characters alone, without spaces around them' }),
  );

const RAW_KEY = {
  writeOnly: true,
  minLength: 1,
  maxLength: MAX_KEY_LENGTH,
  example: 'sk-proj-0123456789abcdef',
};

/** What both bodies have. */
class ByokSettingsDto {
  @ApiPropertyOptional({ type: String, nullable: true, maxLength: MAX_NAME_LENGTH, example: 'Production' })
  @IfGivenAndNotNull()
  @IsStorableText(MAX_NAME_LENGTH)
  name?: string | null;

  @OptionalFlag('True: no call uses it.')
  disabled?: boolean;

  @OptionalFlag("Tried only after the service's own credential. Not together with is_byok_only.")
  is_fallback?: boolean;

  @OptionalFlag("The service's own credential is not used for calls that this one may serve.")
  is_required?: boolean;

  @OptionalFlag('The same as is_required.')
  is_byok_only?: boolean;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 0,
    maximum: MAX_SORT_ORDER,
    description: 'The lowest is tried first; of equal ones, the oldest.',
  })
  @IfGiven()
  @Max(MAX_SORT_ORDER, { message: `must be from 0 to ${MAX_SORT_ORDER}` })
  @Min(0, { message: `must be from 0 to ${MAX_SORT_ORDER}` })
  @IsInt({ message: 'must be a whole number' })
  sort_order?: number;

  @AllowList(Names(), 'Models by their ids.')
  allowed_models?: string[] | null;

  @AllowList(
    Matches(/^[0-9a-f]{64}$/, {
      each: true,
      message: 'must hold key hashes of 64 lower-case hexadecimal digits',
    }),
    'Hashes of API keys of the account.',
  )
  allowed_api_key_hashes?: string[] | null;

  @AllowList(Names(), 'The credential serves only API keys with one of these creator_user_id.')
  allowed_user_ids?: string[] | null;

  @ApiPropertyOptional({
    type: Boolean,
    nullable: true,
    description:
      'Whether the account at the provider keeps nothing. Null: what the catalogue says of the endpoint holds.',
  })
  @IfGivenAndNotNull()
  @IsBoolean({ message: 'must be a boolean or null' })
  declared_zdr?: boolean | null;
}

export class CreateByokKeyDto extends ByokSettingsDto {
  @ApiProperty({ enum: PROVIDERS, example: 'openai' })
  @ProviderSlug()
  provider: string;

  @ApiProperty({ ...RAW_KEY, description: 'Stored encrypted, shown to nobody.' })
  @RawKey()
  key: string;

  @ApiPropertyOptional({ format: 'uuid', description: "Absent: the account's default workspace." })
  @IfGiven()
  @IsUUID('all', { message: 'must be a UUID' })
  workspace_id?: string;
}

export class UpdateByokKeyDto extends ByokSettingsDto {
  @ApiPropertyOptional({ ...RAW_KEY, description: 'Takes the place of the key that is there.' })
  @IfGiven()
  @RawKey()
  key?: string;
}

export class ListByokKeysQueryDto extends PageQueryDto {
  @ApiPropertyOptional({ format: 'uuid', description: "Absent: the account's default workspace." })
  @IfGiven()
  @IsUUID('all', { message: 'must be a UUID' })
  workspace_id?: string;

  @ApiPropertyOptional({ enum: PROVIDERS })
  @IfGiven()
  @ProviderSlug()
  provider?: string;
}
