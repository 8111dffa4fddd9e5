// Every scenario, in the order in which they run.
import { chat } from './chat.mjs';
import { deliveries } from './deliveries.mjs';
import { destinations } from './destinations.mjs';
import { keys } from './keys.mjs';
import { latency } from './latency.mjs';
import { memory } from './memory.mjs';
import { logSize } from './log-size.mjs';
import { openLoop } from './open-loop.mjs';
import { slowPlatforms } from './slow-platforms.mjs';
import { throughput } from './throughput.mjs';
import { twentyDestinations } from './twenty-destinations.mjs';
import { wires } from './wires.mjs';
import { workers } from './workers.mjs';

export const SCENARIOS = [
  throughput,
  latency,
  openLoop,
  chat,
  wires,
  workers,
  keys,
  destinations,
  deliveries,
  slowPlatforms,
  twentyDestinations,
  logSize,
  memory,
];
