// Upstreams, destinations and clients whose connections misbehave.
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { DESTINATION_FAULTS, UPSTREAM_FAULTS } from '../../replicas/faults.js';
import type { Fault } from '../../replicas/faults.js';
import type { Lab } from '../../replicas/lab.js';
import { startLoad } from '../../replicas/load.js';
import { inLab, check, survive } from '../../replicas/scenario.js';
import type { Scenario } from '../../replicas/scenario.js';
import { percentile } from '../../support/statistics.js';

const LOAD = { clients: 8, sizes: [1, 1, 5], pause: 10 };

function between(name: string, database: string, faults: readonly Fault[]): Scenario {
  return {
    name,
    run: (context) =>
      inLab(context, { name: database }, (lab) => survive(lab, faults, LOAD, (text) => context.say(text))),
  };
}

export const upstreamFaults = between('Upstream faults through a proxy', 'upstream', UPSTREAM_FAULTS);
export const destinationFaults = between(
  'Destination faults through a proxy',
  'destination',
  DESTINATION_FAULTS,
);

const SLOW_CLIENTS = 300;
const BETWEEN_BYTES_MS = 100;
const CALM_MS = 4_000;
const SLOW_MS = 8_000;
// Milliseconds that slow clients may add to the others' calls.
const TOLERATED_MS = 150;

/** A client that never comes to the end of its headers, or of its body. */
function dawdle(lab: Lab, index: number): Socket {
  const { hostname, port } = new URL(lab.replicas[index % lab.replicas.length]?.baseUrl ?? '');
  const socket = connect(Number(port), hostname);
  const isInBody = index % 2 === 0;
  const head = 'POST /api/v1/embeddings HTTP/1.1\r\nhost: slow\r\n';
  const announced = `${head}authorization: Bearer ${lab.keys.apiKey}\r\ncontent-type: application/json\r\ncontent-length: 4000\r\n\r\n{`;
  socket.on('error', () => undefined);
  socket.write(isInBody ? announced : `${head}x-slow: `);
  const timer = setInterval(() => socket.writable && socket.write(' '), BETWEEN_BYTES_MS);
  socket.on('close', () => clearInterval(timer));
  return socket;
}

export const slowClients: Scenario = {
  name: 'Clients that send byte by byte',
  run: (context) =>
    inLab(context, { name: 'slow_clients' }, async (lab) => {
      const calm = startLoad(lab, LOAD);
      await lab.wait(CALM_MS);
      await calm.stop();
      const sockets = Array.from({ length: SLOW_CLIENTS }, (_value, index) => dawdle(lab, index));
      const beside = startLoad(lab, LOAD);
      await lab.wait(SLOW_MS);
      await beside.stop();
      for (const socket of sockets) socket.destroy();
      const p99 = ({ report }: typeof calm) =>
        Math.round(
          percentile(
            report.seen.map(({ latency }) => latency),
            0.99,
          ),
        );
      const [without, withThem] = [p99(calm), p99(beside)];
      const problems =
        beside.report.seen.length === 0 || withThem > without + TOLERATED_MS
          ? [`p99 was ${without} ms, and ${withThem} ms beside ${SLOW_CLIENTS} slow clients`]
          : [];
      const remarks = [`p99 ${without} ms without, ${withThem} ms beside ${SLOW_CLIENTS} slow clients`];
      return check(lab, [calm.report, beside.report], { problems, remarks });
    }),
};
