// A clock that stands until a test moves it.
import { Clock } from '../../../src/domain/clock.js';

export class TestClock extends Clock {
  private moment: Date;

  constructor(start = '2026-11-18T12:00:00.000Z') {
    super();
    this.moment = new Date(start);
  }

  override now(): Date {
    return new Date(this.moment);
  }

  set(text: string): void {
    this.moment = new Date(text);
  }

  advance(milliseconds: number): void {
    this.moment = new Date(this.moment.getTime() + milliseconds);
  }
}
