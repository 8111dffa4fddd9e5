// The record of the key that authenticates the request. Contract: docs/contract.md#api-keys.
import type { ApiKeyState } from '../../domain/keys/api-key.js';
import { REGIONS } from '../../domain/destinations/destination.js';
import { ListField, ObjectField } from '../../http/fields/compound-fields.js';
import { FlagField, IntegerField, TextField } from '../../http/fields/scalar-fields.js';
import { KeyUsageDto, toKeyUsageDto } from './api-key.dto.js';

class LegacyRateLimitDto {
  @IntegerField({ description: 'Always -1.' }) requests: number;
  @TextField() interval: string;
  @TextField() note: string;
}

class FreeModelRequestsDto {
  @IntegerField() limit: number;
  @IntegerField() remaining: number;
  @IntegerField() used: number;
}

export class CurrentKeyDto extends KeyUsageDto {
  @FlagField({ description: 'Always false: this service has no free tier.' }) is_free_tier: boolean;
  @FlagField({ deprecated: true, description: 'Equals is_management_key.' }) is_provisioning_key: boolean;
  @ObjectField(LegacyRateLimitDto, { deprecated: true }) rate_limit: LegacyRateLimitDto;
  @ListField(String, { values: REGIONS }) allowed_data_regions: readonly string[];
  @ObjectField(FreeModelRequestsDto, { description: 'Always 0: this service has no free requests.' })
  free_model_daily_requests: FreeModelRequestsDto;
  @TextField({ nullable: true, description: 'Always null: this service has no organizations.' })
  organization_id: string | null;
}

export function toCurrentKeyDto(state: ApiKeyState): CurrentKeyDto {
  const usage = toKeyUsageDto(state);
  return {
    ...usage,
    is_free_tier: false,
    is_provisioning_key: usage.is_management_key,
    rate_limit: { requests: -1, interval: '10s', note: 'This field is deprecated and safe to ignore.' },
    // A deployment is not bound to a region.
    allowed_data_regions: ['global'],
    free_model_daily_requests: { limit: 0, remaining: 0, used: 0 },
    organization_id: null,
  };
}
