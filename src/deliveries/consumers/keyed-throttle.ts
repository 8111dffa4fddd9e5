// Claims workspace by workspace: at once when somebody asks, and then not again for a pause, however often it is asked for.

// Milliseconds until a workspace that had nothing to claim is asked again: its destinations are somebody else's.
const CLAIM_PAUSE = 500;

export class KeyedThrottle {
  /** Workspaces that are being claimed or were claimed a moment ago; true: to be claimed again after that. */
  private readonly claiming = new Map<string, boolean>();

  /** `claim` never rejects. */
  constructor(private readonly claim: (workspaceId: string) => Promise<void>) {}

  request(workspaceId: string): void {
    if (this.claiming.has(workspaceId)) {
      this.claiming.set(workspaceId, true);
      return;
    }
    this.claiming.set(workspaceId, false);
    void this.claimNow(workspaceId);
  }

  private async claimNow(workspaceId: string): Promise<void> {
    await this.claim(workspaceId);
    const timer = setTimeout(() => {
      const isWanted = this.claiming.get(workspaceId) === true;
      this.claiming.delete(workspaceId);
      if (isWanted) this.request(workspaceId);
    }, CLAIM_PAUSE);
    timer.unref();
  }
}
