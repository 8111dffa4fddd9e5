// Access tokens that policies issue: their hashes, beside the secrets of keys.
import { Injectable } from '@nestjs/common';
import type { FederationPolicy } from '../../domain/federation/federation-policy.js';
import { Database } from '../database/database.js';
import { INSERT_TOKEN, LOCK_POLICY, REMOVE_EXPIRED_OF_KEY } from './federation-statements.js';

interface NewAccessToken {
  readonly hash: string;
  readonly issuedAt: Date;
  readonly expiresAt: Date;
}

/** `changed`: the policy or its key is not as it was read. `full`: the key has as many live tokens as it may have. */
export type Issue = 'issued' | 'changed' | 'full';

@Injectable()
export class AccessTokensRepository {
  constructor(private readonly database: Database) {}

  /** Issues a token of the policy as it was read; removes some expired ones of the key. */
  async issue(
    { id: policyId, updatedAt }: FederationPolicy,
    { hash, issuedAt, expiresAt }: NewAccessToken,
  ): Promise<Issue> {
    return this.database.writeWithin(async (run) => {
      const [key] = await run<{ workspaceId: string; id: string }>({
        text: LOCK_POLICY,
        values: [policyId, updatedAt, issuedAt],
      });
      if (!key) return 'changed';
      const owner = [key.workspaceId, key.id, issuedAt];
      await run({ text: REMOVE_EXPIRED_OF_KEY, values: owner });
      const issued = await run({ text: INSERT_TOKEN, values: [...owner, hash, expiresAt, policyId] });
      return issued.length > 0 ? 'issued' : 'full';
    });
  }
}
