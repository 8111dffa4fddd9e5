// Fails when a script comes before the first paint, or when the first load is larger than its budget: everything that the
// browser fetches to show the overview.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const PAINT_BUDGET_BYTES = 2_000;
const BUDGET_BYTES = 148_000;
/** Loaded after the first page has been painted. */
const LAZY = ['src/components/chart/time-series.tsx'];
const FIRST_PAGE = 'src/pages/overview/overview-page.tsx';
const dist = join(dirname(dirname(fileURLToPath(import.meta.url))), 'dist');
const manifest = JSON.parse(readFileSync(join(dist, '.vite/manifest.json'), 'utf8'));
const html = readFileSync(join(dist, 'index.html'), 'utf8');

/** The chunk of this source and all that it imports at once. */
function collect(name, files) {
  const { file, imports = [] } = manifest[name];
  if (files.has(file)) return;
  files.add(file);
  for (const imported of imports) collect(imported, files);
}

const sizeOf = (files) =>
  files.reduce((sum, file) => sum + gzipSync(readFileSync(join(dist, file))).length, 0);

const kilobytes = (bytes) => `${(bytes / 1000).toFixed(1)} kB`;

// Scripts without `type="module"` stop the browser until they have run. Another file than the page would stop it for longer.
const blocking = [...html.matchAll(/<script>([^]*?)<\/script>/g)].map(([, text]) => text);
const linked = [...html.matchAll(/<link [^>]*href="\.\/(assets\/[^"]+)"/g)].map(([, file]) => file);
const files = new Set(['index.html', ...linked]);
for (const name of ['index.html', FIRST_PAGE]) collect(name, files);
const paint = gzipSync(blocking.join('')).length;
const load = sizeOf([...files]);
const early = LAZY.filter((name) => files.has(manifest[name]?.file));
console.log(`Script before the first paint: ${kilobytes(paint)} of ${kilobytes(PAINT_BUDGET_BYTES)} (gzip)`);
console.log(
  `First load of the console: ${kilobytes(load)} of ${kilobytes(BUDGET_BYTES)} (gzip, ${files.size} files)`,
);
if (early.length > 0) console.error(`Loaded at once, but meant to be lazy: ${early.join(', ')}`);
const waits = [...html.matchAll(/<script src=|<link rel="stylesheet"/g)];
if (waits.length > 0) console.error('The first paint waits for a file beside the page.');
process.exitCode =
  waits.length > 0 || paint > PAINT_BUDGET_BYTES || load > BUDGET_BYTES || early.length > 0 ? 1 : 0;
