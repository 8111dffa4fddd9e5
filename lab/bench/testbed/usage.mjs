// CPU and memory of a process and its children, as the kernel counts them (Linux only).
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

const TICKS_PER_SECOND = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

function readStat(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in brackets may hold blanks; behind it the parent is the second field, and the four times follow.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return {
      parent: Number(fields[1]),
      ticks: fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0),
    };
  } catch {
    return undefined;
  }
}

/** The process and all of its descendants. */
function familyOf(root) {
  const stats = new Map();
  for (const name of readdirSync('/proc')) {
    const stat = /^\d+$/.test(name) ? readStat(name) : undefined;
    if (stat !== undefined) stats.set(Number(name), stat);
  }
  const family = stats.has(root) ? [root] : [];
  for (const pid of family) for (const [child, { parent }] of stats) if (parent === pid) family.push(child);
  return family.map((pid) => ({ pid, ticks: stats.get(pid).ticks }));
}

/** CPU seconds so far. Parents count the time of ended children. */
export function cpuSeconds(root) {
  return familyOf(root).reduce((sum, { ticks }) => sum + ticks, 0) / TICKS_PER_SECOND;
}

/** Mebibytes. Memory that processes share is counted once (proportional set size). */
export function memoryMebibytes(root) {
  const kibibytes = familyOf(root).map(({ pid }) => {
    try {
      return Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))[1]);
    } catch {
      return 0;
    }
  });
  return kibibytes.reduce((sum, part) => sum + part, 0) / 1024;
}
