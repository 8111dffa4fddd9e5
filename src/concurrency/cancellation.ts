// Cancels running work. Every exchange creates one, so it is no AbortController: creating one of those takes longer than
// the rest of a small exchange (docs/decisions/0009-hot-path.md).

/** The part of an AbortSignal that a Cancellation has as well. */
export interface CancelSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: () => void, options?: { readonly once?: boolean }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
  throwIfAborted(): void;
}

export class Cancellation implements CancelSignal {
  private readonly listeners = new Set<() => void>();
  private cause: Error | null = null;

  get aborted(): boolean {
    return this.cause !== null;
  }

  get reason(): Error | undefined {
    return this.cause ?? undefined;
  }

  /** Notifies the listeners once. As with an AbortSignal, a later listener must check `aborted` first. */
  abort(): void {
    if (this.cause) return;
    this.cause = new Error('This operation was aborted');
    const listeners = [...this.listeners];
    this.listeners.clear();
    for (const listener of listeners) listener();
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    if (!this.cause) this.listeners.add(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    this.listeners.delete(listener);
  }

  throwIfAborted(): void {
    if (this.cause) throw this.cause;
  }
}

/** For interfaces that accept an AbortSignal only. */
export function toAbortSignal(signal: CancelSignal): AbortSignal {
  const controller = new AbortController();
  if (signal.aborted) controller.abort(signal.reason);
  signal.addEventListener('abort', () => controller.abort(signal.reason), { once: true });
  return controller.signal;
}
