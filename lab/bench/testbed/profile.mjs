// Reads the profiles that Node writes with --cpu-prof, and lists the functions by time.
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { repositoryRoot } from '../../../scripts/support/repository.mjs';
import { percent } from '../../support/statistics.ts';

const SHOWN = 45;
const IDLE = new Set(['(idle)', '(program)', '(root)']);

export const profilerArguments = (directory) => [
  '--cpu-prof',
  `--cpu-prof-dir=${directory}`,
  '--cpu-prof-interval=500',
];

function locationOf({ functionName, url, lineNumber }) {
  const path = url.startsWith('file://') ? relative(repositoryRoot, url.slice('file://'.length)) : url;
  return `${functionName || '(anonymous)'}${path === '' ? '' : `  ${path}:${lineNumber + 1}`}`;
}

/** Microseconds of self time of each function since a moment, over all profiles in the directory. */
function selfTimes(directory, since) {
  const times = new Map();
  for (const name of readdirSync(directory).filter((file) => file.endsWith('.cpuprofile'))) {
    const profile = JSON.parse(readFileSync(join(directory, name), 'utf8'));
    const locations = new Map(profile.nodes.map(({ id, callFrame }) => [id, locationOf(callFrame)]));
    let at = profile.startTime;
    for (const [index, sample] of profile.samples.entries()) {
      at += profile.timeDeltas[index];
      if (at < since) continue;
      const location = locations.get(sample);
      times.set(location, (times.get(location) ?? 0) + profile.timeDeltas[index]);
    }
  }
  return times;
}

/**
 * The functions with the most self time since `begunAt`, a time of process.hrtime.bigint, as lines. Shares are of the
 * time that was not idle.
 */
export function describeProfiles(directory, begunAt) {
  // Both processes read the one monotonic clock of the machine; the profiler writes microseconds.
  const times = selfTimes(directory, Number(begunAt / 1000n));
  const busy = [...times]
    .filter(([location]) => !IDLE.has(location))
    .toSorted(([, one], [, other]) => other - one);
  const total = busy.reduce((sum, [, time]) => sum + time, 0);
  return busy
    .slice(0, SHOWN)
    .map(
      ([location, time]) =>
        `${percent(time / total).padStart(5)}  ${(time / 1e6).toFixed(2).padStart(6)} s  ${location}`,
    )
    .join('\n');
}
