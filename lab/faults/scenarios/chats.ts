// Chats whose service, database or provider fails in the midst of their streams.
import { request } from 'undici';
import { checkChats } from '../../replicas/chat/leftovers.js';
import { databaseStopped, killAndReplace } from '../../replicas/faults.js';
import type { Lab } from '../../replicas/lab.js';
import { callAtOnce, callOnce, startLoad } from '../../replicas/load.js';
import { createReport } from '../../replicas/load-report.js';
import type { LoadReport } from '../../replicas/load-report.js';
import { createLimitedKey, spentOf } from '../money.js';
import { inLab } from '../../replicas/scenario.js';
import type { Scenario } from '../../replicas/scenario.js';

const STREAMING_TIMEOUT_MS = 120_000;
const ANSWER_TIMEOUT_MS = 30_000;
const BETWEEN_LOOKS_MS = 20;

/** Resolves when so many streams have begun. */
export async function untilStreaming(lab: Lab, streaming: () => number, wanted: number): Promise<void> {
  const deadline = performance.now() + STREAMING_TIMEOUT_MS;
  while (streaming() < wanted) {
    if (performance.now() > deadline) throw new Error(`only ${streaming()} of ${wanted} streams have begun`);
    await lab.wait(BETWEEN_LOOKS_MS);
  }
}

/** A problem if the two differ. */
function expectCount(what: string, found: number, wanted: number): string[] {
  return found === wanted ? [] : [`${what}: ${found} instead of ${wanted}`];
}

const codesOf = ({ failedStreams }: LoadReport, code: number): number =>
  failedStreams.filter((failed) => failed.code === code).length;

const KILLED_STREAMS = 200;
const KILLED = { chunks: 100, pause: 5, promptTokens: 250, waitsFor: 'the kill' };
const AFTERWARDS = { chunks: 10, pause: 0, promptTokens: 250 };
// USD: the reservations of all streams at once, and of some calls more.
const LIMIT = 0.065;
// USD: above the reservation of one of the calls afterwards.
const LARGEST_BOUND = 0.0002;
const LEASE_TIMEOUT_MS = 60_000;

export const chatsKilled: Scenario = {
  name: 'Chats: SIGKILL in the midst of 200 streams',
  run: (context) =>
    inLab(context, { name: 'chats_killed' }, async (lab) => {
      const key = await createLimitedKey(lab, LIMIT);
      const report = createReport();
      const streams = callAtOnce(lab, KILLED_STREAMS, { key, chat: KILLED }, report);
      await untilStreaming(lab, () => report.streaming, KILLED_STREAMS);
      const killedAt = performance.now();
      await killAndReplace(lab);
      lab.chats.release(KILLED.waitsFor);
      await streams;
      const problems = [
        ...expectCount('streams that broke', report.broken, KILLED_STREAMS / 2),
        ...expectCount('streams that ended', report.seen.length, KILLED_STREAMS / 2),
      ];
      // The reservations of the killed replica count as spent until its lease expires, and can be spent afterwards.
      const rest = createReport();
      for (let round = 0; !rest.rejections.has(402); round++) {
        if (performance.now() - killedAt > LEASE_TIMEOUT_MS) break;
        const replica = lab.replicas[round % lab.replicas.length];
        if (replica) await callOnce(lab, replica, { key, chat: AFTERWARDS }, rest);
      }
      const seconds = Math.round((performance.now() - killedAt) / 1_000);
      const spent = await spentOf(lab);
      if (spent > LIMIT) problems.push(`${spent} USD were spent of a limit of ${LIMIT} USD`);
      if (spent + 2 * LARGEST_BOUND < LIMIT)
        problems.push(`only ${spent} USD of ${LIMIT} USD could be spent after the kill`);
      return checkChats(lab, [report, rest], {
        problems,
        remarks: [`limit ${LIMIT} USD, spent ${spent} USD; the last of it ${seconds} s after the kill`],
      });
    }),
};

const STREAMS = 30;
// A commit is retried for five seconds before a stream ends without its usage.
const COVERED_MS = 4_500;
const BEFORE_ENDING_MS = 300;

interface Outage {
  /** The streams that end during it, and those that end after it. */
  readonly ending: LoadReport;
  readonly lasting: LoadReport;
  readonly milliseconds: number;
}

async function outage(lab: Lab, key: string, milliseconds: number): Promise<Outage> {
  const [ending, lasting] = [createReport(), createReport()];
  const begin = (waitsFor: string, report: LoadReport) =>
    callAtOnce(lab, STREAMS, { key, chat: { chunks: 20, pause: 10, waitsFor } }, report);
  const calls = [begin('the outage', ending), begin('its end', lasting)];
  await untilStreaming(lab, () => ending.streaming + lasting.streaming, 2 * STREAMS);
  const beganAt = performance.now();
  const fault = databaseStopped.run(lab, milliseconds);
  await lab.wait(BEFORE_ENDING_MS);
  lab.chats.release('the outage');
  await fault;
  const lasted = performance.now() - beganAt;
  lab.chats.release('its end');
  await Promise.all(calls);
  await lab.untilReady();
  return { ending, lasting, milliseconds: lasted };
}

export const chatsWithoutDatabase: Scenario = {
  name: 'Chats: PostgreSQL away in the midst and at the end of streams',
  run: (context) =>
    inLab(context, { name: 'chats_database' }, async (lab) => {
      const key = await createLimitedKey(lab, 1);
      const short = await outage(lab, key, 2_000);
      const long = await outage(lab, key, 20_000);
      // On a machine under load a restart may take longer than commits are retried.
      const late =
        short.milliseconds > COVERED_MS
          ? []
          : expectCount('answers of streams that ended in 2 s', short.ending.seen.length, STREAMS);
      return checkChats(
        lab,
        [short, long].flatMap(({ ending, lasting }) => [ending, lasting]),
        {
          problems: [
            ...late,
            ...expectCount('streams that ended with 503 in 20 s', codesOf(long.ending, 503), STREAMS),
            ...[short, long].flatMap(({ lasting }) =>
              expectCount('answers of streams that ended after an outage', lasting.seen.length, STREAMS),
            ),
          ],
          remarks: [short, long].map(
            ({ ending, lasting, milliseconds }) =>
              `away for ${(milliseconds / 1_000).toFixed(1)} s: of the streams that ended then ${ending.seen.length} had ` +
              `their usage late and ${codesOf(ending, 503)} had 503; ${lasting.seen.length} ended after it`,
          ),
        },
      );
    }),
};

const STALLED = 20;
// Far above the pauses of a machine under load.
const TIMEOUT_MS = '4000';
const IMPATIENT = {
  environment: {
    CHAT_IDLE_TIMEOUT_MS: TIMEOUT_MS,
    CHAT_FIRST_TOKEN_TIMEOUT_MS: TIMEOUT_MS,
    CHAT_ANSWER_TIMEOUT_MS: TIMEOUT_MS,
  },
};

export const chatsStalled: Scenario = {
  name: 'Chats: a provider that stalls',
  run: (context) =>
    inLab(context, { name: 'chats_stalled', replicaOptions: IMPATIENT }, async (lab) => {
      const key = await createLimitedKey(lab, 1);
      const kinds = {
        midway: { stallsAfter: 3 },
        'before any content': { stallsAfter: 0 },
        'without a stream': { stallsAfter: 0, streamed: 0 },
        never: { chunks: 40, pause: 50 },
      };
      const reports = await Promise.all(
        Object.values(kinds).map(async (chat) => {
          const report = createReport();
          await callAtOnce(lab, STALLED, { key, chat }, report);
          return report;
        }),
      );
      const stalled = reports.slice(0, -1);
      const [midway] = reports;
      return checkChats(lab, reports, {
        problems: [
          ...Object.keys(kinds)
            .slice(0, -1)
            .flatMap((kind, index) =>
              expectCount(`524 after a stall ${kind}`, stalled[index]?.rejections.get(524) ?? 0, STALLED),
            ),
          ...expectCount('errors within a stream', midway ? codesOf(midway, 524) : 0, STALLED),
          ...expectCount('answers beside them', reports.at(-1)?.seen.length ?? 0, STALLED),
          ...expectCount('answers that the service ended', lab.chats.cut, stalled.length * STALLED),
        ],
      });
    }),
};

const RESTARTING_LOAD = { clients: 16, chat: { chunks: 20, pause: 15, streamed: 0.7 } };

export const providerRestarted: Scenario = {
  name: 'Chats: a provider restarted beside a second endpoint',
  run: (context) =>
    inLab(context, { name: 'chats_restart', hasSecondEndpoint: true }, async (lab) => {
      const key = await createLimitedKey(lab, 1);
      const load = startLoad(lab, { ...RESTARTING_LOAD, key });
      const { report } = load;
      await untilStreaming(lab, () => report.streaming, 4);
      const problems: string[] = [];
      const remarks: string[] = [];
      for (const pauseMs of [0, 2_000, 0]) {
        await lab.wait(1_500);
        const before = { seen: report.seen.length, failed: report.failedStreams.length };
        lab.upstreamProxy.cut();
        await lab.wait(pauseMs);
        lab.upstreamProxy.repair();
        const repairedAt = performance.now();
        const seenThen = report.seen.length;
        while (report.seen.length === seenThen && performance.now() - repairedAt < ANSWER_TIMEOUT_MS)
          await lab.wait(BETWEEN_LOOKS_MS);
        const failed = report.failedStreams.length - before.failed;
        const seen = report.seen.length - before.seen;
        if (report.seen.length === seenThen)
          problems.push(`no call was answered within ${ANSWER_TIMEOUT_MS} ms of a restart`);
        remarks.push(`away for ${pauseMs} ms: ${failed} streams failed, ${seen} calls were answered`);
      }
      await load.stop();
      problems.push(
        ...expectCount(
          'failures that are not of a cut stream',
          report.failedStreams.length,
          codesOf(report, 502),
        ),
      );
      const others = [...report.rejections].filter(([status]) => status !== 502);
      if (others.length > 0)
        problems.push(`calls were refused: ${JSON.stringify(others)}, the last: ${report.lastRejection}`);
      const [row] = await lab.sql<{ count: string }>(
        `SELECT count(*) FROM generations WHERE provider = 'azure' AND status = 200`,
      );
      if (Number(row?.count) === 0) problems.push('the second endpoint has answered nothing');
      remarks.push(`the second endpoint answered ${row?.count} calls`);
      return checkChats(lab, [report], { problems, remarks });
    }),
};

const DRAINED = 20;
const PATIENT = { waitsFor: 'the signal' };
const HASTY = { waitsFor: 'nothing' };
// Beyond the grace: streams are ended, recorded, and their connections closed.
const MOST_SECONDS = 8;

async function isTakingCalls(lab: Lab, baseUrl: string): Promise<boolean> {
  return request(new URL('/ready', baseUrl), { dispatcher: lab.agent }).then(
    async ({ statusCode, body }) => (await body.dump(), statusCode === 200),
    () => false,
  );
}

export const chatsDrained: Scenario = {
  name: 'Chats: SIGTERM with open streams, and a grace long enough or too short',
  run: (context) =>
    inLab(context, { name: 'chats_drained', replicas: 1 }, async (lab) => {
      const key = await createLimitedKey(lab, 1);
      const patient = await lab.startReplica();
      const hasty = await lab.startReplica({ environment: { SHUTDOWN_GRACE_MS: '500' } });
      const [drained, ended] = [createReport(), createReport()];
      const streams = [
        callAtOnce(lab, DRAINED, { key, chat: PATIENT, replicas: [patient] }, drained),
        callAtOnce(lab, DRAINED, { key, chat: HASTY, replicas: [hasty] }, ended),
      ];
      await untilStreaming(lab, () => drained.streaming + ended.streaming, 2 * DRAINED);
      const problems: string[] = [];
      const stoppedAt = performance.now();
      for (const replica of [patient, hasty]) replica.signal('SIGTERM');
      await lab.wait(200);
      for (const { baseUrl } of [patient, hasty])
        if (await isTakingCalls(lab, baseUrl)) problems.push('a replica was ready 200 ms after SIGTERM');
      lab.chats.release(PATIENT.waitsFor);
      const codes = [await hasty.ended];
      const seconds = (performance.now() - stoppedAt) / 1_000;
      if (seconds > MOST_SECONDS) problems.push(`a grace of 0.5 s took ${seconds.toFixed(1)} s`);
      codes.push(await patient.ended);
      await Promise.all(streams);
      for (const code of codes) if (code !== 0) problems.push(`a replica ended with ${code}`);
      problems.push(
        ...expectCount('answers within the grace', drained.seen.length, DRAINED),
        ...expectCount('streams that ended with 503 after it', codesOf(ended, 503), DRAINED),
      );
      return checkChats(lab, [drained, ended], {
        problems,
        remarks: [
          `${drained.seen.length} streams drained; ${codesOf(ended, 503)} ended with 503 after a grace of 0.5 s, ` +
            `and the process ${seconds.toFixed(1)} s after the signal`,
        ],
      });
    }),
};
