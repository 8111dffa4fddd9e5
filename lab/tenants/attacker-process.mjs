// Runs one attack in a process of its own, so that its work delays neither the load that is measured nor the stubs. It
// ends when the process that has started it stops it.
import { setPriority } from 'node:os';
import { registerTypeScript } from '../support/typescript.mjs';

// A tenant attacks from a machine of its own. Here it shares the cores with the service: it yields to it.
setPriority(10);
process.on('disconnect', () => process.exit());
registerTypeScript();
const { ATTACKS } = await import('./attacks.ts');
const stopping = new AbortController();
process.on('message', (message) => {
  if (message === 'stop') {
    stopping.abort();
    return;
  }
  const { name, target, parameters } = message;
  ATTACKS[name](target, parameters, stopping.signal).then(
    (result) => process.send({ result }),
    (error) => process.send({ error: String(error?.stack ?? error) }),
  );
});
process.send('ready');
