// A cancellation notifies its listeners once.
import { describe, expect, it } from '@jest/globals';
import { Cancellation, toAbortSignal } from './cancellation.js';

describe('a cancellation', () => {
  it('notifies each listener once', () => {
    const cancellation = new Cancellation();
    const listeners: string[] = [];
    const gone = (): void => void listeners.push('gone');
    cancellation.addEventListener('abort', () => void listeners.push('first'));
    cancellation.addEventListener('abort', gone);
    cancellation.addEventListener('abort', () => void listeners.push('second'));
    cancellation.removeEventListener('abort', gone);
    expect(cancellation.aborted).toBe(false);
    expect(() => cancellation.throwIfAborted()).not.toThrow();
    cancellation.abort();
    cancellation.abort();
    cancellation.addEventListener('abort', () => void listeners.push('late'));
    expect(listeners).toEqual(['first', 'second']);
    expect(cancellation.aborted).toBe(true);
    expect(() => cancellation.throwIfAborted()).toThrow(cancellation.reason);
  });

  it('converts to an AbortSignal, aborted or not', () => {
    const cancellation = new Cancellation();
    const before = toAbortSignal(cancellation);
    expect(before.aborted).toBe(false);
    cancellation.abort();
    for (const signal of [before, toAbortSignal(cancellation)]) {
      expect(signal.aborted).toBe(true);
      expect(signal.reason).toBe(cancellation.reason);
    }
  });
});
