// `openrouter_metadata` on the wire. Contract: docs/contract.md#embeddings-response.
import { FILTER_ACTIONS } from '../../domain/guardrails/content-filter.js';
import { GUARDRAIL_SCOPES } from '../../domain/guardrails/guardrail-hit.js';
import type { GuardrailHit } from '../../domain/guardrails/guardrail-hit.js';
import type { RoutingMetadata } from '../../domain/providers/routing-metadata.js';
import { ListField, ObjectField, ObjectListField } from '../fields/compound-fields.js';
import { EnumField, FlagField, IntegerField, TextField } from '../fields/scalar-fields.js';

class AvailableEndpointDto {
  @TextField() provider: string;
  @TextField() model: string;
  @FlagField({ description: 'Whether it served the call or a part of it.' }) selected: boolean;
}

class RoutingEndpointsDto {
  @IntegerField() total: number;
  @ObjectListField(AvailableEndpointDto) available: AvailableEndpointDto[];
}

class RoutingAttemptDto {
  @TextField() provider: string;
  @TextField() model: string;
  @IntegerField({ description: "The provider's HTTP status; 0: no response." }) status: number;
}

class PassedOverKeyDto {
  @TextField({ description: "The provider's slug." }) provider: string;
  @EnumField(['used_up', 'refused', 'rate_limited', 'unsupported', 'unavailable']) reason: string;
}

class PipelineDataDto {
  @EnumField(FILTER_ACTIONS) action: string;
  @IntegerField() matches: number;
}

class PipelineStepDto {
  @EnumField(['guardrail']) type: string;
  @TextField({ description: 'The name of the guardrail.' }) name: string;
  @TextField() guardrail_id: string;
  @EnumField(GUARDRAIL_SCOPES) guardrail_scope: string;
  @TextField() summary: string;
  @ObjectField(PipelineDataDto) data: PipelineDataDto;
}

export class RoutingMetadataDto {
  @TextField({ description: 'The requested model.' }) requested: string;
  @EnumField(['direct', 'fallback']) strategy: string;
  @TextField({ nullable: true }) region: string | null;
  @TextField() summary: string;
  @IntegerField({ description: 'Number of calls to providers; 0: none was reached.' }) attempt: number;
  @FlagField({ description: 'Whether an own provider key was used.' }) is_byok: boolean;
  @ObjectField(RoutingEndpointsDto) endpoints: RoutingEndpointsDto;
  @ObjectListField(RoutingAttemptDto) attempts: RoutingAttemptDto[];
  @ObjectListField(PassedOverKeyDto, {
    optional: true,
    description: "Own provider keys that the operator's credential replaced. Absent: none.",
  })
  own_keys_passed_over?: PassedOverKeyDto[];
  @ListField(String, {
    optional: true,
    description: 'Members of the request that the serving endpoint does not take. Absent: none.',
  })
  edits?: string[];
  @ObjectListField(PipelineStepDto, {
    optional: true,
    description: 'Matches that content filters of guardrails replaced or counted. Absent: none.',
  })
  pipeline?: PipelineStepDto[];
  @IntegerField({ optional: true, description: 'Milliseconds.' }) generation_time?: number;
}

function toPipelineStepDto({ id, name, scope, filter, action, count }: GuardrailHit): PipelineStepDto {
  return {
    type: 'guardrail',
    name,
    guardrail_id: id,
    guardrail_scope: scope,
    summary: `${filter}: ${action} ${count}`,
    data: { action, matches: count },
  };
}

export function toRoutingMetadataDto(metadata: RoutingMetadata): RoutingMetadataDto {
  return {
    requested: metadata.requested,
    strategy: metadata.strategy,
    // A deployment is not bound to a region.
    region: null,
    summary: metadata.summary,
    attempt: metadata.attempt,
    is_byok: metadata.isByok,
    endpoints: { total: metadata.endpoints.length, available: [...metadata.endpoints] },
    attempts: [...metadata.attempts],
    ...(metadata.passedOver.length === 0 ? {} : { own_keys_passed_over: [...metadata.passedOver] }),
    ...(metadata.edits.length === 0 ? {} : { edits: [...metadata.edits] }),
    ...(metadata.hits.length === 0 ? {} : { pipeline: metadata.hits.map(toPipelineStepDto) }),
    ...(metadata.generationTime === null ? {} : { generation_time: metadata.generationTime }),
  };
}
