// The answer of a model inside this service as the body of an upstream.
import type { UpstreamBody, UpstreamListener } from './chat-pump.js';

export class IterableBody implements UpstreamBody {
  private isAborted = false;
  private resumed: (() => void) | null = null;
  private waiting: Promise<void> | null = null;

  /** `first` has been taken from `rest` already. */
  constructor(
    private readonly first: Buffer | null,
    private readonly rest: AsyncIterator<Buffer>,
  ) {}

  listen(listener: UpstreamListener): void {
    void this.run(listener);
  }

  pause(): void {
    this.waiting ??= new Promise((resolve) => (this.resumed = resolve));
  }

  resume(): void {
    this.resumed?.();
    this.resumed = null;
    this.waiting = null;
  }

  abort(): void {
    this.isAborted = true;
    this.resume();
    void this.rest.return?.();
  }

  private async run(listener: UpstreamListener): Promise<void> {
    try {
      for (let bytes = this.first; bytes !== null; bytes = await this.next()) {
        if (this.isAborted) return;
        listener.onChunk(bytes);
        if (this.waiting) await this.waiting;
      }
      if (!this.isAborted) listener.onEnd();
    } catch (error) {
      if (!this.isAborted) listener.onError(error as Error);
    }
  }

  private async next(): Promise<Buffer | null> {
    const { done, value } = await this.rest.next();
    return done === true ? null : value;
  }
}
