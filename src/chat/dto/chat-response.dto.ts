// The answer of POST /chat/completions without a stream. Contract: docs/contract.md#chat-response.
import { RoutingMetadataDto } from '../../http/dto/routing-metadata.dto.js';
import { ToolCallDto } from '../../http/dto/tool-call.dto.js';
import {
  FreeObjectField,
  ListField,
  ObjectField,
  ObjectListField,
} from '../../http/fields/compound-fields.js';
import { EnumField, IntegerField, TextField } from '../../http/fields/scalar-fields.js';
import { ChatUsageDto } from './chat-usage.dto.js';

class AnsweredToolCallDto extends ToolCallDto {
  @FreeObjectField({
    optional: true,
    description:
      "Members of the provider, such as Google's signature of a thought. Send them back with the call.",
  })
  extra_content?: Record<string, unknown>;
}

class ChatAnswerMessageDto {
  @EnumField(['assistant']) role: string;
  @TextField({ nullable: true }) content: string | null;
  @TextField({ optional: true, nullable: true }) reasoning?: string | null;
  @TextField({
    optional: true,
    nullable: true,
    description: 'Equals reasoning; only where the provider names it so.',
  })
  reasoning_content?: string | null;
  @ListField(Object, {
    optional: true,
    description:
      'Parts of the reasoning, such as the encrypted signature of a tool call. Send them back with the message.',
  })
  reasoning_details?: Record<string, unknown>[];
  @FreeObjectField({
    optional: true,
    description: "Members of the provider, such as Google's signature of a thought.",
  })
  extra_content?: Record<string, unknown>;
  @TextField({ optional: true, nullable: true }) refusal?: string | null;
  @ObjectListField(AnsweredToolCallDto, { optional: true, description: 'Absent: none.' })
  tool_calls?: AnsweredToolCallDto[];
}

class ChatAnswerChoiceDto {
  @IntegerField() index: number;
  @ObjectField(ChatAnswerMessageDto) message: ChatAnswerMessageDto;
  @TextField({
    nullable: true,
    description: 'stop, length, tool_calls, content_filter, error, or a word of the provider.',
  })
  finish_reason: string | null;
  @TextField({ optional: true, nullable: true, description: "The provider's word." })
  native_finish_reason?: string | null;
}

export class ChatCompletionDto {
  @TextField({ example: 'gen-0193...' }) id: string;
  @EnumField(['chat.completion']) object: string;
  @IntegerField({ description: 'Seconds.' }) created: number;
  @TextField({ description: 'The model that answered.' }) model: string;
  @TextField({ description: 'The provider that answered.' }) provider: string;
  @TextField({ nullable: true }) system_fingerprint: string | null;
  @ObjectListField(ChatAnswerChoiceDto) choices: ChatAnswerChoiceDto[];
  @ObjectField(ChatUsageDto) usage: ChatUsageDto;
  @ObjectField(RoutingMetadataDto, {
    optional: true,
    description: 'Only on request by the header X-OpenRouter-Metadata.',
  })
  openrouter_metadata?: RoutingMetadataDto;
}
