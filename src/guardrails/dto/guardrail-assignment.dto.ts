// Assignments of guardrails on the wire. Contract: docs/contract.md#guardrails.
import { IsString, Matches } from 'class-validator';
import type {
  GuardrailAssignment,
  KeyAssignment,
  MemberAssignment,
} from '../../domain/guardrails/guardrail.js';
import { KEY_HASH } from '../../domain/keys/api-key.js';
import { ListField } from '../../http/fields/compound-fields.js';
import { IntegerField, TextField, TimeField, UuidField } from '../../http/fields/scalar-fields.js';

const ASSIGNED_BY = { nullable: true, description: 'Always null: assigned with a management key.' } as const;
const MAX_NAMES = 100;

export class KeyAssignmentDto {
  @UuidField() id: string;
  @UuidField() guardrail_id: string;
  @TextField() key_hash: string;
  @TextField() key_name: string;
  @TextField() key_label: string;
  @TextField(ASSIGNED_BY) assigned_by: string | null;
  @TimeField() created_at: string;
}

export class MemberAssignmentDto {
  @UuidField() id: string;
  @UuidField() guardrail_id: string;
  @TextField({ example: 'user_abc123' }) user_id: string;
  @UuidField({ description: 'The account.' }) organization_id: string;
  @TextField(ASSIGNED_BY) assigned_by: string | null;
  @TimeField() created_at: string;
}

export class AssignedCountDto {
  @IntegerField({ description: 'Assignments that are new or had another guardrail.' }) assigned_count: number;
}

export class UnassignedCountDto {
  @IntegerField() unassigned_count: number;
}

export class KeyHashesDto {
  @ListField(String, {
    minItems: 1,
    maxItems: MAX_NAMES,
    rules: [
      IsString({ each: true, message: 'must hold strings' }),
      Matches(KEY_HASH, { each: true, message: 'must hold hashes of 64 lower-case hexadecimal digits' }),
    ],
  })
  key_hashes: string[];
}

export class MemberUserIdsDto {
  @ListField(String, {
    minItems: 1,
    maxItems: MAX_NAMES,
    rules: [
      IsString({ each: true, message: 'must hold strings' }),
      Matches(/^[\x21-\x7e]{1,256}$/, { each: true, message: 'must hold user ids of members' }),
    ],
    example: ['user_abc123'],
  })
  member_user_ids: string[];
}

export function toKeyAssignmentDto(assignment: KeyAssignment): KeyAssignmentDto {
  const { id, guardrailId, hash, name, label, createdAt, assignedBy } = assignment;
  return {
    id,
    guardrail_id: guardrailId,
    key_hash: hash,
    key_name: name,
    key_label: label,
    assigned_by: assignedBy,
    created_at: createdAt.toISOString(),
  };
}

export function toMemberAssignmentDto(assignment: MemberAssignment): MemberAssignmentDto {
  const { id, guardrailId, userId, accountId, createdAt, assignedBy } = assignment;
  return {
    id,
    guardrail_id: guardrailId,
    user_id: userId,
    organization_id: accountId,
    assigned_by: assignedBy,
    created_at: createdAt.toISOString(),
  };
}

export function toAssignmentDto(assignment: GuardrailAssignment): KeyAssignmentDto | MemberAssignmentDto {
  return assignment.subject === 'api_key'
    ? toKeyAssignmentDto(assignment)
    : toMemberAssignmentDto(assignment);
}
