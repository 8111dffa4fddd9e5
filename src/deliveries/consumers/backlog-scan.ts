// Looks for destinations that something waits for and that nobody was told of: a page of them at a time, and at all of
// them where somebody who would have told may have gone.
import type {
  ClaimedCursor,
  DeliveryCursorsRepository,
} from '../../persistence/deliveries/delivery-cursors.repository.js';

/** Workspaces that one statement looks at. */
const PAGE = 100;
/** Claims that end a sweep: other replicas shall have their part. */
const MAX_CLAIMS = 200;
// Before all workspaces.
const START = '00000000-0000-0000-0000-000000000000';

export class BacklogScan {
  private after = START;
  private needsFullScan = true;
  private looksAtAll = false;
  private sessions: ReadonlySet<string> = new Set();

  /** `since` tells the moment before which nothing is looked at. */
  constructor(
    private readonly cursors: Pick<
      DeliveryCursorsRepository,
      'listLiveSessions' | 'listWorkspaces' | 'claimWaitingOf'
    >,
    private readonly since: () => Date,
  ) {}

  /** Something may have been missed: the next sweep, or the next ones, look at everything. */
  scheduleFullScan(): void {
    this.needsFullScan = true;
  }

  /** What was claimed, page by page. What fails is gone on with in the next sweep. */
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

  /** A process that has ended may have appended what it has told nobody of, and delivers no more. */
  private async noticeEndedSessions(): Promise<void> {
    const live = new Set(await this.cursors.listLiveSessions());
    if ([...this.sessions].some((session) => !live.has(session))) this.scheduleFullScan();
    this.sessions = live;
  }
}
