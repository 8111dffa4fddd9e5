// A session of the console on the wire. Contract: docs/contract.md#console.
import type { ApiKey } from '../../domain/keys/api-key.js';
import type { KeySession, PersonSession, SessionPerson } from '../../domain/people/console-session.js';
import type { ManagerReach } from '../../domain/people/manager.js';
import type { AccountRole, Person, WorkspaceRole } from '../../domain/people/person.js';
import { reachOf, RIGHTS } from '../../domain/people/rights.js';
import type { Right } from '../../domain/people/rights.js';
import { SecretField } from '../../http/fields/scalar-fields.js';
import type { AccountNames, AccountPlace } from '../../persistence/workspaces/accounts.repository.js';

/** Milliseconds before its end in which the console renews the session of a person. */
const RENEWAL = 5 * 60_000;

export class SignInDto {
  @SecretField({ minLength: 1, maxLength: 1_000, description: 'A management key, or an inference key.' })
  key: string;
}

interface AnySessionDto {
  readonly account_id: string;
  readonly account_name: string;
  readonly workspace_id: string | null;
  readonly workspace_name: string | null;
  /** Whether the key or person may change the catalogue: the account operates the service. */
  readonly can_change_catalogue: boolean;
  readonly created_at: string;
  readonly expires_at: string;
}

export interface KeySessionDto extends AnySessionDto {
  readonly kind: ApiKey['kind'];
  readonly is_management_key: boolean;
  readonly key_hash: string;
  readonly key_name: string;
  readonly key_label: string;
}

interface ReachDto {
  /** Null: the whole account. */
  readonly workspace_ids: readonly string[] | null;
  /** Beside them what belongs to the keys that the person has made; null: no others. */
  readonly own: { readonly workspace_ids: readonly string[] | null } | null;
}

export interface PersonSessionDto extends AnySessionDto {
  readonly kind: 'person';
  readonly is_management_key: false;
  readonly person: {
    readonly id: string;
    readonly email: string | null;
    readonly first_name: string | null;
    readonly last_name: string | null;
  };
  readonly account_role: AccountRole | null;
  readonly workspaces: readonly { readonly workspace_id: string; readonly role: WorkspaceRole }[];
  /** Those that the person has. Empty: the person waits for a role. */
  readonly rights: Partial<Readonly<Record<Right, ReachDto>>>;
  /** The provider that renews the session; null: it is configured no longer. */
  readonly provider_id: string | null;
  readonly renew_at: string;
}

export type SessionDto = KeySessionDto | PersonSessionDto;

export function toKeySessionDto(
  key: ApiKey,
  session: KeySession,
  { names, isOperator }: { readonly names: AccountNames; readonly isOperator: boolean },
): KeySessionDto {
  return {
    kind: key.kind,
    is_management_key: key.kind === 'management',
    key_hash: key.hash,
    key_name: key.name,
    key_label: key.label,
    account_id: key.accountId,
    account_name: names.account,
    workspace_id: key.workspaceId,
    workspace_name: names.workspace,
    can_change_catalogue: isOperator && key.kind === 'management',
    ...timesOf(session),
  };
}

export function toPersonSessionDto(
  { person, session }: SessionPerson,
  place: AccountPlace,
  { isOperator, providerId }: { readonly isOperator: boolean; readonly providerId: string | null },
): PersonSessionDto {
  return {
    kind: 'person',
    is_management_key: false,
    person: {
      id: person.id,
      email: person.email,
      first_name: person.firstName,
      last_name: person.lastName,
    },
    account_role: person.accountRole,
    workspaces: [...person.workspaceRoles].map(([id, role]) => ({ workspace_id: id, role })),
    rights: rightsOf(person),
    account_id: person.accountId,
    account_name: place.accountName,
    workspace_id: place.workspace?.id ?? null,
    workspace_name: place.workspace?.name ?? null,
    can_change_catalogue: isOperator && reachOf(person, 'catalogue.change') !== null,
    provider_id: providerId,
    renew_at: new Date(session.endsAt.getTime() - RENEWAL).toISOString(),
    ...timesOf(session),
  };
}

function timesOf({
  createdAt,
  endsAt,
}: KeySession | PersonSession): Pick<AnySessionDto, 'created_at' | 'expires_at'> {
  return { created_at: createdAt.toISOString(), expires_at: endsAt.toISOString() };
}

function rightsOf(person: Person): PersonSessionDto['rights'] {
  return Object.fromEntries(
    Object.keys(RIGHTS).flatMap((right) => {
      const reach = reachOf(person, right as Right);
      return reach === null ? [] : [[right, toReachDto(reach)]];
    }),
  );
}

function toReachDto({ workspaceIds, own }: ManagerReach): ReachDto {
  return { workspace_ids: workspaceIds, own: own && { workspace_ids: own.workspaceIds } };
}
