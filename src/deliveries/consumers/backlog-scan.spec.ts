// How much one sweep looks at: a page, unless something may have been missed.
import { describe, expect, it } from '@jest/globals';
import type { ClaimedCursor } from '../../persistence/deliveries/delivery-cursors.repository.js';
import { BacklogScan } from './backlog-scan.js';

const PAGE = 100;

function setUp(workspaces: number) {
  const ids = Array.from(
    { length: workspaces },
    (_, index) => `10000000-0000-0000-0000-${String(index).padStart(12, '0')}`,
  );
  const looked: string[][] = [];
  const state = { sessions: ['1', '2'], claimsEach: 0, failure: null as Error | null };
  const sweep = new BacklogScan(
    {
      listLiveSessions: () => Promise.resolve(state.sessions),
      listWorkspaces: (after, limit) => Promise.resolve(ids.filter((id) => id > after).slice(0, limit)),
      claimWaitingOf: (workspaceIds) => {
        if (state.failure) return Promise.reject(state.failure);
        looked.push([...workspaceIds]);
        return Promise.resolve(Array.from({ length: state.claimsEach }, () => ({}) as ClaimedCursor));
      },
    },
    () => new Date(0),
  );
  const run = async (): Promise<number[]> => {
    const before = looked.length;
    for await (const claims of sweep.claim()) expect(claims).toHaveLength(state.claimsEach);
    return looked.slice(before).map((page) => page.length);
  };
  return { sweep, run, looked, ids, state };
}

describe('a sweep', () => {
  it('looks at everything at first, and then at one page after the other', async () => {
    const { run, looked, ids } = setUp(250);
    expect(await run()).toEqual([PAGE, PAGE, 50]);
    expect(looked.flat()).toEqual(ids);
    expect(await run()).toEqual([PAGE]);
    expect(await run()).toEqual([PAGE]);
    expect(await run()).toEqual([50]);
    expect(looked.slice(3).flat()).toEqual(ids);
    expect(await run()).toEqual([PAGE]);
  });

  it('scans all workspaces after a notification may have been missed', async () => {
    const { sweep, run } = setUp(250);
    await run();
    await run();
    sweep.scheduleFullScan();
    expect(await run()).toEqual([PAGE, PAGE, 50]);
  });

  it('looks at everything when a process has ended, and not when one has come', async () => {
    const { run, state } = setUp(250);
    await run();
    state.sessions = ['1', '2', '3'];
    expect(await run()).toEqual([PAGE]);
    state.sessions = ['2', '3'];
    expect(await run()).toEqual([PAGE, PAGE, 50]);
  });

  it('leaves others their part, and goes on there the next time', async () => {
    const { run, state, looked, ids } = setUp(450);
    state.claimsEach = 100;
    expect(await run()).toEqual([PAGE, PAGE]);
    expect(await run()).toEqual([PAGE, PAGE]);
    expect(await run()).toEqual([50]);
    expect(looked.flat()).toEqual(ids);
  });

  it('goes on where the database has not answered', async () => {
    const { run, state, looked, ids } = setUp(150);
    state.failure = new Error('away');
    await expect(run()).rejects.toThrow('away');
    state.failure = null;
    expect(await run()).toEqual([PAGE, 50]);
    expect(looked.flat()).toEqual(ids);
  });

  it('asks for nothing where there is no destination', async () => {
    expect(await setUp(0).run()).toEqual([]);
  });
});
