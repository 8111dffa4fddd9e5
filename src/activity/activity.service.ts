// The activity of an account in its last 30 completed UTC days.
import { Injectable } from '@nestjs/common';
import type { ActivityRow, ActivityScope } from '../domain/generations/activity.js';
import { reachesCallsOf, reachWithin, scopeOfKeys } from '../domain/generations/call-reach.js';
import type { CallReach } from '../domain/generations/call-reach.js';
import type { Manager } from '../domain/people/manager.js';
import { Clock } from '../domain/clock.js';
import { AppError } from '../domain/errors.js';
import { utcDay } from '../domain/spend/spend.js';
import { CallReaches } from '../persistence/generations/call-reaches.js';
import { AccountsRepository } from '../persistence/workspaces/accounts.repository.js';
import { ActivityRepository } from '../persistence/activity/activity.repository.js';
import { LoggedKeys } from '../persistence/generations/logged-keys.js';
import type { LoggedKey } from '../persistence/generations/logged-keys.js';
import type { ActivityQueryDto } from './dto/activity.dto.js';

const DAY = 86_400_000;
const DAYS = 30;
// The contract has no pages here: a longer result is rejected instead of cut silently.
const MAX_ROWS = 10_000;

@Injectable()
export class ActivityService {
  constructor(
    private readonly reaches: CallReaches,
    private readonly accounts: AccountsRepository,
    private readonly keys: LoggedKeys,
    private readonly activity: ActivityRepository,
    private readonly clock: Clock,
  ) {}

  async list(manager: Manager, query: ActivityQueryDto): Promise<readonly ActivityRow[]> {
    const reach = await this.reaches.of(manager);
    const days = this.readDays(query.date);
    const workspaceIds = await this.readWorkspaces(manager, query.workspace_id);
    const keys = await this.readKeys(manager.accountId, reach, query);
    const within = reachWithin(reach, workspaceIds);
    const scope: ActivityScope = {
      accountId: manager.accountId,
      ...days,
      ...(keys === null
        ? { workspaceIds: within.workspaceIds, apiKeyIds: null, ownKeys: scopeOfKeys(within.keys) }
        : { workspaceIds, apiKeyIds: keys.map((key) => key.id) }),
    };
    const rows = await this.activity.sumUp(scope, {
      byWorkspace: query.group_by === 'workspace',
      limit: MAX_ROWS + 1,
    });
    if (rows.length > MAX_ROWS) {
      throw new AppError('invalid_request', {
        detail: `there are more than ${MAX_ROWS} rows; filter by date or by workspace_id`,
      });
    }
    return rows;
  }

  private readDays(date: string | undefined): Pick<ActivityScope, 'from' | 'to'> {
    const today = Date.parse(utcDay(this.clock.now()));
    if (date === undefined) return { from: new Date(today - DAYS * DAY), to: new Date(today) };
    const day = Date.parse(date);
    // JavaScript reads a 30th of February as a day of March.
    if (!(day >= today - DAYS * DAY && day < today) || utcDay(new Date(day)) !== date) {
      throw new AppError('invalid_request', {
        detail: `date: must be one of the last ${DAYS} completed UTC days`,
      });
    }
    return { from: new Date(day), to: new Date(day + DAY) };
  }

  private async readWorkspaces(manager: Manager, wanted: string | undefined): Promise<readonly string[]> {
    const all = await this.accounts.listWorkspaceIdsWithin(manager);
    if (wanted === undefined) return all;
    const workspaceId = wanted.toLowerCase();
    if (!all.includes(workspaceId)) throw new AppError('not_found', { detail: 'no such workspace' });
    return [workspaceId];
  }

  /** Those of the filters, within reach; null: there is no filter by key. */
  private async readKeys(
    accountId: string,
    reach: CallReach,
    { api_key_hash: hash, user_id: userId }: ActivityQueryDto,
  ): Promise<readonly LoggedKey[] | null> {
    const ofUser = userId === undefined ? null : await this.keys.listOfCreator(accountId, userId);
    if (hash === undefined) return ofUser && ofUser.filter((key) => reachesCallsOf(reach, key));
    const found = await this.keys.findWithin(accountId, reach, hash);
    if (found === null) throw new AppError('not_found', { detail: 'no key has this hash' });
    return ofUser === null || ofUser.some(({ id }) => id === found.id) ? [found] : [];
  }
}
