// A session of the console on the wire. Contract: docs/contract.md#console.
import type { ApiKey } from '../../domain/keys/api-key.js';
import type { ConsoleSession } from '../../domain/people/console-session.js';
import { SecretField } from '../../http/fields/scalar-fields.js';
import type { AccountNames } from '../../persistence/workspaces/accounts.repository.js';

export class SignInDto {
  @SecretField({ minLength: 1, maxLength: 1_000, description: 'A management key, or an inference key.' })
  key: string;
}

export interface SessionDto {
  readonly kind: ApiKey['kind'];
  readonly is_management_key: boolean;
  readonly key_hash: string;
  readonly key_name: string;
  readonly key_label: string;
  readonly account_id: string;
  readonly account_name: string;
  readonly workspace_id: string;
  readonly workspace_name: string;
  /** Whether the key may change the catalogue: its account operates the service. */
  readonly can_change_catalogue: boolean;
  readonly created_at: string;
  readonly expires_at: string;
}

export function toSessionDto(
  key: ApiKey,
  session: ConsoleSession,
  { names, isOperator }: { readonly names: AccountNames; readonly isOperator: boolean },
): SessionDto {
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
    created_at: session.createdAt.toISOString(),
    expires_at: session.endsAt.toISOString(),
  };
}
