// What was said in a call on the wire. Source: contract section 6.
import { ApiExtraModels, ApiProperty, getSchemaPath } from '@nestjs/swagger';
import type { GenerationContent } from '../../domain/generations/generation-content.js';
import type { Generation } from '../../domain/generations/generation.js';

class PromptInputDto {
  @ApiProperty({ description: 'The only text of the call.' })
  prompt: string;
}

class InputMessageDto {
  @ApiProperty({ enum: ['user'] })
  role: string;

  @ApiProperty({
    oneOf: [{ type: 'string' }, { type: 'array', items: { type: 'integer' } }],
    description: 'A text, or the tokens of one. Parts that are not text are left out.',
  })
  content: string | readonly number[];
}

class MessagesInputDto {
  @ApiProperty({ type: [InputMessageDto], description: 'The inputs of the call, in order.' })
  messages: InputMessageDto[];
}

class ContentOutputDto {
  @ApiProperty({ type: String, nullable: true, description: 'Always null: vectors are not stored.' })
  completion: string | null;

  @ApiProperty({ type: String, nullable: true, description: 'Always null.' })
  reasoning: string | null;
}

class ContentErrorDto {
  @ApiProperty({ type: String, nullable: true, description: 'What the caller was told.' })
  message: string | null;

  @ApiProperty({ type: String, nullable: true, description: 'Who was tried last.' })
  provider_name: string | null;

  @ApiProperty({ type: 'integer', nullable: true, description: 'The HTTP status that the caller got.' })
  status: number | null;

  @ApiProperty({ type: String, nullable: true, description: 'Always null.' })
  raw: string | null;

  @ApiProperty({
    type: [Object],
    description: 'Always empty: GET /generation has the attempts in provider_responses.',
  })
  previous_errors: object[];
}

@ApiExtraModels(PromptInputDto, MessagesInputDto)
class GenerationContentDto {
  @ApiProperty({
    oneOf: [{ $ref: getSchemaPath(PromptInputDto) }, { $ref: getSchemaPath(MessagesInputDto) }],
  })
  input: PromptInputDto | MessagesInputDto;

  @ApiProperty()
  output: ContentOutputDto;

  @ApiProperty({ type: ContentErrorDto, nullable: true, description: 'Null: the call succeeded.' })
  error: ContentErrorDto | null;

  @ApiProperty({ description: 'Whether inputs were cut or left out because they are too long to be stored.' })
  is_truncated: boolean;
}

export class GenerationContentResponseDto {
  @ApiProperty()
  data: GenerationContentDto;
}

/** `providerName` turns a provider's slug into its name. */
export function toGenerationContentDto(
  generation: Generation,
  { items, isTruncated, errorMessage }: GenerationContent,
  providerName: (slug: string) => string,
): GenerationContentDto {
  const [first] = items;
  return {
    input:
      items.length === 1 && typeof first === 'string'
        ? { prompt: first }
        : { messages: items.map((content) => ({ role: 'user', content })) },
    output: { completion: null, reasoning: null },
    error:
      generation.errorType === null && errorMessage === null
        ? null
        : {
            message: errorMessage,
            provider_name: generation.provider === null ? null : providerName(generation.provider),
            status: generation.status,
            raw: null,
            previous_errors: [],
          },
    is_truncated: isTruncated,
  };
}
