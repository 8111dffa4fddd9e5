// Turns Ctrl-C and SIGTERM into an AbortSignal, so that a script can put away what it started before it ends.
import { watchNpm } from './processes.mjs';
import { ScriptError } from './run-command.mjs';

const EXIT_CODES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 };

// Ctrl-C under npm arrives twice: from the terminal, which signals the whole group, and from npm, which passes it on.
const ECHO_MS = 1000;

/** The reason of the signal: which one it was and the exit code that shells expect for it. */
class Interruption extends Error {
  constructor(signalName) {
    super(`ended by ${signalName}`);
    this.signalName = signalName;
    this.exitCode = EXIT_CODES[signalName];
  }
}

/**
 * The first signal aborts; one more, sent by somebody who has lost patience, ends the process at once. `release`
 * gives the signals back, for the moment when somebody else (the service) answers for them.
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
    /** For work that does not take a signal: gives it up when interrupted. */
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

/** What a script says last when it fails, and the code it ends with. */
export function reportFailure(error) {
  if (error instanceof Interruption) return error.exitCode;
  // An error made for people and one of the system (EACCES and the like) explain themselves; a bug needs its stack.
  const isExplained = error instanceof ScriptError || typeof error?.code === 'string';
  console.error(isExplained ? error.message : (error?.stack ?? String(error)));
  return 1;
}
