// Rows of people with their roles.
import { ACCOUNT_ROLES, highestRole, readRole, WORKSPACE_ROLES } from '../../domain/people/person.js';
import type { Person } from '../../domain/people/person.js';
import type { Transaction } from '../database/database.js';

export interface PersonRow {
  readonly id: string;
  readonly accountId: string;
  readonly issuer: string;
  readonly email: string | null;
  readonly firstName: string | null;
  readonly lastName: string | null;
  readonly handRole: string | null;
  readonly groupRole: string | null;
  readonly disabledAt: Date | null;
  readonly createdAt: Date;
  readonly lastSignInAt: Date | null;
  readonly keysValidUntil: Date | null;
  readonly claimNames: readonly string[];
  /** By the id of the workspace: the role, the one given by hand and the one of groups. */
  readonly workspaceRoles: Readonly<Record<string, readonly [string, string | null, string | null]>>;
}

/** The columns of PersonRow, of `persons AS person`. */
export const PERSON_COLUMNS = `person.id, person.account_id AS "accountId", person.issuer, person.email,
  person.first_name AS "firstName", person.last_name AS "lastName", person.hand_role AS "handRole",
  person.group_role AS "groupRole", person.disabled_at AS "disabledAt", person.created_at AS "createdAt",
  person.last_sign_in_at AS "lastSignInAt", person.keys_valid_until AS "keysValidUntil", person.claim_names AS "claimNames",
  coalesce((
    SELECT json_object_agg(member.workspace_id, json_build_array(
      member.role, CASE WHEN member.group_role IS NULL THEN member.role ELSE member.hand_role END, member.group_role
    )) FROM workspace_members AS member
    JOIN workspaces AS workspace ON workspace.id = member.workspace_id AND workspace.account_id = person.account_id
    WHERE member.user_id = person.id AND workspace.deleted_at IS NULL
  ), '{}'::json) AS "workspaceRoles"`;

/** $1 the ids of people. */
export const FIND_PEOPLE = `SELECT ${PERSON_COLUMNS} FROM persons AS person WHERE person.id = ANY ($1)`;

/** $1 account, $2 offset, $3 limit. Those who wait for a role come first. */
export const LIST_PEOPLE = `
SELECT * FROM (SELECT ${PERSON_COLUMNS} FROM persons AS person WHERE person.account_id = $1::uuid) AS found
ORDER BY found."handRole" IS NULL AND found."groupRole" IS NULL AND found."workspaceRoles"::text = '{}'
  AND found."disabledAt" IS NULL DESC, found."createdAt" DESC, found.id
OFFSET $2 LIMIT $3`;

/** $1 account, $2 id. */
export const LOCK_PERSON_OF_ACCOUNT =
  'SELECT 1 FROM persons WHERE account_id = $1::uuid AND id = $2 FOR NO KEY UPDATE';

export function toPerson(row: PersonRow): Person {
  const byHand = readRole(ACCOUNT_ROLES, row.handRole);
  const byGroup = readRole(ACCOUNT_ROLES, row.groupRole);
  const members = Object.entries(row.workspaceRoles);
  return {
    id: row.id,
    accountId: row.accountId,
    issuer: row.issuer,
    email: row.email,
    firstName: row.firstName,
    lastName: row.lastName,
    accountRole: highestRole(ACCOUNT_ROLES, [byHand, byGroup]),
    accountRoleSources: { byHand, byGroup },
    workspaceRoles: new Map(
      members.flatMap(([id, [role]]) => {
        const known = readRole(WORKSPACE_ROLES, role);
        return known === null ? [] : [[id, known] as const];
      }),
    ),
    workspaceRoleSources: new Map(
      members.map(([id, [, hand, group]]) => [
        id,
        { byHand: readRole(WORKSPACE_ROLES, hand), byGroup: readRole(WORKSPACE_ROLES, group) },
      ]),
    ),
    disabledAt: row.disabledAt,
    createdAt: row.createdAt,
    lastSignInAt: row.lastSignInAt,
    keysValidUntil: row.keysValidUntil,
    claimNames: row.claimNames,
  };
}

/** A person whose row the transaction has locked. */
export async function readPerson(transaction: Transaction, id: string): Promise<Person> {
  const [row] = await transaction.$queryRawUnsafe<PersonRow[]>(FIND_PEOPLE, [id]);
  if (!row) throw new Error('the person is gone within the transaction');
  return toPerson(row);
}
