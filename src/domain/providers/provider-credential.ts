// A customer's own key at a provider, and the calls that it may serve (docs/contract.md#provider-credentials).
import type { ApiKey } from '../keys/api-key.js';

/**
 * Credentials of one provider in one workspace, including disabled ones, so that enabling one never exceeds the limit.
 * A call may try its provider once for each.
 */
export const MAX_CREDENTIALS_PER_PROVIDER = 20;

export interface NewProviderCredential {
  readonly accountId: string;
  readonly workspaceId: string;
  /** The provider's slug. */
  readonly provider: string;
  readonly name: string | null;
  /** The secret: stored encrypted, never shown. */
  readonly apiKey: string;
  readonly disabled: boolean;
  /** Tried only after the shared endpoints. */
  readonly isFallback: boolean;
  /** With either, calls that this credential may serve never use the provider's shared endpoints. */
  readonly isRequired: boolean;
  readonly isByokOnly: boolean;
  readonly sortOrder: number;
  /** An empty list in the next three members restricts nothing. Models by the catalogue's ids. */
  readonly allowedModels: readonly string[];
  readonly allowedApiKeyHashes: readonly string[];
  readonly allowedUserIds: readonly string[];
  /** The customer's declaration of zero retention at their own account; null: the endpoint's policy applies. */
  readonly declaredZdr: boolean | null;
}

export interface ProviderCredential extends Omit<NewProviderCredential, 'apiKey'> {
  readonly id: string;
  /** Null: it cannot be decrypted. It serves no call, and its restrictions stay in force. */
  readonly apiKey: string | null;
  /** The masked secret. */
  readonly label: string;
  readonly createdAt: Date;
  /** Null until the first change. */
  readonly updatedAt: Date | null;
}

/** The visible members of a credential. */
export type ProviderCredentialRecord = Omit<ProviderCredential, 'apiKey'>;

export type ProviderCredentialChange = Partial<
  Omit<NewProviderCredential, 'accountId' | 'workspaceId' | 'provider'>
>;

/** The members of a key that decide which credentials serve its calls. */
export type CallingKey = Pick<ApiKey, 'workspaceId' | 'hash' | 'creatorUserId'>;

/**
 * Whether a call with `key` for a model, given by all its ids, may use the credential. The user is the creator of the key: a caller chooses
 * the `user` of a request freely, so it must not grant access.
 */
export function mayServe(
  credential: ProviderCredential,
  modelIds: readonly string[],
  key: CallingKey,
): boolean {
  const { allowedModels, allowedApiKeyHashes, allowedUserIds } = credential;
  return (
    !credential.disabled &&
    credential.workspaceId === key.workspaceId &&
    allows(allowedModels, modelIds) &&
    allows(allowedApiKeyHashes, [key.hash]) &&
    allows(allowedUserIds, [key.creatorUserId])
  );
}

/** Whether calls that it may serve never use its provider's shared endpoints, not even after a failure. */
export function excludesShared({
  isRequired,
  isByokOnly,
}: Pick<ProviderCredential, 'isRequired' | 'isByokOnly'>): boolean {
  return isRequired || isByokOnly;
}

function allows(list: readonly string[], values: readonly (string | null)[]): boolean {
  return list.length === 0 || values.some((value) => value !== null && list.includes(value));
}

/**
 * The credentials of a workspace in call order. Older workspaces may exceed the limit: the first ones of each provider
 * serve. The others serve nothing, and still exclude the shared endpoints.
 */
export function withinLimit<Credential extends Surplus>(
  inOrder: readonly Credential[],
): { readonly credential: Credential; readonly mayServe: boolean }[] {
  const counts = new Map<string, number>();
  return inOrder.flatMap((credential) => {
    if (credential.disabled) return [];
    const count = (counts.get(credential.provider) ?? 0) + 1;
    counts.set(credential.provider, count);
    if (count <= MAX_CREDENTIALS_PER_PROVIDER) return { credential, mayServe: true };
    return excludesShared(credential) ? { credential, mayServe: false } : [];
  });
}

type Surplus = Pick<ProviderCredential, 'provider' | 'disabled' | 'isRequired' | 'isByokOnly'>;
