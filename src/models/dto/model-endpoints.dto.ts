// A model's endpoints and their health on the wire. Source: contract section 6.
import { ApiProperty } from '@nestjs/swagger';
import { endpointTag, priceOn } from '../../catalogue/catalogue-model.js';
import type { CatalogueModel, ModelEndpoint } from '../../catalogue/catalogue-model.js';
import type { EndpointReport } from '../../routing/endpoints/endpoint-reports.js';
import { createdAt, ModelArchitectureDto, PricingDto } from './model.dto.js';
import { supportedParameters, toArchitectureDto, toPricingDto } from './model.dto.js';

const STATUSES = { serving: 0, out: -5, unconfigured: -10 } as const;

export class PercentilesDto {
  @ApiProperty()
  p50: number;

  @ApiProperty()
  p75: number;

  @ApiProperty()
  p90: number;

  @ApiProperty()
  p99: number;
}

class ToolChoiceDto {
  @ApiProperty()
  auto: boolean;

  @ApiProperty()
  none: boolean;

  @ApiProperty()
  required: boolean;

  @ApiProperty()
  function: boolean;
}

const UPTIME = 'Per cent of the calls of this process that succeeded; null without calls.';

class ModelEndpointDto {
  @ApiProperty()
  name: string;

  @ApiProperty()
  model_id: string;

  @ApiProperty()
  model_name: string;

  @ApiProperty()
  provider_name: string;

  @ApiProperty({ description: 'What the preferences of a request name.', example: 'openai' })
  tag: string;

  @ApiProperty({ type: 'integer' })
  context_length: number;

  @ApiProperty()
  pricing: PricingDto;

  @ApiProperty({ type: String, nullable: true })
  quantization: string | null;

  @ApiProperty({ type: 'integer', nullable: true, description: 'Always null.' })
  max_completion_tokens: number | null;

  @ApiProperty({ type: 'integer', nullable: true, description: 'Tokens of one input.' })
  max_prompt_tokens: number | null;

  @ApiProperty({ type: [String] })
  supported_parameters: string[];

  @ApiProperty()
  supports_implicit_caching: boolean;

  @ApiProperty()
  supports_tool_choice: ToolChoiceDto;

  @ApiProperty()
  supports_voice_cloning: boolean;

  @ApiProperty({ type: Number, nullable: true, description: UPTIME })
  uptime_last_5m: number | null;

  @ApiProperty({ type: Number, nullable: true, description: UPTIME })
  uptime_last_30m: number | null;

  @ApiProperty({ type: Number, nullable: true, description: UPTIME })
  uptime_last_1d: number | null;

  @ApiProperty({ type: PercentilesDto, nullable: true, description: 'Milliseconds of the newest 500 calls.' })
  latency_last_30m: PercentilesDto | null;

  @ApiProperty({ type: PercentilesDto, nullable: true, description: 'Tokens a second, the fastest first.' })
  throughput_last_30m: PercentilesDto | null;

  @ApiProperty({
    type: 'integer',
    enum: Object.values(STATUSES),
    description:
      '0: serving. -5: out, and passed over. -10: this service has no credential or address for it.',
  })
  status: number;
}

class ModelEndpointsDto {
  @ApiProperty()
  id: string;

  @ApiProperty()
  name: string;

  @ApiProperty({ type: 'integer', description: 'Unix seconds.' })
  created: number;

  @ApiProperty()
  description: string;

  @ApiProperty()
  architecture: ModelArchitectureDto;

  @ApiProperty({ type: [ModelEndpointDto] })
  endpoints: ModelEndpointDto[];
}

export class ModelEndpointsResponseDto {
  @ApiProperty()
  data: ModelEndpointsDto;
}

export interface ReportedEndpoint {
  readonly endpoint: ModelEndpoint;
  readonly report: EndpointReport;
}

export function toModelEndpointsDto(
  model: CatalogueModel,
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
  model: CatalogueModel,
  { endpoint, report }: ReportedEndpoint,
  day: string,
): ModelEndpointDto {
  return {
    name: `${report.providerName} | ${model.id}`,
    model_id: model.id,
    model_name: model.name,
    provider_name: report.providerName,
    tag: endpointTag(endpoint),
    context_length: Math.min(model.contextLength, endpoint.maxTokensPerInput),
    pricing: toPricingDto(priceOn(endpoint, day)),
    quantization: endpoint.quantization,
    max_completion_tokens: null,
    max_prompt_tokens: endpoint.maxTokensPerInput,
    supported_parameters: supportedParameters(model),
    supports_implicit_caching: false,
    supports_tool_choice: { auto: false, none: false, required: false, function: false },
    supports_voice_cloning: false,
    uptime_last_5m: percent(report.uptime.fiveMinutes),
    uptime_last_30m: percent(report.uptime.halfAnHour),
    uptime_last_1d: percent(report.uptime.day),
    latency_last_30m: percentiles(report.latency, 1_000),
    throughput_last_30m: percentiles(report.throughput, 1),
    status: STATUSES[report.state],
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

function rounded(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}
