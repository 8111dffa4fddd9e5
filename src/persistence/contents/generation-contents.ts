// Retention of stored contents: until every destination that may need them has passed, and the copy of the history where
// it takes contents; a day at most.
import { Injectable } from '@nestjs/common';
import { AppConfig } from '../../config/app-config.js';
import { Database } from '../database/database.js';
import { REMOVAL_STEP, WITH_HISTORY, WITHOUT_HISTORY } from './content-statements.js';

const WORKSPACES_AT_ONCE = 200;

@Injectable()
export class GenerationContents {
  private readonly statements: typeof WITH_HISTORY;

  /** Workspaces with contents that a reader has passed. */
  private readonly due = new Set<string>();

  constructor(
    private readonly database: Database,
    { history }: AppConfig,
  ) {
    this.statements = history?.hasContents === true ? WITH_HISTORY : WITHOUT_HISTORY;
  }

  /** A cursor of the workspace or of the history has moved, or one of its destinations has changed. */
  note(workspaceId: string): void {
    this.due.add(workspaceId);
  }

  /** As removePassed(), for the noted workspaces. */
  removeNoted(): Promise<void> {
    const workspaceIds = [...this.due];
    this.due.clear();
    return this.removePassed(workspaceIds);
  }

  /** Removes contents that no destination of the workspaces may need any more, and the history neither. */
  async removePassed(workspaceIds: readonly string[]): Promise<void> {
    for (let from = 0; from < workspaceIds.length; from += WORKSPACES_AT_ONCE) {
      await this.removeInSteps(this.statements.removePassed, [
        workspaceIds.slice(from, from + WORKSPACES_AT_ONCE),
      ]);
    }
  }

  /**
   * Removes contents created before `moment`, of every workspace. Returns how many of them the history lacks because the
   * copy had not come to them.
   */
  removeOlderThan(moment: Date): Promise<number> {
    return this.removeInSteps(this.statements.removeOlder, [moment]);
  }

  private async removeInSteps(text: string, values: readonly unknown[]): Promise<number> {
    let lost = 0;
    for (;;) {
      const [removed] = await this.database.query<{ count: number; lost: number }>({
        text,
        values: [...values],
      });
      lost += removed?.lost ?? 0;
      if ((removed?.count ?? 0) < REMOVAL_STEP) return lost;
    }
  }
}
