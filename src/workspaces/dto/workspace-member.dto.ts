// Members of a workspace on the wire. Contract: docs/contract.md#workspaces.
import { IsString, Matches } from 'class-validator';
import { WORKSPACE_ROLES } from '../../domain/people/person.js';
import type { WorkspaceRole } from '../../domain/people/person.js';
import type { WorkspaceMember } from '../../domain/workspace.js';
import { ListField, ObjectListField } from '../../http/fields/compound-fields.js';
import { EnumField, IntegerField, TextField, TimeField, UuidField } from '../../http/fields/scalar-fields.js';

export class WorkspaceMemberDto {
  @UuidField() id: string;
  @UuidField() workspace_id: string;
  @TextField({ example: 'user_2dHFtVWx2n56w6HkM0000000000' }) user_id: string;
  @EnumField(WORKSPACE_ROLES) role: string;
  @TimeField() created_at: string;
}

export class MembersAddedDto {
  @IntegerField() added_count: number;
  @ObjectListField(WorkspaceMemberDto, { description: 'The new members.' }) data: WorkspaceMemberDto[];
}

export class MembersRemovedDto {
  @IntegerField() removed_count: number;
}

const UserIdsField = (): PropertyDecorator =>
  ListField(String, {
    minItems: 1,
    maxItems: 100,
    rules: [
      IsString({ each: true, message: 'must hold strings' }),
      Matches(/^[\x21-\x7e]{1,256}$/, {
        each: true,
        message: 'must hold names of 1 to 256 printable ASCII characters without spaces',
      }),
    ],
    example: ['user_abc123'],
  });

export class AddMembersDto {
  @UserIdsField()
  user_ids: string[];

  @EnumField(WORKSPACE_ROLES, {
    default: 'member',
    description: 'The role of new members. Existing members keep their role.',
  })
  role: WorkspaceRole = 'member';
}

export class RemoveMembersDto {
  @UserIdsField()
  user_ids: string[];
}

export function toWorkspaceMemberDto(member: WorkspaceMember): WorkspaceMemberDto {
  return {
    id: member.id,
    workspace_id: member.workspaceId,
    user_id: member.userId,
    role: member.role,
    created_at: member.createdAt.toISOString(),
  };
}
