// The audit log: changes made by an account's keys and people, and rotations of encryption keys, with actor, time, address, and the
// state before and after.
import { labelOfManager } from './people/manager.js';
import type { Manager } from './people/manager.js';

export const AUDIT_ACTIONS = ['create', 'update', 'delete', 'rotate'] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

export const AUDIT_OBJECT_TYPES = [
  'api_key',
  'catalogue_import',
  'catalogue_model',
  'destination',
  'encryption_key',
  'federation_policy',
  'group_mapping',
  'guardrail',
  'guardrail_assignment',
  'notification',
  'own_key_policy',
  'person',
  'preset',
  'provider_credential',
  'workspace',
  'workspace_budget',
  'workspace_member',
] as const;
export type AuditObjectType = (typeof AUDIT_OBJECT_TYPES)[number];

/** The id of an entry's object, as in paths and bodies. */
export const OBJECT_ID_RULE =
  'Hash of a key, interval of a budget, user id of a member, or id of any other object.';

/** The author of a change and its origin. */
export type Actor = Manager & ChangeOrigin;

export interface ChangeOrigin {
  /** IP address. */
  readonly address: string;
  readonly requestId: string;
  readonly userAgent: string | null;
}

/** The author of a change as an entry names it, and its origin. */
export interface ChangeAuthor extends ChangeOrigin {
  readonly accountId: string;
  /** Of the key; null: a person. */
  readonly hash: string | null;
  /** The id of the person; null: a key. */
  readonly userId: string | null;
  readonly label: string;
}

/** An object as its wire record shows it: without secrets. */
export type AuditedState = object;

export interface AuditEntry {
  readonly author: ChangeAuthor;
  readonly action: AuditAction;
  readonly objectType: AuditObjectType;
  /** See OBJECT_ID_RULE. */
  readonly objectId: string;
  /** Null: the object belongs to no workspace. */
  readonly workspaceId: string | null;
  /** Null: the object did not exist. */
  readonly before: AuditedState | null;
  /** Null: the object no longer exists. */
  readonly after: AuditedState | null;
}

/** Describes a change as an audit entry. Null: the object did not exist before, or does not exist after. */
export type DescribeChange<Value> = (before: Value | null, after: Value | null) => AuditEntry;

/** How entries describe objects of one type. */
export interface AuditedType<Value> {
  readonly objectType: AuditObjectType;
  /** See AuditEntry. */
  objectId(value: Value): string;
  workspaceId(value: Value): string | null;
  state(value: Value): AuditedState;
}

/** `change` names a change that is neither a creation nor a deletion. */
export function describeChange<Value>(
  actor: Actor,
  type: AuditedType<Value>,
  change: 'update' | 'rotate' = 'update',
): DescribeChange<Value> {
  return (before, after) => {
    const value = after ?? before;
    return {
      author: authorOf(actor),
      action: before === null ? 'create' : after === null ? 'delete' : change,
      objectType: type.objectType,
      objectId: value === null ? '' : type.objectId(value),
      workspaceId: value === null ? null : type.workspaceId(value),
      before: before === null ? null : type.state(before),
      after: after === null ? null : type.state(after),
    };
  };
}

function authorOf(actor: Actor): ChangeAuthor {
  return {
    accountId: actor.accountId,
    hash: actor.key?.hash ?? null,
    userId: actor.person?.id ?? null,
    label: labelOfManager(actor),
    address: actor.address,
    requestId: actor.requestId,
    userAgent: actor.userAgent,
  };
}

export interface StoredAuditEntry extends Omit<AuditEntry, 'author'> {
  readonly id: string;
  readonly createdAt: Date;
  readonly actorHash: string | null;
  readonly actorUserId: string | null;
  readonly actorLabel: string;
  readonly address: string;
  readonly requestId: string;
  readonly userAgent: string | null;
}

// Characters of JSON per member. A record has some twenty members, so the bound covers the entry as well. A longer
// member is replaced by a note.
const MAX_MEMBER_LENGTH = 16_384;

/** Replaces every member beyond the bound by a note. */
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
