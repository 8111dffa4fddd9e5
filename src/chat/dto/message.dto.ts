// The answers of POST /messages and of its count. Contract: docs/contract.md#messages.
import { RoutingMetadataDto } from '../../http/dto/routing-metadata.dto.js';
import { FreeObjectField, ListField, ObjectField } from '../../http/fields/compound-fields.js';
import { EnumField, IntegerField, TextField } from '../../http/fields/scalar-fields.js';

export class MessageDto {
  @TextField({ description: "The provider's id, else msg_ and the generation's." }) id: string;
  @EnumField(['message']) type: string;
  @EnumField(['assistant']) role: string;
  @TextField({ description: 'As the provider names it, else its id here.' }) model: string;
  @ListField(Object, { description: 'text, thinking, redacted_thinking, tool_use and other blocks.' })
  content: Record<string, unknown>[];
  @TextField({ nullable: true }) stop_reason: string | null;
  @TextField({ nullable: true, optional: true }) stop_sequence?: string | null;
  @FreeObjectField({ nullable: true, optional: true, description: 'Why a model refused.' })
  stop_details?: object | null;
  @FreeObjectField({ nullable: true, optional: true }) container?: object | null;
  @FreeObjectField({
    description: 'With cost in USD (absent where no price is known), is_byok and cost_details.',
  })
  usage: Record<string, unknown>;
  @TextField({ description: 'The provider that answered.' }) provider: string;
  @ObjectField(RoutingMetadataDto, {
    optional: true,
    description: 'Only on request by the header X-OpenRouter-Metadata.',
  })
  openrouter_metadata?: RoutingMetadataDto;
}

export class TokenCountDto {
  @IntegerField({ description: 'Of the whole prompt, tools and system included.' }) input_tokens: number;
}
