// The only script before the first paint: the theme and the frame of the page. It also sends what would wait for the large
// scripts: the question for the session, and the page's own chunk. The build writes it into the page.
import { CONSOLE_HEADERS, readSessionKind, SESSION_PATH } from './first-paint';
import { applyTheme, readTheme } from './theme';

/** The files of each page, by its route: `/keys/$hash`. */
declare const PAGE_FILES: Readonly<Record<string, readonly string[]>>;

const pageFiles = PAGE_FILES;
applyTheme(readTheme());

// The service writes the path of its host; Vite's own server has the page at the root.
const base = (document.documentElement.dataset['base'] ?? '/').replace(/^\.\//, '/');
const path = location.pathname.slice(base.length - 1);
const kind = path === '/sign-in' ? null : readSessionKind();
document.documentElement.dataset['session'] = kind ?? 'none';

const route = Object.keys(pageFiles).find((pattern) =>
  new RegExp(`^${pattern.replaceAll(/\$\w+/g, '[^/]+')}$`).test(path),
);
for (const file of pageFiles[route ?? ''] ?? []) {
  const link = document.createElement('link');
  link.rel = 'modulepreload';
  link.href = base + file;
  document.head.append(link);
}

if (kind !== null) {
  window.signalboxSession = fetch(base + SESSION_PATH.slice(1), { headers: CONSOLE_HEADERS });
  // The query of the session asks again, and reports the failure.
  window.signalboxSession.catch(() => undefined);
}
