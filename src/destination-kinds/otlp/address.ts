// The traces address of an OTLP receiver. Users paste its origin, the base of its paths, or the whole address.
import { normaliseAddress } from '../shared/delivery-outcome.js';

const TRACES_PATH = '/v1/traces';

/**
 * Returns the traces address under `base`; `prefix` is the platform's OTLP path. A suffix that `base` already has is
 * not repeated. Text that is not a URL is returned unchanged, and the URL guard refuses it.
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
