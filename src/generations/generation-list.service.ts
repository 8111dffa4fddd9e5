// Lists the generations of a workspace, or of all, that are within the manager's reach.
import { Injectable } from '@nestjs/common';
import { Catalogue } from '../catalogue/catalogue.js';
import { AppError } from '../domain/errors.js';
import { operationOf } from '../domain/generations/generation.js';
import { keyIdsIn, withinContents, workspacesOfReach } from '../domain/generations/call-reach.js';
import type { CallReach } from '../domain/generations/call-reach.js';
import { mergePages } from '../domain/generations/generation-list.js';
import type {
  GenerationFilter,
  GenerationPage,
  ListPosition,
} from '../domain/generations/generation-list.js';
import type { Manager } from '../domain/people/manager.js';
import { readCursor } from '../http/dto/page-query.dto.js';
import { CallReaches } from '../persistence/generations/call-reaches.js';
import { GenerationListRepository } from '../persistence/generations/generation-list.repository.js';
import { LoggedKeys } from '../persistence/generations/logged-keys.js';
import type { LoggedKeyNames } from '../persistence/generations/logged-keys.js';
import { AccountsRepository } from '../persistence/workspaces/accounts.repository.js';
import { providerSlugOf } from '../providers/index.js';
import { statusesOf } from './dto/generation-list.dto.js';
import type { GenerationsQueryDto } from './dto/generation-list.dto.js';

// Workspaces whose lists are merged, and those that are read at once.
const MAX_MERGED = 100;
const AT_ONCE = 4;

export interface NamedGenerationPage extends GenerationPage {
  readonly keys: ReadonlyMap<string, LoggedKeyNames>;
}

@Injectable()
export class GenerationListService {
  constructor(
    private readonly reaches: CallReaches,
    private readonly accounts: AccountsRepository,
    private readonly catalogue: Catalogue,
    private readonly keys: LoggedKeys,
    private readonly generations: GenerationListRepository,
  ) {}

  async list(manager: Manager, query: GenerationsQueryDto): Promise<NamedGenerationPage> {
    const after = query.cursor === undefined ? null : readCursor(query.cursor);
    const reach = await this.reaches.of(manager);
    const filter = await this.toFilter(manager, reach, query);
    // A key has calls in its own workspace alone.
    const isMerged = query.all_workspaces && query.api_key_hash === undefined;
    const page = isMerged
      ? await this.listAll(reach, filter, after, query.limit)
      : await this.generations.list(filter, after, query.limit);
    const ids = [...new Set(page.generations.map(({ apiKeyId }) => apiKeyId))];
    const contents = await this.reaches.ofContents(manager);
    return {
      ...page,
      generations: page.generations.map((generation) => withinContents(contents, generation)),
      keys: await this.keys.findNames(manager.accountId, ids),
    };
  }

  private async listAll(
    reach: CallReach,
    filter: GenerationFilter,
    after: ListPosition | null,
    limit: number,
  ): Promise<GenerationPage> {
    const ids = workspacesOfReach(reach) ?? (await this.accounts.listWorkspaceIds(filter.accountId));
    if (ids.length > MAX_MERGED) {
      const detail = `all_workspaces: the account has more than ${MAX_MERGED} workspaces; name one`;
      throw new AppError('invalid_request', { detail });
    }
    const pages: GenerationPage[] = [];
    let { from } = filter;
    for (let start = 0; start < ids.length; start += AT_ONCE) {
      const some = ids.slice(start, start + AT_ONCE);
      const found = await Promise.all(
        some.map((workspaceId) => {
          const apiKeyIds = keyIdsIn(reach, workspaceId);
          return this.generations.list({ ...filter, workspaceId, apiKeyIds, from }, after, limit);
        }),
      );
      pages.push(...found);
      const { generations, next, searchedUntil } = mergePages(pages, limit);
      // A page that is full needs no older calls of further workspaces, most of which have none since.
      if (next !== null && searchedUntil === null) from = generations.at(-1)?.createdAt ?? from;
    }
    return mergePages(pages, limit);
  }

  private async toFilter(
    manager: Manager,
    reach: CallReach,
    query: GenerationsQueryDto,
  ): Promise<GenerationFilter> {
    const { accountId } = manager;
    const { api_key_hash: hash, model, provider, api_type: apiType } = query;
    const apiKey = hash === undefined ? undefined : await this.keys.findWithin(accountId, reach, hash);
    if (apiKey === null) throw new AppError('not_found', { detail: 'no key has this hash' });
    const workspaceId =
      query.workspace_id === undefined && apiKey
        ? apiKey.workspaceId
        : await this.accounts.chooseWorkspaceOfKeys(manager, query.workspace_id);
    return {
      accountId,
      workspaceId,
      apiKeyIds: apiKey === undefined ? keyIdsIn(reach, workspaceId) : [apiKey.id],
      // The log may know models and providers that this version does not.
      model: model === undefined ? undefined : (this.catalogue.idOf(model) ?? model),
      provider: provider === undefined ? undefined : (providerSlugOf(provider) ?? provider),
      operation: apiType === undefined ? undefined : operationOf(apiType),
      statuses: statusesOf(query),
      errorType: query.error_type,
      requestId: query.request_id,
      sessionId: query.session_id,
      userId: query.user_id,
      from: toDate(query.from),
      to: toDate(query.to),
    };
  }
}

function toDate(text: string | undefined): Date | undefined {
  return text === undefined ? undefined : new Date(text);
}
