// All endpoints with their health on the wire: an extension of the contract. Contract: docs/contract.md#models.
import { endpointTag } from '../../catalogue/catalogue-model.js';
import { PageQueryDto } from '../../http/dto/page-query.dto.js';
import { ObjectField } from '../../http/fields/compound-fields.js';
import {
  DayField,
  EnumField,
  IntegerField,
  QueryFlagField,
  TextField,
  TimeField,
} from '../../http/fields/scalar-fields.js';
import type { EndpointReport } from '../../routing/endpoint-reports.js';
import { PercentilesDto, toFiguresDto, UptimeField } from './model-endpoints.dto.js';
import type { ReportedEndpoint } from './model-endpoints.dto.js';
import type { ListedModel } from '../listed-model.js';
import { PricingDto, toPricingDto } from './model.dto.js';

export class EndpointsQueryDto extends PageQueryDto {
  @TextField({
    optional: true,
    hiddenMaxLength: 256,
    description: 'Only endpoints of this provider: its slug, name or alias.',
  })
  provider?: string;

  @TextField({
    optional: true,
    hiddenMaxLength: 256,
    description: 'Only endpoints of this model: its id or an alias.',
  })
  model?: string;

  @QueryFlagField({
    default: true,
    description: 'Whether to leave out endpoints without a credential or address.',
  })
  configured: boolean = true;
}

export class LastFailureDto {
  @TimeField() at: string;
  @TextField({ example: 'overloaded', description: 'The class of the failure (docs/contract.md#routing).' })
  class: string;
  @IntegerField({ nullable: true, description: 'HTTP status; null: no response.' }) status: number | null;
}

export class EndpointDto {
  @TextField({ description: "The tag and the provider's own name of the model." }) endpoint_id: string;
  @TextField({ description: 'The name in provider preferences.', example: 'openai' }) tag: string;
  @TextField({ example: 'openai' }) provider: string;
  @TextField({ example: 'OpenAI' }) provider_name: string;
  @TextField() model: string;
  @TextField() model_name: string;
  @EnumField(['serving', 'open', 'unconfigured'], {
    description:
      '`open`: its circuit breaker is open, and routing skips it. `unconfigured`: it has no credential or address.',
  })
  state: string;
  @ObjectField(PricingDto) pricing: PricingDto;
  @DayField({ nullable: true, description: 'The first UTC day of the price; null: the price is unknown.' })
  price_from: string | null;
  @UptimeField() uptime_last_5m: number | null;
  @UptimeField() uptime_last_30m: number | null;
  @UptimeField() uptime_last_1d: number | null;
  @ObjectField(PercentilesDto, { nullable: true, description: 'Milliseconds of the newest 500 calls.' })
  latency_last_30m: PercentilesDto | null;
  @ObjectField(PercentilesDto, { nullable: true, description: 'Tokens per second, fastest first.' })
  throughput_last_30m: PercentilesDto | null;
  @ObjectField(LastFailureDto, {
    nullable: true,
    description: 'The last failure that counts against the endpoint or its credential.',
  })
  last_failure: LastFailureDto | null;
}

const STATES = { serving: 'serving', out: 'open', unconfigured: 'unconfigured' } as const;

export function toEndpointDto(
  { model, endpoint, report }: ReportedEndpoint & { readonly model: ListedModel },
  day: string,
): EndpointDto {
  const days = endpoint.prices.map(({ effectiveFrom }) => effectiveFrom).filter((from) => from <= day);
  return {
    endpoint_id: `${endpointTag(endpoint)}/${endpoint.upstreamModel}`,
    tag: endpointTag(endpoint),
    provider: endpoint.provider,
    provider_name: report.providerName,
    model: model.id,
    model_name: model.name,
    state: STATES[report.state],
    pricing: toPricingDto(endpoint, day),
    price_from: days.toSorted().at(-1) ?? null,
    ...toFiguresDto(report),
    last_failure: toLastFailureDto(report.lastFailure),
  };
}

export function toLastFailureDto(failure: EndpointReport['lastFailure']): LastFailureDto | null {
  return failure && { at: failure.at.toISOString(), class: failure.failureClass, status: failure.status };
}
