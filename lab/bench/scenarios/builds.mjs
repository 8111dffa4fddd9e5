// This build beside that of another checkout, in turns: a change must not make calls slower.
import { repositoryRoot } from '../../../scripts/support/repository.mjs';
import { CHAT_ENVIRONMENT, openService } from '../testbed/gateways.mjs';
import { chatJob, embeddingsJob, alternately, measureLoad, shorterRounds } from '../testbed/measuring.mjs';
import {
  mean,
  medianOf,
  medianRatio,
  percent,
  spread,
  times,
  valuesOf,
  whole,
} from '../../support/statistics.ts';

const LEAST = 0.98;
// Processes of one build differ from each other.
const PROCESSES = 2;
const LOADS = [
  {
    title: 'Calls a second: 1 input, base64, 1536 dimensions, 50 connections',
    jobOf: (service) => ({
      ...embeddingsJob(service, { inputs: 1, format: 'base64', dimensions: 1536 }),
      connections: 50,
    }),
  },
  {
    title: 'Chunks a second: 20 streams of 40 chunks',
    jobOf: (service) => ({ ...chatJob(service, { chunks: 40, interval: 0 }), connections: 20 }),
  },
];

async function openBuilds(testbed, against) {
  const services = [];
  for (let process = 1; process <= PROCESSES; process++)
    for (const [build, root] of [
      ['before', against],
      ['now', repositoryRoot],
    ]) {
      const open = () => openService(testbed, { environment: CHAT_ENVIRONMENT, root });
      const service = await testbed.progress.step(`Starting ${build} ${process}`, open);
      services.push({ ...service, build, name: `${build} ${process}` });
    }
  return services;
}

/** The figure of a build in each round: the mean of its processes. */
const ofBuild = (services, results, build, part) => {
  const lists = services.filter((one) => one.build === build).map((one) => valuesOf(results.get(one), part));
  return lists[0].map((_value, round) => mean(lists.map((list) => list[round])));
};

export const builds = {
  name: 'builds',
  title: 'Two builds in turns',
  settings: shorterRounds,
  async measure(testbed, { seconds, rounds, against }) {
    await testbed.setUpstreamDelay(0);
    const services = await openBuilds(testbed, against);
    const measured = [];
    for (const { title, jobOf } of LOADS) {
      const measure = () =>
        alternately({
          rounds,
          rows: services,
          measureRow: (service) => measureLoad(testbed, service, { ...jobOf(service), seconds }),
        });
      const results = await testbed.progress.step(title, measure);
      const ratio = (part) =>
        medianRatio(ofBuild(services, results, 'now', part), ofBuild(services, results, 'before', part));
      measured.push({ title, results, rate: ratio('rate'), cpu: ratio('cpu') });
    }
    for (const service of services) await service.stop();
    return {
      summary: [],
      targets: measured.map(({ title, rate }) => ({
        what: `${title}, as a multiple of those before`,
        wanted: `not below ${times(LEAST)}`,
        figure: times(rate),
        isMet: rate >= LEAST,
      })),
      tables: measured.map(({ title, results, cpu }) => ({
        title: `${title}; CPU ${times(cpu)} of before`,
        columns: ['process', 'a second', 'spread', 'CPU s per 1,000 calls'],
        rows: services.map((service) => {
          const all = results.get(service);
          return [
            service.name,
            whole(medianOf(all, 'rate')),
            percent(spread(valuesOf(all, 'rate'))),
            medianOf(all, 'cpu').toFixed(3),
          ];
        }),
      })),
      remarks: [],
    };
  },
};
