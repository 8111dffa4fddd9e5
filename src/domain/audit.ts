// Changes that an account's keys make, and rotations of what its secrets are encrypted with: who, when, from where, and
// what was there before and after.
import type { ApiKey } from './keys/api-key.js';

export const AUDIT_ACTIONS = ['create', 'update', 'delete', 'rotate'] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

export const AUDIT_OBJECT_TYPES = [
  'api_key',
  'destination',
  'encryption_key',
  'provider_credential',
  'workspace',
  'workspace_budget',
  'workspace_member',
] as const;
export type AuditObjectType = (typeof AUDIT_OBJECT_TYPES)[number];

/** How entries name their objects: as paths and bodies do. */
export const OBJECT_ID_RULE =
  "A key is named by its hash, a budget by its interval, a member by the user's id, everything else by its id.";

/** Who makes a change, and from where. */
export interface Actor {
  readonly key: ApiKey;
  /** IP address. */
  readonly address: string;
  readonly requestId: string;
  readonly userAgent: string | null;
}

/** An object as its record shows it on the wire: without secrets. */
export type AuditedState = object;

export interface AuditEntry {
  readonly actor: Omit<Actor, 'key'> & { readonly key: Pick<ApiKey, 'accountId' | 'hash' | 'label'> };
  readonly action: AuditAction;
  readonly objectType: AuditObjectType;
  /** See OBJECT_ID_RULE. */
  readonly objectId: string;
  /** Null: the object belongs to no workspace. */
  readonly workspaceId: string | null;
  /** Null: it was not there. */
  readonly before: AuditedState | null;
  /** Null: it is not there any more. */
  readonly after: AuditedState | null;
}

/** What is written about a change, told by whoever knows how the object is shown; null: it was, or is, not there. */
export type DescribeChange<Value> = (before: Value | null, after: Value | null) => AuditEntry;

/** How entries tell of one type of object. */
export interface AuditedType<Value> {
  readonly objectType: AuditObjectType;
  /** See AuditEntry. */
  objectId(value: Value): string;
  workspaceId(value: Value): string | null;
  state(value: Value): AuditedState;
}

/** `change` names what is neither a creation nor a deletion. */
export function describeChange<Value>(
  actor: Actor,
  type: AuditedType<Value>,
  change: 'update' | 'rotate' = 'update',
): DescribeChange<Value> {
  return (before, after) => {
    const value = after ?? before;
    return {
      actor,
      action: before === null ? 'create' : after === null ? 'delete' : change,
      objectType: type.objectType,
      objectId: value === null ? '' : type.objectId(value),
      workspaceId: value === null ? null : type.workspaceId(value),
      before: before === null ? null : type.state(before),
      after: after === null ? null : type.state(after),
    };
  };
}

export interface StoredAuditEntry extends Omit<AuditEntry, 'actor'> {
  readonly id: string;
  readonly createdAt: Date;
  readonly actorHash: string;
  readonly actorLabel: string;
  readonly address: string;
  readonly requestId: string;
  readonly userAgent: string | null;
}

// Characters of JSON of one member. A record has some twenty members, so that an entry is bounded as well.
const MAX_MEMBER_LENGTH = 16_384;

/** The state with a note in the place of every member that is too long to be kept. */
export function boundedState(state: AuditedState): AuditedState {
  // Most states are shorter than one member may be.
  if (lengthOf(state) <= MAX_MEMBER_LENGTH) return state;
  return Object.fromEntries(
    Object.entries(state).map(([name, value]: [string, unknown]) => {
      const length = lengthOf(value);
      return [name, length > MAX_MEMBER_LENGTH ? { omitted: `${length} characters of JSON` } : value];
    }),
  );
}

function lengthOf(value: unknown): number {
  return JSON.stringify(value)?.length ?? 0;
}
