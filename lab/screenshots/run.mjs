// Pictures of the console for the documents, taken from the running product.
import { runDatabaseTests } from '../../scripts/support/database-tests.mjs';

export async function run(args, surroundings) {
  const specs = '--testMatch=<rootDir>/lab/screenshots/*.screenshots-spec.ts';
  return (await runDatabaseTests([specs, ...args], surroundings)).exitCode;
}
