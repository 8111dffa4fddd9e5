// Resolves the reach of a manager to workspaces and keys of the log.
import { Injectable } from '@nestjs/common';
import { NO_CALLS } from '../../domain/generations/call-reach.js';
import type { CallReach } from '../../domain/generations/call-reach.js';
import { inferenceKeyOf } from '../../domain/people/manager.js';
import type { Manager, ManagerReach } from '../../domain/people/manager.js';
import { reachOf } from '../../domain/people/rights.js';
import { LoggedKeys } from './logged-keys.js';

/** Own keys within reach: older ones are out of it. Each statement names all of them. */
const MAX_OWN_KEYS = 1_000;

@Injectable()
export class CallReaches {
  constructor(private readonly keys: LoggedKeys) {}

  /** By the right of the route. An inference key reaches its own calls. */
  async of(manager: Manager): Promise<CallReach> {
    const key = inferenceKeyOf(manager);
    if (key !== null) return { workspaceIds: [], keys: [key] };
    return this.resolve(manager.accountId, manager.reach);
  }

  /** The calls whose contents the manager may read as well: inputs, and messages of errors, which may quote them. */
  async ofContents(manager: Manager): Promise<CallReach> {
    if (manager.person === null) return this.of(manager);
    const reach = reachOf(manager.person, 'calls.read_content');
    return reach === null ? NO_CALLS : this.resolve(manager.accountId, reach);
  }

  private async resolve(accountId: string, { workspaceIds, own }: ManagerReach): Promise<CallReach> {
    if (workspaceIds === null || own === null) return { workspaceIds, keys: [] };
    const bounds = { workspaceIds: own.workspaceIds, limit: MAX_OWN_KEYS };
    const keys = await this.keys.listOfCreator(accountId, own.userId, bounds);
    return { workspaceIds, keys: keys.filter((key) => !workspaceIds.includes(key.workspaceId)) };
  }
}
