// Writes into index.html what is painted before any other file has arrived: the frame, its styles, and the script that chooses
// it; and into pages.json the addresses of pages, for the service.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build, createServer } from 'vite';
import type { Plugin, Rolldown } from 'vite';

const pathOf = (file: string): string => fileURLToPath(new URL(file, import.meta.url));

type PageFiles = Readonly<Record<string, readonly string[]>>;

export function firstPaint(): Plugin {
  return {
    name: 'first-paint',
    generateBundle() {
      const pages = JSON.stringify(readRoutes().map(([route]) => route));
      this.emitFile({ type: 'asset', fileName: 'pages.json', source: pages });
    },
    transformIndexHtml: {
      order: 'post',
      async handler(html, { bundle }) {
        const boot = await buildBoot(bundle ? readPageFiles(bundle) : {});
        const frame = await renderFirstFrame();
        return (bundle ? withStyles(html, bundle) : html)
          .replace('<head>', () => `<head>\n    <script>${boot.trim()}</script>`)
          .replace('<div id="root">', () => `<div id="root">${frame}`);
      },
    },
  };
}

const STYLESHEET = /<link rel="stylesheet"[^>]*>/;

/** A file of its own would be a second way to the server before the first paint. */
function withStyles(html: string, bundle: Rolldown.OutputBundle): string {
  const sheets = Object.values(bundle).filter(({ fileName }) => fileName.endsWith('.css'));
  const [sheet] = sheets;
  if (sheet?.type !== 'asset' || sheets.length > 1) throw new Error('the build has no single style sheet');
  delete bundle[sheet.fileName];
  return html.replace(STYLESHEET, () => `<style>${String(sheet.source)}</style>`);
}

/** By the names of classes that the build gives as well. */
async function renderFirstFrame(): Promise<string> {
  const server = await createServer({
    configFile: false,
    root: pathOf('.'),
    appType: 'custom',
    logLevel: 'warn',
    server: { middlewareMode: true, hmr: false, ws: false, watch: null },
    optimizeDeps: { noDiscovery: true },
  });
  try {
    const module = (await server.ssrLoadModule(
      '/src/app/first-frame.tsx',
    )) as typeof import('./src/app/first-frame');
    return module.renderFirstFrame();
  } finally {
    await server.close();
  }
}

/** As one classic script: it runs before the page is painted. */
async function buildBoot(pageFiles: PageFiles): Promise<string> {
  const output = await build({
    configFile: false,
    logLevel: 'warn',
    define: { PAGE_FILES: JSON.stringify(pageFiles) },
    publicDir: false,
    build: { write: false, lib: { entry: pathOf('src/app/boot.ts'), formats: ['iife'], name: 'boot' } },
  });
  const [{ output: chunks } = { output: [] }] = output as Rolldown.RolldownOutput[];
  const [chunk] = chunks;
  if (chunk?.type !== 'chunk') throw new Error('src/app/boot.ts has no output');
  return chunk.code;
}

/** The chunk of each route's page with all that it imports, but for the chunk of index.html. */
function readPageFiles(bundle: Rolldown.OutputBundle): PageFiles {
  const chunks = Object.values(bundle).filter((file) => file.type === 'chunk');
  const byName = new Map(chunks.map((chunk) => [chunk.fileName, chunk]));
  const collect = (fileName: string, files: Set<string>): Set<string> => {
    const chunk = byName.get(fileName);
    if (chunk === undefined || chunk.isEntry || files.has(fileName)) return files;
    files.add(fileName);
    for (const imported of chunk.imports) collect(imported, files);
    return files;
  };
  return Object.fromEntries(
    readRoutes().map(([route, source]) => {
      const page = chunks.find(({ facadeModuleId }) => facadeModuleId === source);
      if (page === undefined) throw new Error(`src/app/router.tsx: no chunk of ${source}`);
      return [route, [...collect(page.fileName, new Set())]];
    }),
  );
}

const ROUTE = /path: '([^']+)'(?:(?!createRoute)[^])*?import\('\.\.\/(pages\/[^']+)'\)/g;

/** Routes with the sources of their pages. */
function readRoutes(): (readonly [string, string])[] {
  const router = readFileSync(pathOf('src/app/router.tsx'), 'utf8');
  return [...router.matchAll(ROUTE)].map(([, route = '', page = '']) => [route, pathOf(`src/${page}.tsx`)]);
}
