// A model's endpoints and their health on the wire. Contract: docs/contract.md#models.
import { endpointTag } from '../../catalogue/catalogue-model.js';
import type { ModelEndpoint } from '../../catalogue/catalogue-model.js';
import { isRerankEndpoint } from '../../catalogue/rerank-model.js';
import type { RerankEndpoint } from '../../catalogue/rerank-model.js';
import { isChatEndpoint } from '../../domain/chat/chat-model.js';
import { ListField, ObjectField, ObjectListField } from '../../http/fields/compound-fields.js';
import {
  EnumField,
  FlagField,
  IntegerField,
  NumberField,
  TextField,
} from '../../http/fields/scalar-fields.js';
import type { EndpointReport } from '../../routing/endpoint-reports.js';
import { createdAt, supportedParameters } from '../listed-model.js';
import type { ListedEndpoint, ListedModel } from '../listed-model.js';
import { ModelArchitectureDto, PricingDto, toArchitectureDto, toPricingDto } from './model.dto.js';

const STATUSES = { serving: 0, out: -5, unconfigured: -10 } as const;

export class PercentilesDto {
  @NumberField() p50: number;
  @NumberField() p75: number;
  @NumberField() p90: number;
  @NumberField() p99: number;
}

class ToolChoiceDto {
  @FlagField() auto: boolean;
  @FlagField() none: boolean;
  @FlagField() required: boolean;
  @FlagField() function: boolean;
}

export const UptimeField = (): PropertyDecorator =>
  NumberField({
    nullable: true,
    description: 'Percentage of successful calls of this process; null without calls.',
  });

class ModelEndpointDto {
  @TextField() name: string;
  @TextField() model_id: string;
  @TextField() model_name: string;
  @TextField() provider_name: string;
  @TextField({ description: 'The name in provider preferences.', example: 'openai' }) tag: string;
  @IntegerField() context_length: number;
  @ObjectField(PricingDto) pricing: PricingDto;
  @TextField({ nullable: true }) quantization: string | null;
  @IntegerField({ nullable: true, description: 'Null: as many as the context length; embeddings have none.' })
  max_completion_tokens: number | null;
  @IntegerField({ nullable: true, description: 'Tokens of one input; null for chat models.' })
  max_prompt_tokens: number | null;
  @ListField(String) supported_parameters: string[];
  @FlagField() supports_implicit_caching: boolean;
  @ObjectField(ToolChoiceDto) supports_tool_choice: ToolChoiceDto;
  @FlagField() supports_voice_cloning: boolean;
  @UptimeField() uptime_last_5m: number | null;
  @UptimeField() uptime_last_30m: number | null;
  @UptimeField() uptime_last_1d: number | null;
  @ObjectField(PercentilesDto, { nullable: true, description: 'Milliseconds of the newest 500 calls.' })
  latency_last_30m: PercentilesDto | null;
  @ObjectField(PercentilesDto, { nullable: true, description: 'Tokens per second, fastest first.' })
  throughput_last_30m: PercentilesDto | null;
  @EnumField(Object.values(STATUSES), {
    description:
      '0: serving. -5: circuit breaker open, routing skips it. -10: this service has no credential or address for it.',
  })
  status: number;
}

export class ModelEndpointsDto {
  @TextField() id: string;
  @TextField() name: string;
  @IntegerField({ description: 'Unix seconds.' }) created: number;
  @TextField() description: string;
  @ObjectField(ModelArchitectureDto) architecture: ModelArchitectureDto;
  @ObjectListField(ModelEndpointDto) endpoints: ModelEndpointDto[];
}

type EndpointFigures = Pick<
  ModelEndpointDto,
  'uptime_last_5m' | 'uptime_last_30m' | 'uptime_last_1d' | 'latency_last_30m' | 'throughput_last_30m'
>;

export interface ReportedEndpoint {
  readonly endpoint: ListedEndpoint;
  readonly report: EndpointReport;
}

export function toModelEndpointsDto(
  model: ListedModel,
  endpoints: readonly ReportedEndpoint[],
  day: string,
): ModelEndpointsDto {
  return {
    id: model.id,
    name: model.name,
    created: createdAt(model),
    description: model.description,
    architecture: toArchitectureDto(model),
    endpoints: endpoints.map((reported) => toEndpointDto(model, reported, day)),
  };
}

function toEndpointDto(
  model: ListedModel,
  { endpoint, report }: ReportedEndpoint,
  day: string,
): ModelEndpointDto {
  const limits = isChatEndpoint(endpoint)
    ? {
        context_length: endpoint.contextLength,
        max_completion_tokens: endpoint.maxOutputTokens ?? null,
        max_prompt_tokens: null,
        supported_parameters: [...endpoint.supportedParameters],
      }
    : {
        context_length: Math.min(model.contextLength, inputLimit(model, endpoint)),
        max_completion_tokens: null,
        max_prompt_tokens: inputLimit(model, endpoint),
        supported_parameters: supportedParameters(model),
      };
  return {
    name: `${report.providerName} | ${model.id}`,
    model_id: model.id,
    model_name: model.name,
    provider_name: report.providerName,
    tag: endpointTag(endpoint),
    pricing: toPricingDto(endpoint, day),
    quantization: endpoint.quantization,
    ...limits,
    supports_implicit_caching: false,
    supports_tool_choice: toToolChoiceDto(limits.supported_parameters),
    supports_voice_cloning: false,
    ...toFiguresDto(report),
    status: STATUSES[report.state],
  };
}

/** Tokens of one input, or of a query with a document. */
function inputLimit({ contextLength }: ListedModel, endpoint: ModelEndpoint | RerankEndpoint): number {
  return isRerankEndpoint(endpoint) ? contextLength : endpoint.maxTokensPerInput;
}

function toToolChoiceDto(parameters: readonly string[]): ToolChoiceDto {
  const hasTools = parameters.includes('tools');
  const isForced = hasTools && parameters.includes('tool_choice');
  return { auto: hasTools, none: hasTools, required: isForced, function: isForced };
}

/** The recent figures of an endpoint. */
export function toFiguresDto({ uptime, latency, throughput }: EndpointReport): EndpointFigures {
  return {
    uptime_last_5m: percent(uptime.fiveMinutes),
    uptime_last_30m: percent(uptime.halfAnHour),
    uptime_last_1d: percent(uptime.day),
    latency_last_30m: percentiles(latency, 1_000),
    throughput_last_30m: percentiles(throughput, 1),
  };
}

function percent(share: number | null): number | null {
  return share === null ? null : rounded(share * 100);
}

function percentiles(values: EndpointReport['latency'], factor: number): PercentilesDto | null {
  if (values === null) return null;
  return {
    p50: rounded(values.p50 * factor),
    p75: rounded(values.p75 * factor),
    p90: rounded(values.p90 * factor),
    p99: rounded(values.p99 * factor),
  };
}

export const toMilliseconds = (seconds: number): number => rounded(seconds * 1_000);

function rounded(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}
