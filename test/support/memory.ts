// Memory that tests compare. Without a collection before it, a figure contains the garbage of earlier tests.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

// Milliseconds.
const SAMPLE_INTERVAL = 5;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Bytes of the heap and of buffers outside it. */
function allocated(): number {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Bytes that remain allocated after a collection. */
export function retainedMemory(): number {
  // The first collection runs finalisers, whose garbage the second one takes.
  collectGarbage();
  collectGarbage();
  return allocated();
}

/** Returns the most bytes that were allocated at a time beyond those before `run`, its own garbage included. */
export async function peakMemoryOf(run: () => Promise<unknown>): Promise<number> {
  const before = retainedMemory();
  let peak = before;
  const sample = (): void => {
    peak = Math.max(peak, allocated());
  };
  const timer = setInterval(sample, SAMPLE_INTERVAL);
  try {
    await run();
  } finally {
    clearInterval(timer);
  }
  sample();
  return peak - before;
}
