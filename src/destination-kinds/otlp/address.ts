// Where an OTLP receiver takes traces. People paste its origin, the base of its paths, or the whole address.
import { normaliseAddress } from '../shared/delivery-outcome.js';

const TRACES_PATH = '/v1/traces';

/**
 * The address for traces under `base`; `prefix` is the path of OTLP at this platform. What the base already ends in is
 * not said twice. What is no URL comes back as it is: the guard of addresses refuses it.
 */
export function tracesAddress(base: string, prefix = ''): string {
  const address = normaliseAddress(base);
  if (!URL.canParse(address)) return address;
  const url = new URL(address);
  const path = url.pathname.replace(/\/+$/, '');
  url.pathname = path.endsWith(TRACES_PATH) ? path : joined(path, prefix + TRACES_PATH);
  return url.href;
}

/** `/a/b` and `/b/c` make `/a/b/c`. */
function joined(path: string, suffix: string): string {
  for (let end = suffix.lastIndexOf('/'); end > 0; end = suffix.lastIndexOf('/', end - 1)) {
    if (path.endsWith(suffix.slice(0, end))) return path + suffix.slice(end);
  }
  return path + suffix;
}
