// Runs the load in a process of its own, one job after another, so that its thread does nothing else.
import { runLoad } from './load.mjs';

process.on('disconnect', () => process.exit());
process.on('message', (job) => {
  runLoad(job).then(
    (result) => process.send({ result }),
    (error) => process.send({ failure: error.message }),
  );
});
process.send({});
