// `npm run dev`: serves like `npm start`, and restarts the service after each change of its sources. A change that
// does not build leaves the running service alone.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { watch } from 'node:fs';
import { setup } from './setup.mjs';
import { catchInterruptions, reportFailure } from './support/interruption.mjs';
import { createProgress } from './support/progress.mjs';
import { inRepository } from './support/repository.mjs';

const WATCHED = ['src', 'prisma', 'assembly', 'catalogue', 'scripts'];
// The build writes generated files into src/, and tests are not part of the service.
const IGNORED = /(^|\/)generated(\/|$)|\.spec\.ts$/;
// Editors and git write many files at once.
const DEBOUNCE_MS = 300;

const progress = createProgress();
const interruptions = catchInterruptions();
const { signal } = interruptions;
// One promise for all waits, so that the signal does not collect a listener with each change.
const interrupted = interruptions.orInterrupted(new Promise(() => undefined));

let service = null;

function start() {
  service = spawn(process.execPath, [inRepository('scripts/start.mjs')], { stdio: 'inherit' });
  service.once('exit', (code) => {
    service = null;
    if (code && !signal.aborted) progress.line('The service ended. Waiting for a change.');
  });
}

async function stop() {
  if (service === null) return;
  const ended = once(service, 'exit');
  // Not SIGTERM: no load balancer has to learn of it.
  service.kill('SIGINT');
  await ended;
}

/** Returns a function that resolves after the next change, or at once if the sources changed since the last call. */
function watchSources() {
  let timer;
  let hasChanged = false;
  let notify = () => undefined;
  const onChange = (_event, name) => {
    if (name === null || IGNORED.test(name)) return;
    clearTimeout(timer);
    timer = setTimeout(() => {
      hasChanged = true;
      notify();
    }, DEBOUNCE_MS);
  };
  for (const folder of WATCHED) watch(inRepository(folder), { recursive: true, signal }, onChange);
  return async () => {
    if (!hasChanged) await Promise.race([interrupted, new Promise((resolve) => (notify = resolve))]);
    hasChanged = false;
  };
}

async function run() {
  const nextChange = watchSources();
  start();
  for (;;) {
    await nextChange();
    try {
      // The running service keeps serving until the new build is complete.
      await setup({ progress, signal });
    } catch (error) {
      if (signal.aborted) throw error;
      reportFailure(error);
      progress.line('The change does not build. Waiting for the next one.');
      continue;
    }
    await stop();
    start();
  }
}

const exitCode = await run().catch(reportFailure);
await stop();
process.exit(exitCode);
