// What a key can read about itself. Source: contract 3.3.
import { ApiProperty } from '@nestjs/swagger';
import type { ApiKeyWithSpend } from '../../domain/keys/api-key.js';
import { REGIONS } from '../../domain/destinations/destination.js';
import { KeyUsageDto, toKeyUsageDto } from './api-key.dto.js';

class LegacyRateLimitDto {
  @ApiProperty({ type: 'integer', description: 'Always -1.' })
  requests: number;

  @ApiProperty()
  interval: string;

  @ApiProperty()
  note: string;
}

class FreeModelRequestsDto {
  @ApiProperty({ type: 'integer' })
  limit: number;

  @ApiProperty({ type: 'integer' })
  remaining: number;

  @ApiProperty({ type: 'integer' })
  used: number;
}

class CurrentKeyDto extends KeyUsageDto {
  @ApiProperty({ description: 'False: this service has no free tier.' })
  is_free_tier: boolean;

  @ApiProperty({ deprecated: true, description: 'The same as is_management_key.' })
  is_provisioning_key: boolean;

  @ApiProperty({ deprecated: true })
  rate_limit: LegacyRateLimitDto;

  @ApiProperty({ type: [String], enum: REGIONS })
  allowed_data_regions: readonly string[];

  @ApiProperty({ description: 'Always 0: no model of this service is free for a number of requests.' })
  free_model_daily_requests: FreeModelRequestsDto;

  @ApiProperty({ type: String, nullable: true, description: 'Null: this service has no organizations.' })
  organization_id: string | null;
}

export class CurrentKeyResponseDto {
  @ApiProperty()
  data: CurrentKeyDto;
}

export function toCurrentKeyDto(found: ApiKeyWithSpend): CurrentKeyDto {
  const usage = toKeyUsageDto(found);
  return {
    ...usage,
    is_free_tier: false,
    is_provisioning_key: usage.is_management_key,
    rate_limit: { requests: -1, interval: '10s', note: 'This field is deprecated and safe to ignore.' },
    // This build serves no region in particular.
    allowed_data_regions: ['global'],
    free_model_daily_requests: { limit: 0, remaining: 0, used: 0 },
    organization_id: null,
  };
}
