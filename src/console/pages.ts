// Serves the web console: its build's files, and one page for every other address that is not the API's.
import { Router } from 'express';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { BuildFiles, hasTypeOfFile } from './build-files.js';
import type { BuildFile } from './build-files.js';

/** Addresses of the API, of its documents and of the operator's machines: no page takes their place. */
const OF_THE_API = /^\/(?:api|console|docs|docs-json|docs-yaml|health|ready|metrics)(?:\/|$)/;
const HASHED = '/assets/';
/** Browsers and link previews ask for `/favicon.ico` whatever the page names. */
const ICON = '/favicon.svg';

/** Nothing inline runs but the page's own script and style. */
function policyOf({ scripts, styles }: BuildFile['inlineSources'] = { scripts: [], styles: [] }): string {
  return (
    `default-src 'none'; script-src ${["'self'", ...scripts].join(' ')}; style-src ${["'self'", ...styles].join(' ')}; ` +
    "img-src 'self' data:; font-src 'self'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
  );
}

const NO_SNIFFING = { 'X-Content-Type-Options': 'nosniff' };
const OF_PAGES = {
  ...NO_SNIFFING,
  'Content-Security-Policy': policyOf(),
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
};

const NOT_BUILT = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>signalbox</title></head><body>
<h1>The console is not built</h1>
<p>Run <code>npm run build --workspace console</code> in the service's directory and load this page again.</p>
<p>The API works without it: see its documentation at <code>/docs</code>.</p>
</body></html>
`;

export interface PagesOptions {
  /** The build's directory; null: the console is switched off. */
  readonly directory: string | null;
  /** Where the page looks for its files; empty: at the root of the host. */
  readonly publicPath: string;
  /** Run before a page or a file is served: limits of requests without a credential. */
  readonly limits: readonly RequestHandler[];
}

/** A middleware: requests that are not for a page or a file of the console go on to the routes. */
export function serveConsole({ directory, publicPath, limits }: PagesOptions): RequestHandler {
  const files = directory === null ? null : new BuildFiles(directory, publicPath);
  const serve = Router();
  serve.use(...limits, (request: Request, response: Response, next: NextFunction) => {
    if (files === null || (request.path === '/' && !prefersHtml(request))) {
      sendPointers(response, publicPath, files !== null);
      return;
    }
    const found = files.find(request.path === '/favicon.ico' ? ICON : request.path);
    if (found === null && !isPage(request)) next();
    else {
      // Its own page says that there is none.
      if (found === null && !files.hasPage(request.path)) response.status(404);
      sendFile(request, response, found ?? files.page());
    }
  });
  return (request, response, next) => (isServed(request, files) ? serve(request, response, next) : next());
}

function isServed(request: Request, files: BuildFiles | null): boolean {
  if (request.method !== 'GET' && request.method !== 'HEAD') return false;
  const { path } = request;
  if (path === '/') return true;
  if (files === null || OF_THE_API.test(path)) return false;
  // The limits come before the disk.
  return hasTypeOfFile(path) || isPage(request);
}

function isPage(request: Request): boolean {
  return !request.path.startsWith(HASHED) && acceptsHtml(request);
}

/** `found` null: the console is not built. */
function sendFile(request: Request, response: Response, found: BuildFile | null): void {
  if (found === null) {
    response
      .set({ ...OF_PAGES, 'Cache-Control': 'no-store' })
      .status(503)
      .type('html')
      .send(NOT_BUILT);
    return;
  }
  const isDocument = /^(?:text\/html|image\/svg)/.test(found.type);
  response.set(isDocument ? OF_PAGES : NO_SNIFFING);
  if (found.type.startsWith('text/html'))
    response.set('Content-Security-Policy', policyOf(found.inlineSources));
  response.set(
    'Cache-Control',
    found.path.startsWith(HASHED) ? 'public, max-age=31536000, immutable' : 'no-cache',
  );
  response.set({ ETag: found.tag, 'Content-Type': found.type, Vary: 'Accept, Accept-Encoding' });
  response.send(bytesOf(request, response, found));
}

function bytesOf(request: Request, response: Response, found: BuildFile): Buffer {
  const packed = request.acceptsEncodings(['gzip', 'identity']) === 'gzip' ? found.gzipped : null;
  if (packed === null) return found.bytes;
  response.set('Content-Encoding', 'gzip');
  return packed;
}

/** For clients that look for the API at the root. */
function sendPointers(response: Response, publicPath: string, hasConsole: boolean): void {
  const data = {
    docs: `${publicPath}/docs`,
    openapi: `${publicPath}/api/v1/openapi.json`,
    console: hasConsole,
  };
  response.set({ ...NO_SNIFFING, 'Cache-Control': 'no-cache', Vary: 'Accept' }).json({ data });
}

/** Browsers name HTML; clients that accept everything get JSON. */
function prefersHtml(request: Request): boolean {
  return acceptsHtml(request) && request.accepts(['json', 'html']) === 'html';
}

function acceptsHtml({ headers }: Request): boolean {
  return /\btext\/html\b/.test(headers.accept ?? '');
}
