// Runs the load in a process of its own, one job after another, so that its thread does nothing else.
import { releaseStreams, runChatLoad } from '../load/chat-load.mjs';
import { runLoad } from '../load/load.mjs';

function run(job) {
  if (job.releases) return Promise.resolve(releaseStreams());
  return job.chunks === undefined ? runLoad(job) : runChatLoad(job);
}

process.on('disconnect', () => process.exit());
process.on('message', (job) => {
  run(job).then(
    (result) => process.send({ result }),
    (error) => process.send({ failure: error.message }),
  );
});
process.send({});
