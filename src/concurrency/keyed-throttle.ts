// Acts for a key on the first request, then at most once a pause, however often the key is requested.
export class KeyedThrottle {
  /** Keys in their act or pause; true: requested again, to act after the pause. */
  private readonly active = new Map<string, boolean>();

  /** `pause` in milliseconds from the end of an act; `act` never rejects. */
  constructor(
    private readonly pause: number,
    private readonly act: (key: string) => Promise<void>,
  ) {}

  request(key: string): void {
    if (this.active.has(key)) {
      this.active.set(key, true);
      return;
    }
    this.active.set(key, false);
    void this.run(key);
  }

  private async run(key: string): Promise<void> {
    await this.act(key);
    const timer = setTimeout(() => {
      const isRequested = this.active.get(key) === true;
      this.active.delete(key);
      if (isRequested) this.request(key);
    }, this.pause);
    timer.unref();
  }
}
