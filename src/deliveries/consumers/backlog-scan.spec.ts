// The extent of a backlog scan: one page, unless a notification may have been lost.
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
  const scan = new BacklogScan(
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
    for await (const claims of scan.claim()) expect(claims).toHaveLength(state.claimsEach);
    return looked.slice(before).map((page) => page.length);
  };
  return { scan, run, looked, ids, state };
}

describe('a backlog scan', () => {
  it('reads all workspaces at first, then one page at a time', async () => {
    const { run, looked, ids } = setUp(250);
    expect(await run()).toEqual([PAGE, PAGE, 50]);
    expect(looked.flat()).toEqual(ids);
    expect(await run()).toEqual([PAGE]);
    expect(await run()).toEqual([PAGE]);
    expect(await run()).toEqual([50]);
    expect(looked.slice(3).flat()).toEqual(ids);
    expect(await run()).toEqual([PAGE]);
  });

  it('reads all workspaces after a notification may have been lost', async () => {
    const { scan, run } = setUp(250);
    await run();
    await run();
    scan.scheduleFullScan();
    expect(await run()).toEqual([PAGE, PAGE, 50]);
  });

  it('reads all workspaces when a process has ended, not when one has started', async () => {
    const { run, state } = setUp(250);
    await run();
    state.sessions = ['1', '2', '3'];
    expect(await run()).toEqual([PAGE]);
    state.sessions = ['2', '3'];
    expect(await run()).toEqual([PAGE, PAGE, 50]);
  });

  it('leaves claims to other replicas, and continues there in the next scan', async () => {
    const { run, state, looked, ids } = setUp(450);
    state.claimsEach = 100;
    expect(await run()).toEqual([PAGE, PAGE]);
    expect(await run()).toEqual([PAGE, PAGE]);
    expect(await run()).toEqual([50]);
    expect(looked.flat()).toEqual(ids);
  });

  it('continues after a failed query', async () => {
    const { run, state, looked, ids } = setUp(150);
    state.failure = new Error('away');
    await expect(run()).rejects.toThrow('away');
    state.failure = null;
    expect(await run()).toEqual([PAGE, 50]);
    expect(looked.flat()).toEqual(ids);
  });

  it('claims nothing without destinations', async () => {
    expect(await setUp(0).run()).toEqual([]);
  });
});
