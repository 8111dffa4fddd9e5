// The log of scripts that start the service or migrate its database: lines of the service's own log.
import { importBuilt } from './repository.mjs';
import { ScriptError } from './run-command.mjs';

const CONTEXT = 'Start';

/** Writes failures as JSON; undefined before the log is open, and while it is text. */
let failures;

/**
 * Returns `log(text, method)`; the method is `log`, `warn` or `error`. Where lines are JSON, so are from then on a
 * failure, a crash and Node's warnings. Needs the build.
 */
export async function openLog(environment) {
  const { readLog } = await importBuilt('config/app-config.js');
  const { EnvironmentReader } = await importBuilt('config/environment-reader.js');
  const { ServiceLogger } = await importBuilt('config/service-logger.js');
  const reportIn = (logFormat) => {
    // Not on the standard output, which may be full when the process ends.
    failures =
      logFormat === 'json' ? new ServiceLogger({ logFormat, logLevel: 'fatal' }, process.stderr) : undefined;
  };
  reportIn(readLog(new EnvironmentReader({})).logFormat);
  let config;
  try {
    config = readLog(new EnvironmentReader(environment));
  } catch (error) {
    throw new ScriptError(error.message);
  }
  reportIn(config.logFormat);
  const logger = new ServiceLogger(config);
  if (failures) reportEvents(logger);
  return (text, method = 'log') => logger[method](text, CONTEXT);
}

function reportEvents(logger) {
  process
    .removeAllListeners('warning')
    .on('warning', (error) => logger.warn({ error }, 'Node warns', CONTEXT))
    .on('uncaughtException', (error) => {
      reportError(error);
      process.exit(1);
    });
}

/** The last words of a script: an explanation, or an unexpected error. */
export function reportError(failure) {
  if (!failures) console.error(failure instanceof Error ? failure.stack : failure);
  else if (failure instanceof Error) failures.fatal({ error: failure }, 'the process failed', CONTEXT);
  else failures.fatal(failure, CONTEXT);
}
