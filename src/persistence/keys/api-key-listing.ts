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
  /** In upper or lower case. Empty: every name. */
  readonly partOfName: string;
}

export function keysOfWorkspace(
  accountId: string,
  { workspaceId, includeDisabled, partOfName }: ApiKeyListing,
): Prisma.ApiKeyWhereInput {
  return {
    accountId,
    workspaceId,
    ...(includeDisabled ? {} : { disabled: false }),
    ...(partOfName === '' ? {} : { name: { contains: escapeLike(partOfName), mode: 'insensitive' } }),
  };
}

export function keysOfOperator({ accountId, workspaceId, kind }: OperatorListing): Prisma.ApiKeyWhereInput {
  return {
    ...(accountId === undefined ? {} : { accountId }),
    ...(workspaceId === undefined ? {} : { workspaceId }),
    ...(kind === undefined ? {} : { kind }),
  };
}

/** Prisma passes the wildcards of LIKE on. */
function escapeLike(text: string): string {
  return text.replaceAll(/[\\%_]/g, String.raw`\$&`);
}
