// Starts an attack in a process of its own, and collects its figures.
import { once } from 'node:events';
import { setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import { startChild } from '../../test/support/processes/child.js';
import type { AttackFigures, AttackName, AttackTarget, ParametersOf } from './attacks.js';

const PROGRAM = fileURLToPath(new URL('attacker-process.mjs', import.meta.url));
const START_TIMEOUT_MS = 60_000;
// An attacker that does not stop within this time is killed; its figures are lost.
const STOP_TIMEOUT_MS = 10_000;
// An attacker has a machine of its own: its work must not take the cores that the service is measured on.
const NICENESS = 10;

export interface RunningAttack {
  /** Resolves when the attack has run to its end. */
  readonly finished: Promise<AttackFigures>;
  /** Ends the attack early, or after it has finished. */
  stop(): Promise<AttackFigures>;
}

export async function startAttack<Name extends AttackName>(
  name: Name,
  target: AttackTarget,
  parameters: ParametersOf<Name>,
  signal: AbortSignal,
): Promise<RunningAttack> {
  const child = await startChild(PROGRAM, { environment: {}, timeout: START_TIMEOUT_MS, signal });
  const { process: attacker } = child;
  if (name !== 'probe' && attacker.pid !== undefined) setPriority(attacker.pid, NICENESS);
  const message = Promise.race([
    once(attacker, 'message', { signal }).then(
      ([sent]) => sent as { result?: AttackFigures; error?: string },
    ),
    once(attacker, 'exit').then(() => ({ error: `the attack ${name} ended without a result` })),
  ]);
  const finished = message.then(({ result, error }: { result?: AttackFigures; error?: string }) => {
    if (result === undefined) throw new Error(error ?? `the attack ${name} failed`);
    return result;
  });
  // Reported by the one that awaits it; an experiment that fails elsewhere must not end the run.
  finished.catch(() => undefined);
  attacker.send({ name, target, parameters });
  return {
    finished,
    stop: async () => {
      if (attacker.connected) attacker.send('stop');
      const timer = setTimeout(() => attacker.kill('SIGKILL'), STOP_TIMEOUT_MS);
      try {
        return await finished;
      } finally {
        clearTimeout(timer);
        await child.stop();
      }
    },
  };
}
