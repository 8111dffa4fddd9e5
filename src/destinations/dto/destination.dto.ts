// A destination record on the wire. Source: interface "Destination record"; contract 2.3.
import { ApiProperty, getSchemaPath } from '@nestjs/swagger';
import { maskConfig } from '../../destination-kinds/shared/destination-kind.js';
import {
  DESTINATION_KINDS,
  DESTINATION_TYPES,
  requireDestinationKind,
} from '../../destination-kinds/index.js';
import { REGIONS } from '../../domain/destinations/destination.js';
import type { Destination } from '../../domain/destinations/destination.js';
import { FilterRulesDto } from './filter-rules.dto.js';

const CONFIG_SCHEMAS = DESTINATION_KINDS.map((kind) => ({ $ref: getSchemaPath(kind.configClass) }));

export class DestinationDto {
  @ApiProperty({ format: 'uuid' })
  id: string;

  @ApiProperty({ format: 'uuid' })
  workspace_id: string;

  @ApiProperty({ type: String, nullable: true })
  name: string | null;

  @ApiProperty({
    enum: DESTINATION_TYPES,
    description: 'The spelling that the destination was created with.',
  })
  type: string;

  @ApiProperty({ anyOf: CONFIG_SCHEMAS, description: 'Secret values are shown abbreviated.' })
  config: object;

  @ApiProperty()
  enabled: boolean;

  @ApiProperty()
  privacy_mode: boolean;

  @ApiProperty()
  broadcast_generation_cost: boolean;

  @ApiProperty()
  broadcast_generation_identity: boolean;

  @ApiProperty()
  broadcast_generation_request_context: boolean;

  @ApiProperty({ format: 'double', minimum: 0.0001, maximum: 1 })
  sampling_rate: number;

  @ApiProperty({ type: [String], nullable: true })
  api_key_hashes: readonly string[] | null;

  @ApiProperty({ type: FilterRulesDto, nullable: true })
  filter_rules: object | null;

  @ApiProperty({ type: [String], enum: REGIONS })
  regions: readonly string[];

  @ApiProperty({ format: 'date-time' })
  created_at: string;

  @ApiProperty({ format: 'date-time' })
  updated_at: string;
}

export class DestinationResponseDto {
  @ApiProperty()
  data: DestinationDto;
}

export class DestinationsResponseDto {
  @ApiProperty({ type: [DestinationDto], description: 'Newest first.' })
  data: DestinationDto[];

  @ApiProperty({ type: 'integer' })
  total_count: number;
}

export function toDestinationDto(destination: Destination): DestinationDto {
  return {
    id: destination.id,
    workspace_id: destination.workspaceId,
    name: destination.name,
    type: destination.type,
    config: maskConfig(requireDestinationKind(destination.kind), destination.config),
    enabled: destination.enabled,
    privacy_mode: destination.privacyMode,
    broadcast_generation_cost: destination.broadcastCost,
    broadcast_generation_identity: destination.broadcastIdentity,
    broadcast_generation_request_context: destination.broadcastRequestContext,
    sampling_rate: destination.samplingRate,
    api_key_hashes: destination.apiKeyHashes,
    filter_rules: destination.filterRules,
    regions: destination.regions,
    created_at: destination.createdAt.toISOString(),
    updated_at: destination.updatedAt.toISOString(),
  };
}
