// Turns Ctrl-C and SIGTERM into an AbortSignal, so that a script can clean up before it ends.
import { reportError } from './log.mjs';
import { watchNpm } from './processes.mjs';
import { ScriptError } from './run-command.mjs';

const EXIT_CODES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 };

// Ctrl-C under npm arrives twice: from the terminal, which signals the whole group, and from npm, which passes it on.
const ECHO_MS = 1000;

/** The reason of the signal: its name and the exit code that shells expect for it. */
class Interruption extends Error {
  constructor(signalName) {
    super(`ended by ${signalName}`);
    this.signalName = signalName;
    this.exitCode = EXIT_CODES[signalName];
  }
}

/**
 * The first signal aborts; a second one ends the process at once. `release` restores the default handling, for the
 * moment when the service takes over the signals.
 */
export function catchInterruptions() {
  const controller = new AbortController();
  let firstAt;
  const handle = (signalName) => {
    if (firstAt !== undefined && Date.now() - firstAt > ECHO_MS) process.exit(EXIT_CODES[signalName]);
    firstAt ??= Date.now();
    controller.abort(new Interruption(signalName));
  };
  for (const signalName of Object.keys(EXIT_CODES)) process.on(signalName, handle);
  watchNpm(() => process.kill(process.pid, 'SIGTERM'));
  return {
    signal: controller.signal,
    /** For work that does not accept a signal: rejects on interruption. */
    orInterrupted(work) {
      const interrupted = new Promise((_, reject) => {
        const giveUp = () => reject(controller.signal.reason);
        if (controller.signal.aborted) giveUp();
        else controller.signal.addEventListener('abort', giveUp, { once: true });
      });
      return Promise.race([work, interrupted]);
    },
    release() {
      for (const signalName of Object.keys(EXIT_CODES)) process.off(signalName, handle);
    },
  };
}

/** The last message of a failed script, and its exit code. */
export function reportFailure(error) {
  if (error instanceof Interruption) return error.exitCode;
  // A ScriptError and an error of the system (EACCES and the like) explain themselves; a bug needs its stack.
  const isExplained = error instanceof ScriptError || typeof error?.code === 'string';
  reportError(isExplained || !(error instanceof Error) ? (error?.message ?? String(error)) : error);
  return 1;
}
