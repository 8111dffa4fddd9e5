// Finds destinations with a backlog whose notification was lost: one page of workspaces at a time, and all of them after
// a process has ended that may not have sent its notifications.
import type {
  ClaimedCursor,
  DeliveryCursorsRepository,
} from '../../persistence/deliveries/delivery-cursors.repository.js';

/** Workspaces of one statement. */
const PAGE = 100;
/** Claims that end a scan, so that other replicas get their share. */
const MAX_CLAIMS = 200;
// Before all workspaces.
const START = '00000000-0000-0000-0000-000000000000';

export class BacklogScan {
  private after = START;
  private needsFullScan = true;
  private looksAtAll = false;
  private sessions: ReadonlySet<string> = new Set();

  /** `since` returns the time before which the log is not read. */
  constructor(
    private readonly cursors: Pick<
      DeliveryCursorsRepository,
      'listLiveSessions' | 'listWorkspaces' | 'claimWaitingOf'
    >,
    private readonly since: () => Date,
  ) {}

  /** A notification may be lost: the next scan covers all workspaces. */
  scheduleFullScan(): void {
    this.needsFullScan = true;
  }

  /** Yields the claims, page by page. After a failure the next scan continues. */
  async *claim(): AsyncGenerator<readonly ClaimedCursor[]> {
    await this.noticeEndedSessions();
    if (this.needsFullScan) {
      this.needsFullScan = false;
      this.looksAtAll = true;
      this.after = START;
    }
    let claimed = 0;
    do {
      const workspaceIds = await this.cursors.listWorkspaces(this.after, PAGE);
      if (workspaceIds.length > 0) {
        const claims = await this.cursors.claimWaitingOf(workspaceIds, this.since());
        claimed += claims.length;
        yield claims;
      }
      const last = workspaceIds[PAGE - 1];
      this.after = last ?? START;
      if (last === undefined) this.looksAtAll = false;
    } while (this.looksAtAll && claimed < MAX_CLAIMS);
  }

  /** A process that has ended may have appended generations without a notification, and delivers no more. */
  private async noticeEndedSessions(): Promise<void> {
    const live = new Set(await this.cursors.listLiveSessions());
    if ([...this.sessions].some((session) => !live.has(session))) this.scheduleFullScan();
    this.sessions = live;
  }
}
