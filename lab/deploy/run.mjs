// Every query of the dashboard, evaluated by a real Prometheus that has scraped the service under load. Needs the program
// `prometheus`; loopback only. Arguments go to Jest.
import { runDatabaseTests } from '../../scripts/support/database-tests.mjs';
import { runCommand, ScriptError } from '../../scripts/support/run-command.mjs';

export async function run(args, { progress, signal }) {
  await runCommand('prometheus', ['--version'], { signal }).catch(() => {
    throw new ScriptError('The program prometheus was not found. Debian: apt install prometheus');
  });
  const specs = '--testMatch=<rootDir>/lab/deploy/*.deploy-spec.ts';
  return (await runDatabaseTests([specs, ...args], { progress, signal })).exitCode;
}
