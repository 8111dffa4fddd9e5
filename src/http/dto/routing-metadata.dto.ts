// `openrouter_metadata` on the wire. Source: contract section 5.
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { RoutingMetadata } from '../../domain/embeddings/routing-metadata.js';

class AvailableEndpointDto {
  @ApiProperty()
  provider: string;

  @ApiProperty()
  model: string;

  @ApiProperty({ description: 'Whether it served the call, or a part of it.' })
  selected: boolean;
}

class RoutingEndpointsDto {
  @ApiProperty({ type: 'integer' })
  total: number;

  @ApiProperty({ type: [AvailableEndpointDto] })
  available: AvailableEndpointDto[];
}

class RoutingAttemptDto {
  @ApiProperty()
  provider: string;

  @ApiProperty()
  model: string;

  @ApiProperty({ type: 'integer', description: "The provider's status; 0 when no answer came." })
  status: number;
}

export class RoutingMetadataDto {
  @ApiProperty({ description: 'The model that was asked for.' })
  requested: string;

  @ApiProperty({ enum: ['direct', 'fallback'] })
  strategy: string;

  @ApiProperty({ type: String, nullable: true })
  region: string | null;

  @ApiProperty()
  summary: string;

  @ApiProperty({ type: 'integer', description: 'Calls made to providers; 0: none was reached.' })
  attempt: number;

  @ApiProperty({ description: 'Whether an own provider key was used.' })
  is_byok: boolean;

  @ApiProperty()
  endpoints: RoutingEndpointsDto;

  @ApiProperty({ type: [RoutingAttemptDto] })
  attempts: RoutingAttemptDto[];

  @ApiPropertyOptional({ type: 'integer', description: 'Milliseconds.' })
  generation_time?: number;
}

export function toRoutingMetadataDto(metadata: RoutingMetadata): RoutingMetadataDto {
  return {
    requested: metadata.requested,
    strategy: metadata.strategy,
    // This build serves no region in particular.
    region: null,
    summary: metadata.summary,
    attempt: metadata.attempt,
    is_byok: metadata.isByok,
    endpoints: { total: metadata.endpoints.length, available: [...metadata.endpoints] },
    attempts: [...metadata.attempts],
    ...(metadata.generationTime === null ? {} : { generation_time: metadata.generationTime }),
  };
}
