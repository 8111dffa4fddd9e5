// The keys that a list has, as conditions of Prisma.
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
}

export function keysOfWorkspace(
  accountId: string,
  { workspaceId, includeDisabled }: ApiKeyListing,
): Prisma.ApiKeyWhereInput {
  return {
    accountId,
    workspaceId,
    ...(includeDisabled ? {} : { disabled: false }),
  };
}

export function keysOfOperator({ accountId, workspaceId, kind }: OperatorListing): Prisma.ApiKeyWhereInput {
  return {
    ...(accountId === undefined ? {} : { accountId }),
    ...(workspaceId === undefined ? {} : { workspaceId }),
    ...(kind === undefined ? {} : { kind }),
  };
}
