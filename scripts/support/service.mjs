// The built service, for start.mjs and serve.mjs: checks its environment, starts it, and explains failures.
import cluster from 'node:cluster';
import { createServer } from 'node:net';
import { importBuilt } from './repository.mjs';
import { ScriptError } from './run-command.mjs';

/** Returns the configuration, or throws one line that names the variable at fault. */
export async function checkEnvironment(environment) {
  const { readEnvironment } = await importBuilt('main.js');
  try {
    return readEnvironment(environment);
  } catch (error) {
    throw new ScriptError(error.message);
  }
}

function withExplanation(error) {
  const host = process.env.HOST || '127.0.0.1';
  const port = process.env.PORT || '3000';
  const explanations = {
    EADDRINUSE: `Port ${port} on ${host} is taken. Set PORT to another one.`,
    EACCES: `Port ${port} on ${host} may not be opened by this user. Set PORT to 1024 or more.`,
    EADDRNOTAVAIL: `HOST ${host} is not an address of this machine. Set HOST to one that is.`,
    ENOTFOUND: `HOST ${host} is not known. Set HOST to an address of this machine.`,
  };
  // With WORKERS above 1 the worker has logged the reason; the parent's error needs no stack.
  const isExplained = error?.name === 'ConfigError' || error?.message?.startsWith('a worker ended');
  if (isExplained) return new ScriptError(error.message);
  const explanation = error?.syscall === undefined ? undefined : explanations[error.code];
  return explanation === undefined ? error : new ScriptError(explanation);
}

/**
 * Reports an occupied port before any other step, and once instead of once for every worker. Listening may still fail
 * later.
 */
export async function checkPort({ host, port }) {
  const server = createServer();
  try {
    await new Promise((resolve, reject) => {
      server.once('error', reject).listen({ host, port, exclusive: true }, resolve);
    });
  } catch (error) {
    throw withExplanation(error);
  } finally {
    server.close();
  }
}

/** Resolves when the service listens. From then on the service handles the signals itself. */
export async function startService(options) {
  const { start } = await importBuilt('main.js');
  try {
    return await start(options);
  } catch (error) {
    throw withExplanation(error);
  }
}

/** node:cluster runs the called script again in every worker; there it only serves. */
export const isWorker = !cluster.isPrimary;

/** An address that can be pasted: clients cannot connect to "all addresses". */
export function toBaseUrl(url) {
  const base = url
    .replace('//0.0.0.0:', '//127.0.0.1:')
    .replace('//[::]:', '//127.0.0.1:')
    .replace(/\/$/, '');
  return base.endsWith('/api/v1') ? base : `${base}/api/v1`;
}
