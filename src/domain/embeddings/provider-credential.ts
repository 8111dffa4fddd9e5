// A customer's own key at a provider, and the calls that it may serve. Source: contract section 6 (/byok).
import type { ApiKey } from '../keys/api-key.js';

/**
 * Of one provider in one workspace, disabled ones included, so that enabling one never exceeds the limit. A call may ask its
 * provider once for each.
 */
export const MAX_CREDENTIALS_PER_PROVIDER = 20;

export interface NewProviderCredential {
  readonly accountId: string;
  readonly workspaceId: string;
  /** The provider's slug. */
  readonly provider: string;
  readonly name: string | null;
  /** The secret: stored encrypted, shown to nobody. */
  readonly apiKey: string;
  readonly disabled: boolean;
  /** Tried only after the shared endpoints. */
  readonly isFallback: boolean;
  /** Either one: the provider's shared endpoints are not used for calls that this credential may serve. */
  readonly isRequired: boolean;
  readonly isByokOnly: boolean;
  readonly sortOrder: number;
  /** Of the next three, an empty list restricts nothing. Models by the catalogue's ids. */
  readonly allowedModels: readonly string[];
  readonly allowedApiKeyHashes: readonly string[];
  readonly allowedUserIds: readonly string[];
  /** What the customer says of retention at the own account; null: the endpoint's policy holds. */
  readonly declaredZdr: boolean | null;
}

export interface ProviderCredential extends Omit<NewProviderCredential, 'apiKey'> {
  readonly id: string;
  /** Null: it cannot be decrypted. No call can be made with it, and what it forbids stays forbidden. */
  readonly apiKey: string | null;
  /** The masked secret. */
  readonly label: string;
  readonly createdAt: Date;
  /** Null until the first change. */
  readonly updatedAt: Date | null;
}

/** What is shown of a credential. */
export type ProviderCredentialRecord = Omit<ProviderCredential, 'apiKey'>;

export type ProviderCredentialChange = Partial<
  Omit<NewProviderCredential, 'accountId' | 'workspaceId' | 'provider'>
>;

/**
 * Whether a call with `key` for a model may use the credential. A user is the one who created the key: what a request
 * says in `user` is the caller's to choose, and must open nothing.
 */
export function mayServe(
  credential: ProviderCredential,
  modelId: string,
  key: Pick<ApiKey, 'workspaceId' | 'hash' | 'creatorUserId'>,
): boolean {
  const { allowedModels, allowedApiKeyHashes, allowedUserIds } = credential;
  return (
    !credential.disabled &&
    credential.workspaceId === key.workspaceId &&
    allows(allowedModels, modelId) &&
    allows(allowedApiKeyHashes, key.hash) &&
    allows(allowedUserIds, key.creatorUserId)
  );
}

/** Whether calls that it may serve must not go to its provider's shared endpoints, not even when it fails. */
export function excludesShared({
  isRequired,
  isByokOnly,
}: Pick<ProviderCredential, 'isRequired' | 'isByokOnly'>): boolean {
  return isRequired || isByokOnly;
}

function allows(list: readonly string[], value: string | null): boolean {
  return list.length === 0 || (value !== null && list.includes(value));
}

/**
 * The credentials of a workspace that calls consider, in their order. Workspaces from before the limit may have more: the
 * first ones of each provider serve. The others serve nothing, and still keep calls away from the shared endpoints.
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
