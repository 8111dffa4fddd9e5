// Ten times as many calls as can be served: admitted calls keep their latency, the others are rejected at once, memory
// stays bounded, and the service recovers soon afterwards.
import type { Lab } from '../../replicas/lab.js';
import { startLoad } from '../../replicas/load.js';
import type { LoadOptions } from '../../replicas/load.js';
import { totalRejections } from '../../replicas/load-report.js';
import type { LoadReport } from '../../replicas/load-report.js';
import { inLab, check } from '../../replicas/scenario.js';
import type { Scenario } from '../../replicas/scenario.js';
import { readMetric, residentBytes } from '../../replicas/watch.js';
import { percentile } from '../../support/statistics.js';

const UPSTREAM_MS = 200;
const MAX_CALLS = 8;
const CALM_MS = 5_000;
const OVERLOAD_MS = 10_000;
const RECOVERY_MS = 5_000;
const CLIENTS = 80;
// Load and service share the machine: the p99 of some hundred calls may be so many times what it was.
const TOLERATED = 1.5;
const TOLERATED_BYTES = 150 * 1024 * 1024;

async function measure(lab: Lab, options: LoadOptions, milliseconds: number): Promise<LoadReport> {
  const load = startLoad(lab, options);
  await lab.wait(milliseconds);
  await load.stop();
  return load.report;
}

const p99 = ({ seen }: LoadReport): number =>
  Math.round(
    percentile(
      seen.map(({ latency }) => latency),
      0.99,
    ),
  );
const megabytes = (bytes: number): string => `${Math.round(bytes / 1024 / 1024)} MB`;

export const overload: Scenario = {
  name: 'Ten times more calls than can be served',
  run: (context) => {
    const replicaOptions = { environment: { MAX_CALLS_IN_FLIGHT: String(MAX_CALLS) } };
    return inLab(context, { name: 'overload', replicas: 1, replicaOptions }, async (lab) => {
      lab.upstreamProxy.corrupt({ kind: 'delay', milliseconds: UPSTREAM_MS });
      const warmUp = await measure(lab, { clients: MAX_CALLS }, 1_000);
      const calm = await measure(lab, { clients: MAX_CALLS }, CALM_MS);
      const pid = lab.replicas[0]?.pid ?? 0;
      const bytesBefore = await residentBytes(pid);
      // Each of them comes again as soon as a call takes: ten times what fits.
      const flood = await measure(lab, { clients: CLIENTS, pauseAfterFailure: UPSTREAM_MS }, OVERLOAD_MS);
      const bytesAfter = await residentBytes(pid);
      const endedAt = performance.now();
      const after = await measure(lab, { clients: MAX_CALLS }, RECOVERY_MS);
      const recovered = Math.round((after.seen[0]?.at ?? Number.NaN) - endedAt);
      const grown = bytesAfter - bytesBefore;
      const rejection = Math.round(percentile(flood.rejectionLatencies, 0.99));
      const ownWarnings: [boolean, string][] = [
        [
          p99(flood) > TOLERATED * p99(calm),
          `p99 of what was let in went from ${p99(calm)} to ${p99(flood)} ms`,
        ],
        [p99(after) > TOLERATED * p99(calm), `p99 was ${p99(after)} ms after it, ${p99(calm)} ms before`],
        [totalRejections(flood) === 0, 'nothing was refused'],
        [rejection > p99(calm), `refusals took ${rejection} ms`],
        [!(recovered < RECOVERY_MS), `it had not recovered after ${RECOVERY_MS} ms`],
        [grown > TOLERATED_BYTES, `memory grew by ${megabytes(grown)}`],
      ];
      const offered = (flood.seen.length + totalRejections(flood)) / (OVERLOAD_MS / 1_000);
      const served = (report: LoadReport, milliseconds: number) =>
        Math.round(report.seen.length / (milliseconds / 1_000));
      return check(lab, [warmUp, calm, flood, after], {
        problems: ownWarnings.filter(([isWrong]) => isWrong).map(([, text]) => text),
        remarks: [
          `offered ${Math.round(offered)}/s, served ${served(flood, OVERLOAD_MS)}/s (${served(calm, CALM_MS)}/s at capacity)`,
          `p99 of what was let in: ${p99(calm)} ms at capacity, ${p99(flood)} ms at overload, ${p99(after)} ms after it`,
          `refusals: p50 ${Math.round(percentile(flood.rejectionLatencies, 0.5))} ms, p99 ${rejection} ms`,
          `memory: ${megabytes(bytesBefore)} before, ${megabytes(bytesAfter)} after; next answer after ${recovered} ms`,
        ],
      });
    });
  },
};

const LIMIT = 'signalbox_http_in_flight_limit';
const HEAVY = { model: 'local/hashing', sizes: [200], dimensions: 1_024 };
const WATCHED_LOOP = { environment: { MAX_EVENT_LOOP_DELAY_MS: '50' } };
const HEAVY_CLIENTS = 100;
// The limit falls 13 s after the first call, and then each second.
const SETTLING_MS = 20_000;
const SETTLED_MS = 7_500;
// The limit swings around what the processor can do: one look may come at the top of a swing.
const LOOKS = 30;

/** Calls that need processor time: only the delay of the event loop shows that they are too many. */
export const computingOverload: Scenario = {
  name: 'More to compute than the processor can',
  run: (context) =>
    inLab(context, { name: 'computing', replicas: 1, replicaOptions: WATCHED_LOOP }, async (lab) => {
      const flood = startLoad(lab, { ...HEAVY, clients: HEAVY_CLIENTS, pauseAfterFailure: 1_000 });
      await lab.wait(SETTLING_MS);
      const settledAt = performance.now();
      const limits: number[] = [];
      for (let look = 0; look < LOOKS; look++) {
        await lab.wait(SETTLED_MS / LOOKS);
        limits.push(await readMetric(lab, LIMIT));
      }
      const limit = percentile(limits, 0.5);
      const probedAt = performance.now();
      await lab.manage('GET', '/keys');
      const operation = Math.round(performance.now() - probedAt);
      await flood.stop();
      const settled = flood.report.seen.filter(({ at }) => at > settledAt).map(({ latency }) => latency);
      const endedAt = performance.now();
      while ((await readMetric(lab, LIMIT)) < 1_024 && performance.now() - endedAt < 60_000)
        await lab.wait(100);
      const recovered = Math.round(performance.now() - endedAt);
      const problems = [
        ...(totalRejections(flood.report) === 0 ? ['nothing was refused'] : []),
        ...(limit < HEAVY_CLIENTS ? [] : [`the limit was still ${limit}`]),
        ...(recovered > RECOVERY_MS ? [`the limit was back after ${recovered} ms only`] : []),
      ];
      return check(lab, [flood.report], {
        problems,
        remarks: [
          `${HEAVY_CLIENTS} clients: at most ${limit} calls at once half of the time, p99 of what was let in then ` +
            `${Math.round(percentile(settled, 0.99))} ms; an operation at that time took ${operation} ms`,
          `the limit was back after ${recovered} ms`,
        ],
      });
    }),
};
