// A destination record on the wire. Contract: docs/contract.md#destinations.
import { getSchemaPath } from '@nestjs/swagger';
import { IsObject } from 'class-validator';
import {
  DESTINATION_KINDS,
  DESTINATION_TYPES,
  requireDestinationKind,
} from '../../destination-kinds/index.js';
import { maskConfig } from '../../destination-kinds/shared/destination-kind.js';
import { REGIONS } from '../../domain/destinations/destination.js';
import type { Destination } from '../../domain/destinations/destination.js';
import { PageQueryDto } from '../../http/dto/page-query.dto.js';
import { CustomField, ListField, ObjectField } from '../../http/fields/compound-fields.js';
import {
  EnumField,
  FlagField,
  NumberField,
  TextField,
  TimeField,
  UuidField,
  WorkspaceIdField,
} from '../../http/fields/scalar-fields.js';
import { FilterRulesDto } from './filter-rules.dto.js';

const CONFIG_SCHEMAS = DESTINATION_KINDS.map((kind) => ({ $ref: getSchemaPath(kind.configClass) }));

export class DestinationDto {
  @UuidField() id: string;
  @UuidField() workspace_id: string;
  @TextField({ nullable: true }) name: string | null;
  @EnumField(DESTINATION_TYPES, { description: 'The spelling that the destination was created with.' })
  type: string;
  @CustomField(
    { anyOf: CONFIG_SCHEMAS },
    { rules: [IsObject()], description: 'Secret values are abbreviated.' },
  )
  config: object;
  @FlagField() enabled: boolean;
  @FlagField() privacy_mode: boolean;
  @FlagField() broadcast_generation_cost: boolean;
  @FlagField() broadcast_generation_identity: boolean;
  @FlagField() broadcast_generation_request_context: boolean;
  @NumberField({ format: 'double', minimum: 0.0001, maximum: 1 }) sampling_rate: number;
  @ListField(String, { nullable: true }) api_key_hashes: readonly string[] | null;
  @ObjectField(FilterRulesDto, { nullable: true }) filter_rules: object | null;
  @ListField(String, { values: REGIONS }) regions: readonly string[];
  @TimeField() created_at: string;
  @TimeField() updated_at: string;
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

/** The query of GET /observability/destinations. */
export class DestinationsQueryDto extends PageQueryDto {
  @WorkspaceIdField()
  workspace_id?: string;
}
