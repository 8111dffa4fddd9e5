// People of the account on the wire. Contract: docs/contract.md#people.
import { ACCOUNT_ROLES, hasRole, WORKSPACE_ROLES } from '../../domain/people/person.js';
import type { AccountRole, Person } from '../../domain/people/person.js';
import { ObjectField, ObjectListField } from '../../http/fields/compound-fields.js';
import { FlagField, EnumField, TextField, TimeField, UuidField } from '../../http/fields/scalar-fields.js';

const STATES = ['active', 'waiting', 'disabled'] as const;
type State = (typeof STATES)[number];
const NO_ROLE = 'Null: none.';

class AccountRoleSourcesDto {
  @EnumField([...ACCOUNT_ROLES, null], { nullable: true, description: 'Given by PATCH.' })
  hand: string | null;

  @EnumField([...ACCOUNT_ROLES, null], { nullable: true, description: 'By groups at the last sign-in.' })
  group: string | null;
}

class WorkspaceRoleSourcesDto {
  @EnumField([...WORKSPACE_ROLES, null], {
    nullable: true,
    description: 'Given as a member of the workspace.',
  })
  hand: string | null;

  @EnumField([...WORKSPACE_ROLES, null], { nullable: true, description: 'By groups at the last sign-in.' })
  group: string | null;
}

class PersonWorkspaceDto {
  @UuidField() workspace_id: string;
  @EnumField(WORKSPACE_ROLES) role: string;
  @ObjectField(WorkspaceRoleSourcesDto) role_sources: WorkspaceRoleSourcesDto;
}

export class OrganizationMemberDto {
  @TextField({ example: 'usr_0123456789abcdef0123456789abcdef' }) id: string;

  @TextField({ description: 'For display. Empty: the issuer states none.' }) email: string;
  @TextField({ nullable: true }) first_name: string | null;
  @TextField({ nullable: true }) last_name: string | null;

  @EnumField(['org:admin', 'org:member'], { description: 'Owners and admins are `org:admin`.' })
  role: string;

  @EnumField([...ACCOUNT_ROLES, null], {
    nullable: true,
    description: `The role for the whole account, the higher of its sources. ${NO_ROLE}`,
  })
  account_role: string | null;

  @ObjectField(AccountRoleSourcesDto) account_role_sources: AccountRoleSourcesDto;

  @EnumField(STATES, { description: '`waiting`: without any role, the person can do nothing.' })
  state: string;

  @TextField({ description: 'The identity provider that signs the person in.' }) issuer: string;
  @TimeField() created_at: string;
  @TimeField({ nullable: true }) last_sign_in_at: string | null;

  @TimeField({ nullable: true, description: 'The keys that the person has made stop at this time.' })
  keys_valid_until: string | null;

  @ObjectListField(PersonWorkspaceDto) workspaces: PersonWorkspaceDto[];
}

export class UpdateOrganizationMemberDto {
  @EnumField([...ACCOUNT_ROLES, null], {
    optional: true,
    nullable: true,
    description: 'The role given by hand; null removes it. A role by groups stays.',
  })
  account_role?: AccountRole | null;

  @FlagField({
    optional: true,
    description: 'True ends the sessions of the person and stops the keys that the person has made.',
  })
  disabled?: boolean;
}

export function toOrganizationMemberDto(person: Person): OrganizationMemberDto {
  const { accountRole, accountRoleSources, workspaceRoles, workspaceRoleSources } = person;
  return {
    id: person.id,
    email: person.email ?? '',
    first_name: person.firstName,
    last_name: person.lastName,
    role: accountRole === 'owner' || accountRole === 'admin' ? 'org:admin' : 'org:member',
    account_role: accountRole,
    account_role_sources: { hand: accountRoleSources.byHand, group: accountRoleSources.byGroup },
    state: stateOf(person),
    issuer: person.issuer,
    created_at: person.createdAt.toISOString(),
    last_sign_in_at: person.lastSignInAt?.toISOString() ?? null,
    keys_valid_until: person.keysValidUntil?.toISOString() ?? null,
    workspaces: [...workspaceRoles].map(([workspaceId, role]) => {
      const sources = workspaceRoleSources.get(workspaceId);
      return {
        workspace_id: workspaceId,
        role,
        role_sources: { hand: sources?.byHand ?? null, group: sources?.byGroup ?? null },
      };
    }),
  };
}

function stateOf(person: Person): State {
  if (person.disabledAt !== null) return 'disabled';
  return hasRole(person) ? 'active' : 'waiting';
}
