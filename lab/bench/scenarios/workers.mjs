// WORKERS=2 beside one process, on cores that the load and the upstream use as well.
import { openService } from '../testbed/gateways.mjs';
import { embeddingsJob, alternately, measureLoad, shorterRounds } from '../testbed/measuring.mjs';
import {
  medianOf,
  medianRatio,
  milliseconds,
  percent,
  spread,
  times,
  valuesOf,
  whole,
} from '../../support/statistics.ts';

const CALL = { inputs: 1, format: 'base64', dimensions: 1536 };
const CONNECTIONS = 50;

export const workers = {
  name: 'workers',
  title: 'Two workers',
  settings: shorterRounds,
  async measure(testbed, { seconds, rounds }) {
    await testbed.setUpstreamDelay(0);
    const services = [];
    for (const processes of [1, 2]) {
      const open = () => openService(testbed, { environment: { WORKERS: `${processes}` } });
      const service = await testbed.progress.step(`Starting with WORKERS=${processes}`, open);
      services.push({ ...service, processes });
    }
    const results = await testbed.progress.step('Two workers beside one', () =>
      alternately({
        rounds,
        rows: services,
        measureRow: (service) =>
          measureLoad(testbed, service, {
            ...embeddingsJob(service, CALL),
            connections: CONNECTIONS,
            seconds,
          }),
      }),
    );
    for (const service of services) await service.stop();
    const rows = services.map((service) => {
      const all = results.get(service);
      const of = (part) => medianOf(all, part);
      const rates = valuesOf(all, 'rate');
      return {
        rates,
        cells: [
          whole(service.processes),
          whole(of('rate')),
          percent(spread(rates)),
          milliseconds(of('p50')),
          milliseconds(of('p99')),
          of('cpu').toFixed(3),
          whole(of('memory')),
        ],
      };
    });
    const [one, two] = rows;
    const ratio = medianRatio(two.rates, one.rates);
    return {
      summary: [{ what: 'calls/s with WORKERS=2', figures: { service: two.cells[1] } }],
      targets: [
        {
          what: 'calls/s with WORKERS=2, as a multiple of those with one',
          wanted: 'not below 1x',
          figure: times(ratio),
          isMet: ratio >= 1,
        },
      ],
      tables: [
        {
          title: '1 input, base64, 1536 dimensions, 50 connections',
          columns: ['WORKERS', 'calls/s', 'spread', 'p50', 'p99', 'CPU s per 1,000 calls', 'memory MiB'],
          rows: rows.map(({ cells }) => cells),
        },
      ],
      remarks: [],
    };
  },
};
