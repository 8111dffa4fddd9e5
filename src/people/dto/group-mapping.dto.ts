// Roles by groups on the wire. Contract: docs/contract.md#people.
import { MAX_GROUP_NAME } from '../../domain/people/claims.js';
import type { GroupMapping } from '../../domain/people/group-roles.js';
import { ACCOUNT_ROLES, WORKSPACE_ROLES } from '../../domain/people/person.js';
import { EnumField, TextField, TimeField, UuidField } from '../../http/fields/scalar-fields.js';

const ROLES = [...new Set<string>([...ACCOUNT_ROLES, ...WORKSPACE_ROLES])];
const WORKSPACE = 'Null: the role is for the whole account.';

export class GroupMappingDto {
  @UuidField() id: string;
  @TextField({ example: 'https://id.example.com' }) issuer: string;
  @TextField({ example: 'platform-team' }) group: string;
  @UuidField({ nullable: true, description: WORKSPACE }) workspace_id: string | null;
  @EnumField(ROLES) role: string;
  @TimeField() created_at: string;
}

export class CreateGroupMappingDto {
  @TextField({
    minLength: 1,
    maxLength: 1_000,
    example: 'https://id.example.com',
    description: 'An issuer of the configuration, where it names one.',
  })
  issuer: string;

  @TextField({
    minLength: 1,
    maxLength: MAX_GROUP_NAME,
    example: 'platform-team',
    description: 'The name, or the id, in the groups claim. Compared byte by byte.',
  })
  group: string;

  @UuidField({ optional: true, nullable: true, description: WORKSPACE })
  workspace_id?: string | null;

  @EnumField(ROLES, {
    description:
      'Of the account owner, admin, developer or viewer; of a workspace admin, member or viewer. At most the own role.',
  })
  role: string;
}

export function toGroupMappingDto(mapping: GroupMapping): GroupMappingDto {
  return {
    id: mapping.id,
    issuer: mapping.issuer,
    group: mapping.group,
    workspace_id: mapping.workspaceId,
    role: mapping.role,
    created_at: mapping.createdAt.toISOString(),
  };
}
