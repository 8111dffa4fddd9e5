// Fails when the first load is larger than its budget: everything that the browser fetches to show the overview.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const BUDGET_BYTES = 150_000;
/** Loaded after the first page has been painted. */
const LAZY = ['src/components/chart/time-series.tsx'];
const FIRST_PAGE = 'src/pages/overview/overview-page.tsx';
const dist = join(dirname(dirname(fileURLToPath(import.meta.url))), 'dist');
const manifest = JSON.parse(readFileSync(join(dist, '.vite/manifest.json'), 'utf8'));

/** The chunk of this source and all that it imports at once, with their styles. */
function collect(name, files) {
  const { file, css = [], imports = [] } = manifest[name];
  if (files.has(file)) return;
  for (const path of [file, ...css]) files.add(path);
  for (const imported of imports) collect(imported, files);
}

const files = new Set(['index.html']);
for (const name of ['index.html', FIRST_PAGE]) collect(name, files);
const lazy = LAZY.filter((name) => files.has(manifest[name]?.file));
const bytes = [...files].reduce((sum, file) => sum + gzipSync(readFileSync(join(dist, file))).length, 0);
const size = `${(bytes / 1000).toFixed(1)} kB of ${BUDGET_BYTES / 1000} kB (gzip, ${files.size} files)`;
console.log(`First load of the console: ${size}`);
if (lazy.length > 0) console.error(`Loaded at once, but meant to be lazy: ${lazy.join(', ')}`);
process.exitCode = bytes > BUDGET_BYTES || lazy.length > 0 ? 1 : 0;
