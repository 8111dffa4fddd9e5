// Amounts, quotas and the audit log's view of a key, for the operations of keys and the sign-in from a command line.
import type { AppConfig } from '../config/app-config.js';
import type { AuditedType } from '../domain/audit.js';
import { AppError } from '../domain/errors.js';
import type { ApiKey } from '../domain/keys/api-key.js';
import { parseUsd } from '../domain/spend/money.js';
import type { PicoUsd } from '../domain/spend/money.js';
import type { Quota } from '../persistence/workspaces/quotas.js';
import { toKeySettings } from './dto/api-key.dto.js';

// Decimals of stored amounts of money.
const DECIMALS = 12;

export const AUDITED_KEY: AuditedType<ApiKey> = {
  objectType: 'api_key',
  objectId: ({ hash }) => hash,
  workspaceId: ({ workspaceId }) => workspaceId,
  state: toKeySettings,
};

export function quotasOfKeys(
  { keysPerAccount, keysPerWorkspace }: AppConfig['quotas'],
  accountId: string,
  workspaceId: string,
): readonly Quota[] {
  const resource = 'api_keys';
  return [
    {
      resource,
      owner: 'workspace',
      ownerId: workspaceId,
      limit: keysPerWorkspace,
      variable: 'MAX_KEYS_PER_WORKSPACE',
    },
    {
      resource,
      owner: 'account',
      ownerId: accountId,
      limit: keysPerAccount,
      variable: 'MAX_KEYS_PER_ACCOUNT',
    },
  ];
}

/** The nearest stored amount: sums of floating-point numbers carry unintended digits. */
export function toLimit(limit: number | null): PicoUsd | null {
  if (limit === null) return null;
  const stored = parseUsd(limit.toFixed(DECIMALS));
  // Rounded to 0, the limit would stop the key.
  if (stored === 0n && limit > 0) {
    throw new AppError('invalid_request', { detail: 'limit: must be 0 or at least 1e-12' });
  }
  return stored;
}
