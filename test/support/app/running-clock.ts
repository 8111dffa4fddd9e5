// Real time, for tests with a browser, which has its own clock.
import { TestClock } from './clock.js';

export class RunningClock extends TestClock {
  override now(): Date {
    return new Date();
  }
}
