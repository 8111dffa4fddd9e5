// Preloaded into a service: at every SIGUSR2 it collects all garbage and sends the bytes of its heap that are in use.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');

process.on('SIGUSR2', () => {
  // The first one runs finalisers, whose garbage the second one takes.
  collect();
  collect();
  process.send?.(process.memoryUsage().heapUsed);
});
