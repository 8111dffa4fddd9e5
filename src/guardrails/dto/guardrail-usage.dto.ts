// How guardrails are used, on the wire: an extension of the contract (docs/contract.md#guardrails).
import { FILTER_ACTIONS } from '../../domain/guardrails/content-filter.js';
import type { FilterAction } from '../../domain/guardrails/content-filter.js';
import type { GuardrailUsage } from '../../domain/guardrails/guardrail-hit.js';
import { ObjectListField } from '../../http/fields/compound-fields.js';
import {
  EnumField,
  IntegerField,
  TextField,
  UuidField,
  WorkspaceIdField,
} from '../../http/fields/scalar-fields.js';

class FilterHitsDto {
  @TextField({ description: 'Label or slug of the filter, else its index.' }) filter: string;
  @EnumField(FILTER_ACTIONS) action: FilterAction;
  @IntegerField({ description: 'Matches, of refused calls as well.' }) count: number;
}

export class GuardrailUsageDto {
  @UuidField() guardrail_id: string;
  @IntegerField({ description: 'Keys that it is assigned to.' }) key_count: number;
  @IntegerField({ description: 'Members that it is assigned to.' }) member_count: number;
  @ObjectListField(FilterHitsDto, { description: 'Of today and the six UTC days before, the most first.' })
  hits: FilterHitsDto[];
}

export class GuardrailUsageQueryDto {
  @WorkspaceIdField() workspace_id?: string;
}

export function toGuardrailUsageDto({
  guardrailId,
  keyCount,
  memberCount,
  hits,
}: GuardrailUsage): GuardrailUsageDto {
  return {
    guardrail_id: guardrailId,
    key_count: keyCount,
    member_count: memberCount,
    hits: hits.map(({ filter, action, hits: count }) => ({ filter, action, count })),
  };
}
