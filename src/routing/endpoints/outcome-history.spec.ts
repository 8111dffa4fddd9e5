import { describe, expect, it } from '@jest/globals';
import { OutcomeHistory } from './outcome-history.js';

const MINUTE = 60_000;

describe('the outcomes of a day', () => {
  it('are unknown before the first call', () => {
    expect(new OutcomeHistory().uptime(0, 1440)).toBeNull();
  });

  it('count in every window that they fall into', () => {
    const history = new OutcomeHistory();
    history.record(0, false);
    history.record(20 * MINUTE, true);
    history.record(44 * MINUTE, true);
    history.record(45 * MINUTE, false);
    const uptimes = [5, 30, 1440].map((minutes) => history.uptime(45 * MINUTE + 1, minutes));
    expect(uptimes).toEqual([1 / 2, 2 / 3, 2 / 4]);
    expect(history.uptime(51 * MINUTE, 5)).toBeNull();
  });

  it('are forgotten after a day', () => {
    const history = new OutcomeHistory();
    history.record(0, false);
    for (let minute = 1; minute <= 3000; minute++) history.record(minute * MINUTE, true);
    expect(history.uptime(3000 * MINUTE, 1440)).toBe(1);
    expect(history.uptime(3000 * MINUTE, 5000)).toBe(1);
  });
});
