// The other gateway, as `npm run conformance` installs and starts it.
import { installPortkey } from '../../scripts/support/install-portkey.mjs';
import { inRepository } from '../../scripts/support/repository.mjs';
import { startProgram } from './children.mjs';

const PRELOAD = inRepository('conformance', 'portkey', 'loopback.cjs');

/** Null if it is not available. */
export async function startPeer({ upstreamOrigin, progress, signal }) {
  const portkey = await installPortkey({ progress, signal });
  if (portkey === null) return null;
  const child = await startProgram(portkey.program, {
    arguments: ['--headless'],
    preload: PRELOAD,
    environment: { NODE_ENV: 'production' },
    signal,
  });
  return {
    version: portkey.version,
    baseUrl: child.message.baseUrl,
    headers: {
      authorization: 'Bearer sk-stub',
      'x-portkey-provider': 'openai',
      'x-portkey-custom-host': `${upstreamOrigin}/v1`,
    },
    pid: child.process.pid,
    stop: child.stop,
  };
}
