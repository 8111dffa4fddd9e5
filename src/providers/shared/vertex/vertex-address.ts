// Addresses of models at Vertex. The location is that of the host; the project is that of the key, unless the operator's base URL
// names both.
import type { ProviderConnection } from '../upstream.js';
import { readServiceAccount } from './service-account.js';

const REGION = /^([a-z0-9-]+)-aiplatform\.(?:[\w.-]+\.)?googleapis\.com$/;
const MULTI_REGION = /^aiplatform\.([a-z0-9-]+)\.rep\.googleapis\.com$/;
const NAMES_LOCATION = /\/locations\/[^/?]+(?=$|\?)/;

/** Below the base URL. `path`: below `publishers/`. Throws UnusableKey. */
export function vertexPath({ baseUrl, apiKey = '' }: ProviderConnection, path: string): string {
  const below = `/publishers/${path}`;
  if (NAMES_LOCATION.test(baseUrl)) return below;
  const { projectId } = readServiceAccount(apiKey);
  return `/projects/${projectId}/locations/${locationOf(baseUrl)}${below}`;
}

function locationOf(baseUrl: string): string {
  const { hostname } = new URL(baseUrl);
  return (REGION.exec(hostname) ?? MULTI_REGION.exec(hostname))?.[1] ?? 'global';
}
