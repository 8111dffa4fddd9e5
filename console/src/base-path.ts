// Where the console lives on its host: behind a reverse proxy it may be below a path (docs/operating.md#below-a-path).

/** Begins and ends with a slash. The build puts this file into `assets/`. */
const [, found = '/'] = /^(.*\/)assets\/[^/]+$/.exec(new URL(import.meta.url).pathname) ?? [];
export const BASE_PATH = found;

/** The address of a path of the service, which begins with a slash. */
export function urlOf(path: string): string {
  return BASE_PATH + path.slice(1);
}
