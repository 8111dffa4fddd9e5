// Lists the newest refused calls of an account.
import { Injectable } from '@nestjs/common';
import { AppError } from '../domain/errors.js';
import type { Manager } from '../domain/people/manager.js';
import type { Refusal } from '../domain/keys/refusal.js';
import { LoggedKeys } from '../persistence/generations/logged-keys.js';
import type { LoggedKeyNames } from '../persistence/generations/logged-keys.js';
import { RefusalsRepository } from '../persistence/refusals/refusals.repository.js';
import { AccountsRepository } from '../persistence/workspaces/accounts.repository.js';
import type { RefusalsQueryDto } from './dto/refusal.dto.js';

export interface NamedRefusals {
  readonly refusals: readonly Refusal[];
  readonly keys: ReadonlyMap<string, LoggedKeyNames>;
}

@Injectable()
export class RefusalsService {
  constructor(
    private readonly accounts: AccountsRepository,
    private readonly keys: LoggedKeys,
    private readonly refusals: RefusalsRepository,
  ) {}

  async list({ accountId }: Manager, query: RefusalsQueryDto): Promise<NamedRefusals> {
    const { api_key_hash: hash, workspace_id: workspaceId, reason = null, limit } = query;
    const apiKey = hash === undefined ? null : await this.keys.find(accountId, hash);
    if (hash !== undefined && apiKey === null)
      throw new AppError('not_found', { detail: 'no key has this hash' });
    const refusals = await this.refusals.listNewest(accountId, {
      workspaceIds:
        workspaceId === undefined
          ? await this.accounts.listWorkspaceIds(accountId)
          : [await this.accounts.chooseWorkspaceOfKeys(accountId, workspaceId)],
      apiKeyId: apiKey?.id ?? null,
      reason,
      limit,
    });
    const ids = [...new Set(refusals.map(({ apiKeyId }) => apiKeyId))];
    return { refusals, keys: await this.keys.findNames(accountId, ids) };
  }
}
