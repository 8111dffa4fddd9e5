// The keys that a list has.
import type { ApiKeyKind } from '../../domain/keys/api-key.js';
import type { PageRequest } from '../../domain/page.js';
import type { Prisma } from '../generated/client.js';

/** Undefined members do not filter. */
export interface OperatorListing extends PageRequest {
  readonly accountId: string | undefined;
  readonly workspaceId: string | undefined;
  readonly kind: ApiKeyKind | undefined;
}

export interface ApiKeyListing extends PageRequest {
  readonly workspaceId: string;
  readonly includeDisabled: boolean;
  /** In upper or lower case. Empty: every name. */
  readonly partOfName: string;
}

export function keysOfWorkspace(
  accountId: string,
  { workspaceId, includeDisabled }: ApiKeyListing,
): Prisma.ApiKeyWhereInput {
  return { accountId, workspaceId, ...(includeDisabled ? {} : { disabled: false }) };
}

/**
 * $1 account, $2 workspace, $3 whether disabled keys are found, $4 a part of the name, $5 offset, $6 limit. The ids,
 * newest first. It reads every key of the workspace, each up to the product of both lengths: run it as a report.
 */
export const FIND_BY_PART_OF_NAME = `
SELECT id FROM api_keys
WHERE account_id = $1 AND workspace_id = $2 AND deleted_at IS NULL AND ($3 OR NOT disabled)
  AND position(lower($4::text) IN lower(name)) > 0
ORDER BY created_at DESC, id DESC OFFSET $5 LIMIT $6`;

export function keysOfOperator({ accountId, workspaceId, kind }: OperatorListing): Prisma.ApiKeyWhereInput {
  return {
    ...(accountId === undefined ? {} : { accountId }),
    ...(workspaceId === undefined ? {} : { workspaceId }),
    ...(kind === undefined ? {} : { kind }),
  };
}
