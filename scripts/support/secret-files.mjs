// `<VARIABLE>_FILE` for variables that hold a secret: secret managers mount files. Runs before anything reads a variable.
import { readFileSync } from 'node:fs';
import { ScriptError } from './run-command.mjs';

const SECRET_VARIABLES = [
  /^(?:DATABASE_(?:DIRECT_)?URL|ENCRYPTION_KEYS|REDIS_URL|METRICS_BEARER_TOKEN|HISTORY_CLICKHOUSE_URL|OIDC_CLIENT_SECRET)$/,
  // Addresses may have a user and a password.
  /^(?:DESTINATIONS_PROXY_URL|HTTPS?_PROXY)$/,
  /^OTEL_EXPORTER_OTLP_(?:TRACES_)?HEADERS$/,
  /^[A-Z0-9_]+_(?:API_KEY|BASE_URL)$/,
];
const MAX_BYTES = 64 * 1024;

function readSecret(fileVariable, path) {
  let bytes;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    throw new ScriptError(`${fileVariable}: ${path} cannot be read (${error.code ?? error.message})`);
  }
  if (bytes.length > MAX_BYTES)
    throw new ScriptError(`${fileVariable}: ${path} has more than ${MAX_BYTES} bytes`);
  const value = bytes.toString('utf8').trim();
  if (value === '') throw new ScriptError(`${fileVariable}: ${path} is empty`);
  return value;
}

/** Sets each secret variable from the file that its `_FILE` variable names. Throws one line that shows no secret. */
export function readSecretFiles(environment) {
  for (const [fileVariable, path] of Object.entries(environment)) {
    const name = fileVariable.replace(/_FILE$/, '');
    if (name === fileVariable || !path?.trim() || !SECRET_VARIABLES.some((form) => form.test(name))) continue;
    if (environment[name]?.trim())
      throw new ScriptError(`${name} and ${fileVariable} are both set: keep one`);
    environment[name] = readSecret(fileVariable, path.trim());
    // Started processes inherit the value.
    delete environment[fileVariable];
  }
}
