// Lets the work of lanes that keeps the processor for milliseconds be done piece by piece, with the calls in between: one
// piece of one lane for each turn of the event loop, however many lanes have got what they waited for.
import { Injectable } from '@nestjs/common';

@Injectable()
export class Turns {
  private readonly waiting: (() => void)[] = [];

  /** Resolves when it is the caller's turn, behind all who have asked before; it lasts until the caller next waits. */
  take(): Promise<void> {
    return new Promise((resolve) => {
      this.waiting.push(resolve);
      if (this.waiting.length === 1) setImmediate(() => this.next());
    });
  }

  private next(): void {
    this.waiting.shift()?.();
    if (this.waiting.length > 0) setImmediate(() => this.next());
  }
}
