// Finds whatever an operator has an id of, within the reach of the manager.
import { Injectable } from '@nestjs/common';
import { AppError } from '../domain/errors.js';
import { readGenerationId } from '../domain/identifiers.js';
import { reachWithin, withinContents } from '../domain/generations/call-reach.js';
import type { CallReach } from '../domain/generations/call-reach.js';
import type { Manager } from '../domain/people/manager.js';
import { NEWEST_REFUSALS } from '../domain/keys/refusal.js';
import type { Refusal } from '../domain/keys/refusal.js';
import { CallReaches } from '../persistence/generations/call-reaches.js';
import { GenerationsRepository } from '../persistence/generations/generations.repository.js';
import { LoggedKeys } from '../persistence/generations/logged-keys.js';
import { RefusalsRepository } from '../persistence/refusals/refusals.repository.js';
import { SearchRepository } from '../persistence/search/search.repository.js';
import type { FoundCall } from '../persistence/search/search.repository.js';
import { AccountsRepository } from '../persistence/workspaces/accounts.repository.js';
import { toFoundCall, toFoundKey, toFoundName, toFoundRefusal } from './dto/search.dto.js';
import type { SearchResultDto } from './dto/search.dto.js';

@Injectable()
export class SearchService {
  constructor(
    private readonly reaches: CallReaches,
    private readonly accounts: AccountsRepository,
    private readonly generations: GenerationsRepository,
    private readonly keys: LoggedKeys,
    private readonly refusals: RefusalsRepository,
    private readonly searches: SearchRepository,
  ) {}

  async find(manager: Manager, query: string): Promise<SearchResultDto[]> {
    const { accountId } = manager;
    const text = query.trim();
    if (text === '') throw new AppError('invalid_request', { detail: 'q: must not be blank' });
    const reach = await this.reaches.of(manager);
    const [byId, found, refusals, contents] = await Promise.all([
      this.findById(manager, text),
      this.searches.find(accountId, reach, text),
      this.findRefusals(manager, reach, text),
      this.reaches.ofContents(manager),
    ]);
    const calls = [
      ...byId.map((call) => ({ call, matchedBy: 'generation_id' as const })),
      ...found.ofRequest.map((call) => ({ call, matchedBy: 'request_id' as const })),
      ...found.ofUpstream.map((call) => ({ call, matchedBy: 'upstream_id' as const })),
    ];
    const ids = [...calls.map(({ call }) => call.apiKeyId), ...refusals.map(({ apiKeyId }) => apiKeyId)];
    const names = await this.keys.findNames(accountId, [...new Set(ids)]);
    return [
      ...calls.map(({ call, matchedBy }) =>
        toFoundCall(withinContents(contents, call), matchedBy, names.get(call.apiKeyId)),
      ),
      ...refusals.map((refusal) => toFoundRefusal(refusal, names.get(refusal.apiKeyId))),
      ...found.keys.map(toFoundKey),
      ...found.ofSession.map((newest) => toFoundName('session', text, newest)),
      ...found.ofUser.map((newest) => toFoundName('user', text, newest)),
    ];
  }

  private async findById(manager: Manager, text: string): Promise<readonly FoundCall[]> {
    const id = readGenerationId(text);
    const found = id && (await this.generations.find(manager, id));
    return found ? [found] : [];
  }

  private async findRefusals(manager: Manager, reach: CallReach, text: string): Promise<readonly Refusal[]> {
    const workspaceIds = await this.accounts.listWorkspaceIdsWithin(manager);
    const refusals = await this.refusals.listNewest(manager.accountId, {
      within: reachWithin(reach, workspaceIds),
      apiKeyId: null,
      reason: null,
      limit: NEWEST_REFUSALS,
    });
    return refusals.filter(({ requestId }) => requestId === text);
  }
}
