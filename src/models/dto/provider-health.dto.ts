// The health of providers on the wire: an extension of the contract. Contract: docs/contract.md#models.
import { ListField, ObjectField } from '../../http/fields/compound-fields.js';
import { IntegerField, TextField } from '../../http/fields/scalar-fields.js';
import type { Provider } from '../../providers/shared/provider.js';
import type { ProviderHealth } from '../provider-health.js';
import { LastFailureDto, toLastFailureDto } from './endpoints.dto.js';
import { toMilliseconds } from './model-endpoints.dto.js';

export class ProviderHealthDto {
  @TextField({ example: 'openai' }) provider: string;
  @TextField({ example: 'OpenAI' }) provider_name: string;
  @IntegerField({ description: 'Endpoints in the catalogue.' }) endpoints: number;
  @IntegerField({ description: 'Endpoints with a credential and an address.' }) configured_endpoints: number;
  @IntegerField({ description: 'Endpoints whose circuit breaker is open: routing skips them.' })
  open_endpoints: number;
  @ListField(Number, {
    nullable: true,
    example: [120, 840],
    description: 'Milliseconds: the lowest and the highest median of an endpoint; null: no recent call.',
  })
  latency_last_30m: number[] | null;
  @ObjectField(LastFailureDto, {
    nullable: true,
    description: 'The newest failure that counts against an endpoint or its credential.',
  })
  last_failure: LastFailureDto | null;
}

export function toProviderHealthDto({
  provider,
  health,
}: {
  readonly provider: Provider;
  readonly health: ProviderHealth;
}): ProviderHealthDto {
  return {
    provider: provider.slug,
    provider_name: provider.name,
    endpoints: health.endpoints,
    configured_endpoints: health.configured,
    open_endpoints: health.open,
    latency_last_30m: health.latency && health.latency.map(toMilliseconds),
    last_failure: toLastFailureDto(health.lastFailure),
  };
}
