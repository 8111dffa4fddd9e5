// Lists the newest refused calls within the manager's reach.
import { Injectable } from '@nestjs/common';
import { AppError } from '../domain/errors.js';
import { reachWithin } from '../domain/generations/call-reach.js';
import type { Manager } from '../domain/people/manager.js';
import type { Refusal } from '../domain/keys/refusal.js';
import { CallReaches } from '../persistence/generations/call-reaches.js';
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
    private readonly reaches: CallReaches,
    private readonly accounts: AccountsRepository,
    private readonly keys: LoggedKeys,
    private readonly refusals: RefusalsRepository,
  ) {}

  async list(manager: Manager, query: RefusalsQueryDto): Promise<NamedRefusals> {
    const { accountId } = manager;
    const reach = await this.reaches.of(manager);
    const { api_key_hash: hash, workspace_id: workspaceId, reason = null, limit } = query;
    const apiKey = hash === undefined ? null : await this.keys.findWithin(accountId, reach, hash);
    if (hash !== undefined && apiKey === null)
      throw new AppError('not_found', { detail: 'no key has this hash' });
    const workspaceIds =
      workspaceId === undefined
        ? await this.accounts.listWorkspaceIdsWithin(manager)
        : [await this.accounts.chooseWorkspaceOfKeys(manager, workspaceId)];
    const refusals = await this.refusals.listNewest(accountId, {
      within: reachWithin(reach, workspaceIds),
      apiKeyId: apiKey?.id ?? null,
      reason,
      limit,
    });
    const ids = [...new Set(refusals.map(({ apiKeyId }) => apiKeyId))];
    return { refusals, keys: await this.keys.findNames(accountId, ids) };
  }
}
