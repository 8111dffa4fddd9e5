// The content of a call on the wire. Contract: docs/contract.md#generations.
import { ApiExtraModels, getSchemaPath } from '@nestjs/swagger';
import { Allow } from 'class-validator';
import { toContentCall } from '../../domain/generations/chat-content.js';
import type { GenerationContent } from '../../domain/generations/generation-content.js';
import type { ChatChoice } from '../../domain/chat/chat-outcome.js';
import type { Generation } from '../../domain/generations/generation.js';
import { ToolCallDto } from '../../http/dto/tool-call.dto.js';
import { CustomField, ListField, ObjectField, ObjectListField } from '../../http/fields/compound-fields.js';
import { FlagField, IntegerField, NumberField, TextField } from '../../http/fields/scalar-fields.js';

class PromptInputDto {
  @TextField({ description: 'The only text of the call.' }) prompt: string;
}

class InputMessageDto {
  @TextField({ description: 'user for embeddings.' }) role: string;
  @CustomField(
    {
      oneOf: [
        { type: 'string' },
        { type: 'array', items: { type: 'integer' } },
        { type: 'array', items: { type: 'object' } },
      ],
      nullable: true,
    },
    {
      rules: [Allow()],
      description:
        'A text, the tokens of one (embeddings), or the parts of a message. Media are named by their type and size; ' +
        'embeddings omit them.',
    },
  )
  content: string | readonly number[] | readonly object[] | null;
  @ObjectListField(ToolCallDto, { optional: true, description: 'Calls of an assistant message.' })
  tool_calls?: readonly ToolCallDto[];
  @TextField({ optional: true, description: 'The call that a tool message answers.' }) tool_call_id?: string;
  @TextField({ optional: true }) name?: string;
}

class MessagesInputDto {
  @ObjectListField(InputMessageDto, { description: 'The inputs or messages of the call, in order.' })
  messages: InputMessageDto[];
}

class RankedResultDto {
  @IntegerField({ description: 'Position of the document in the request.' }) index: number;
  @NumberField() relevance_score: number;
}

class ContentOutputDto {
  @TextField({
    nullable: true,
    description: 'The text of the first choice; null for an answer of tool calls only, and for embeddings.',
  })
  completion: string | null;
  @TextField({ nullable: true, description: 'The reasoning of the first choice, where the model shows it.' })
  reasoning: string | null;
  @ObjectListField(ToolCallDto, {
    optional: true,
    description: 'The tool calls of the first choice; absent: none.',
  })
  tool_calls?: readonly ToolCallDto[];
  @ObjectListField(RankedResultDto, { optional: true, description: 'Of rerank calls: the best first.' })
  results?: readonly RankedResultDto[];
}

class ContentErrorDto {
  @TextField({ nullable: true, description: 'The error message that the caller received.' })
  message: string | null;
  @TextField({ nullable: true, description: 'The last provider tried.' }) provider_name: string | null;
  @IntegerField({ nullable: true, description: 'The HTTP status that the caller received.' })
  status: number | null;
  @TextField({ nullable: true, description: 'Always null.' }) raw: string | null;
  @ListField(Object, {
    description: 'Always empty: provider_responses of GET /generation lists the attempts.',
  })
  previous_errors: object[];
}

@ApiExtraModels(PromptInputDto, MessagesInputDto)
export class GenerationContentDto {
  @CustomField(
    { oneOf: [{ $ref: getSchemaPath(PromptInputDto) }, { $ref: getSchemaPath(MessagesInputDto) }] },
    { rules: [Allow()] },
  )
  input: PromptInputDto | MessagesInputDto;
  @ObjectField(ContentOutputDto) output: ContentOutputDto;
  @ObjectField(ContentErrorDto, { nullable: true, description: 'Null: the call succeeded.' })
  error: ContentErrorDto | null;
  @FlagField({
    description: 'Whether inputs or outputs were truncated or omitted because they exceed the storage limit.',
  })
  is_truncated: boolean;
}

/** `providerName` turns a provider's slug into its name. */
export function toGenerationContentDto(
  generation: Generation,
  { items, isTruncated, errorMessage, chat, rerank }: GenerationContent,
  providerName: (slug: string) => string,
): GenerationContentDto {
  const [answer] = chat?.choices ?? [];
  return {
    input: chat ? { messages: chat.messages.map((message) => ({ ...message })) } : toInputDto(items),
    output: {
      ...toOutputDto(answer),
      ...(rerank && {
        results: rerank.results.map(({ index, score }) => ({ index, relevance_score: score })),
      }),
    },
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
    is_truncated: isTruncated || (chat?.isOutputTruncated ?? false),
  };
}

function toOutputDto(answer: ChatChoice | undefined): ContentOutputDto {
  const { content = null, reasoning = null, toolCalls = [] } = answer ?? {};
  return {
    completion: content,
    reasoning,
    ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls.map(toContentCall) }),
  };
}

function toInputDto(items: GenerationContent['items']): PromptInputDto | MessagesInputDto {
  const [first] = items;
  return items.length === 1 && typeof first === 'string'
    ? { prompt: first }
    : { messages: items.map((content) => ({ role: 'user', content })) };
}
