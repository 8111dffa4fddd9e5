// Commits of chat records while the database fails, on a clock of the test.
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { TestScheduler } from '../../../test/support/chat/pump-lab.js';
import { createGeneration } from '../../../test/support/generations/generation.js';
import { LONGEST_CALL } from '../../config/chat-config.js';
import { AppError } from '../../domain/errors.js';
import type { Generation } from '../../domain/generations/generation.js';
import type { ApiKey } from '../../domain/keys/api-key.js';
import { LAST_COMMIT_MS } from '../../domain/spend/spend-lease.js';
import { RejectedValue } from '../../persistence/database/database-errors.js';
import { COMMIT_MS, RecordCommits } from './record-commits.js';
import type { CallRecord } from './record-commits.js';

const KEY = { id: 'key', workspaceId: 'workspace', accountId: 'account' } as ApiKey;

interface Lab {
  readonly commits: RecordCommits;
  readonly scheduler: TestScheduler;
  readonly gauges: { pending: number; lost: number };
  /** The generations of every append, in their order. */
  readonly appended: Generation[];
  committed: number;
  /** Null: the append succeeds. */
  failure: Error | null;
  isLogged: boolean;
  /** Appends stay open until `end`. */
  hangs: boolean;
  end: (error?: Error) => void;
  record(id?: string): CallRecord;
  pass(milliseconds: number): Promise<void>;
}

function createLab(): Lab {
  const scheduler = new TestScheduler();
  const gauges = { pending: 0, lost: 0 };
  const appended: Generation[] = [];
  const log = {
    append: (generation: Generation) => {
      appended.push(generation);
      if (lab.hangs)
        return new Promise<void>(
          (resolve, reject) => (lab.end = (error) => (error ? reject(error) : resolve())),
        );
      return lab.failure ? Promise.reject(lab.failure) : Promise.resolve();
    },
    has: () => Promise.resolve(lab.isLogged),
  };
  const metrics = {
    pendingRecords: { inc: () => void gauges.pending++, dec: () => void gauges.pending-- },
    lostRecords: { inc: () => void gauges.lost++ },
  } as unknown as ConstructorParameters<typeof RecordCommits>[1];
  const lab: Lab = {
    commits: new RecordCommits(log, metrics, scheduler),
    scheduler,
    gauges,
    appended,
    committed: 0,
    failure: null,
    isLogged: false,
    hangs: false,
    end: () => undefined,
    record: (id = 'generation') => {
      const generation = createGeneration(KEY, { id });
      return {
        generation,
        releases: [],
        unpaid: 0n,
        stored: () => Promise.resolve({ generation, content: null }),
        onCommitted: () => void lab.committed++,
      };
    },
    pass: async (milliseconds) => {
      for (let passed = 0; passed < milliseconds; passed += 50) {
        scheduler.advance(50);
        await setImmediate();
      }
    },
  };
  return lab;
}

const AWAY = new AppError('unavailable', { detail: 'the database cannot be reached' });

/** Null while the promise is open. */
function outcomeOf(promise: Promise<void>): { current: 'done' | Error | null } {
  const outcome: { current: 'done' | Error | null } = { current: null };
  promise.then(
    () => (outcome.current = 'done'),
    (error: unknown) => (outcome.current = error as Error),
  );
  return outcome;
}

describe('a commit', () => {
  it('is repeated while the database is away, and ends in time when it is back within 5 seconds', async () => {
    const lab = createLab();
    lab.failure = AWAY;
    const commit = lab.commits.begin(lab.record(), () => Promise.resolve(lab.record()));
    const inTime = outcomeOf(commit.inTime);
    await lab.pass(2_000);
    expect([inTime.current, lab.appended.length > 2]).toEqual([null, true]);
    lab.failure = null;
    await lab.pass(1_000);
    expect([inTime.current, lab.committed, lab.gauges]).toEqual(['done', 1, { pending: 0, lost: 0 }]);
    await commit.over;
    expect(lab.scheduler.pending).toBe(0);
  });

  it('goes on after 5 seconds, with the record of a call that was answered so', async () => {
    const lab = createLab();
    lab.failure = AWAY;
    const commit = lab.commits.begin(lab.record('answered'), () => Promise.resolve(lab.record('failed')));
    const [inTime, over] = [outcomeOf(commit.inTime), outcomeOf(commit.over)];
    await lab.pass(COMMIT_MS);
    expect(inTime.current).toMatchObject({ status: 503 });
    expect([over.current, lab.gauges.pending]).toEqual([null, 1]);
    await lab.pass(15_000);
    lab.failure = null;
    await lab.pass(1_000);
    expect([over.current, lab.committed, lab.gauges]).toEqual(['done', 1, { pending: 0, lost: 0 }]);
    expect([lab.appended[0]?.id, lab.appended.at(-1)?.id]).toEqual(['answered', 'failed']);
  });

  it('waits for a statement that is still running after 5 seconds: its outcome decides', async () => {
    const lab = createLab();
    lab.hangs = true;
    const commit = lab.commits.begin(lab.record('answered'), () => Promise.resolve(lab.record('failed')));
    const inTime = outcomeOf(commit.inTime);
    await lab.pass(COMMIT_MS * 2);
    expect([inTime.current, lab.gauges.pending]).toEqual([null, 0]);
    lab.end();
    await commit.over;
    expect([inTime.current, lab.appended.map(({ id }) => id), lab.committed]).toEqual([
      'done',
      ['answered'],
      1,
    ]);
    expect(lab.scheduler.pending).toBe(0);
  });

  it('whose statement fails after 5 seconds has the record of the answer from then on, and no other', async () => {
    const lab = createLab();
    lab.hangs = true;
    let replaceBy = (_record: CallRecord): void => undefined;
    const late = new Promise<CallRecord>((resolve) => (replaceBy = resolve));
    const commit = lab.commits.begin(lab.record('answered'), () => late);
    const inTime = outcomeOf(commit.inTime);
    await lab.pass(COMMIT_MS * 2);
    lab.hangs = false;
    lab.end(AWAY);
    await lab.pass(2_000);
    expect(inTime.current).toMatchObject({ status: 503 });
    expect(lab.appended.map(({ id }) => id)).toEqual(['answered']);
    replaceBy(lab.record('failed'));
    await commit.over;
    expect(lab.appended.map(({ id }) => id)).toEqual(['answered', 'failed']);
    expect([lab.committed, lab.gauges]).toEqual([1, { pending: 0, lost: 0 }]);
  });

  it('whose connection was lost after its statement is not repeated once the log has the record', async () => {
    const lab = createLab();
    lab.failure = AWAY;
    const { inTime } = lab.commits.begin(lab.record(), () => Promise.resolve(lab.record()));
    await setImmediate();
    lab.failure = new RejectedValue('unique key violated');
    lab.isLogged = true;
    await lab.pass(1_000);
    await expect(inTime).resolves.toBeUndefined();
    expect(lab.committed).toBe(1);
  });

  it.each([
    ['a value that the database rejects', new RejectedValue('no such value')],
    ['a defect', new Error('a defect')],
  ])('fails at once for %s', async (_name, failure) => {
    const lab = createLab();
    lab.failure = failure;
    const { inTime, over } = lab.commits.begin(lab.record(), () => Promise.resolve(lab.record()));
    await expect(inTime).rejects.toBe(failure);
    await over;
    expect([lab.appended.length, lab.gauges]).toEqual([1, { pending: 0, lost: 1 }]);
  });

  it('is given up after its last moment, and at the end of the process', async () => {
    const lab = createLab();
    lab.failure = AWAY;
    const first = lab.commits.begin(lab.record(), () => Promise.resolve(lab.record()));
    first.inTime.catch(() => undefined);
    await lab.pass(LAST_COMMIT_MS);
    await first.over;
    expect(lab.gauges).toEqual({ pending: 0, lost: 1 });
    const second = lab.commits.begin(lab.record(), () => Promise.resolve(lab.record()));
    second.inTime.catch(() => undefined);
    await setImmediate();
    lab.commits.onModuleDestroy();
    await second.over;
    expect([lab.gauges.lost, lab.scheduler.pending]).toEqual([2, 0]);
  });
});

it('gives a record up within the hour in which it counts on the day of its call', () => {
  expect(LONGEST_CALL + LAST_COMMIT_MS).toBeLessThan(3_600_000);
});
