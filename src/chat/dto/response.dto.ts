// The answer of POST /responses. Contract: docs/contract.md#responses-answer. Optional members are those that an answer of this service
// has, and that of a provider may lack.
import { Allow } from 'class-validator';
import { RoutingMetadataDto } from '../../http/dto/routing-metadata.dto.js';
import { CustomField, FreeObjectField, ListField, ObjectField } from '../../http/fields/compound-fields.js';
import {
  EnumField,
  FlagField,
  IntegerField,
  NumberField,
  TextField,
} from '../../http/fields/scalar-fields.js';

export class ResponseDto {
  @TextField({ description: "resp_ and the generation's id, or the provider's." }) id: string;
  @EnumField(['response']) object: string;
  @IntegerField({ description: 'Seconds.' }) created_at: number;
  @IntegerField({ optional: true, nullable: true }) completed_at?: number | null;
  @EnumField(['completed', 'incomplete', 'failed']) status: string;
  @FreeObjectField({ nullable: true, description: 'code and message.' }) error: object | null;
  @FreeObjectField({
    nullable: true,
    description: 'reason: max_output_tokens or content_filter.',
  })
  incomplete_details: object | null;
  @TextField({ description: "The model that answered, in the provider's words where its answer passes." })
  model: string;
  @TextField({ description: 'The provider that answered.' }) provider: string;
  @ListField(Object, { description: 'reasoning, message, function_call and custom_tool_call.' })
  output: Record<string, unknown>[];
  @FreeObjectField({
    description: 'With cost in USD (absent where no price is known), is_byok and cost_details.',
  })
  usage: Record<string, unknown>;
  @TextField({ optional: true, nullable: true }) service_tier?: string | null;
  @TextField({ optional: true, nullable: true }) instructions?: string | null;
  @ListField(Object, { optional: true }) tools?: Record<string, unknown>[];
  @CustomField(
    { oneOf: [{ type: 'string' }, { type: 'object', additionalProperties: true }] },
    { optional: true, rules: [Allow()] },
  )
  tool_choice?: unknown;
  @FlagField({ optional: true }) parallel_tool_calls?: boolean;
  @NumberField({ optional: true, nullable: true }) temperature?: number | null;
  @NumberField({ optional: true, nullable: true }) top_p?: number | null;
  @IntegerField({ optional: true, nullable: true }) top_logprobs?: number | null;
  @IntegerField({ optional: true, nullable: true }) max_output_tokens?: number | null;
  @IntegerField({ optional: true, nullable: true }) max_tool_calls?: number | null;
  @FreeObjectField({ optional: true, nullable: true }) metadata?: object | null;
  @FreeObjectField({ optional: true, nullable: true }) text?: object | null;
  @FreeObjectField({ optional: true, nullable: true }) reasoning?: object | null;
  @TextField({ optional: true, nullable: true }) prompt_cache_key?: string | null;
  @TextField({ optional: true, nullable: true }) safety_identifier?: string | null;
  @TextField({ optional: true, nullable: true }) user?: string | null;
  @TextField({ optional: true, nullable: true }) previous_response_id?: string | null;
  @FlagField({ optional: true }) store?: boolean;
  @FlagField({ optional: true }) background?: boolean;
  @EnumField(['disabled'], { optional: true }) truncation?: string;
  @ObjectField(RoutingMetadataDto, {
    optional: true,
    description: 'Only on request by the header X-OpenRouter-Metadata.',
  })
  openrouter_metadata?: RoutingMetadataDto;
}
