/**
 * Checks the wording of programs and documents: words and names that the project does without (support/words.mjs), and
 * citations of documents and headings that do not exist (support/citations.mjs).
 *
 * Usage: node scripts/lint-words.mjs [--count] [folder or file ...]   (default: everything that is written by hand)
 *
 * Prints `file:line: word -> use instead` for each, or with `--count` their number for each argument. Exits with 1 if
 * there is one.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join } from 'node:path';
import { wrongCitations } from './support/citations.mjs';
import { forbiddenWords } from './support/words.mjs';

const ROOTS = [
  'src',
  'assembly',
  'prisma/schema.prisma',
  'README.md',
  'docs',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'CHANGELOG.md',
  'openapi.json',
  'scripts',
  'lab',
  'test',
  'console',
  'deploy',
  'Dockerfile',
  'docker-compose.yml',
  'lefthook.yml',
  'jest.config.js',
  '.dependency-cruiser.cjs',
];
const PROGRAMS = new Set(['.ts', '.tsx', '.mjs', '.cjs', '.js']);
const TEXTS = new Set(['.md', '.yaml', '.yml']);
/** Generated code and installed packages, and the list of words itself. */
const SKIPPED = new Set(['generated', 'node_modules', 'dist', 'dist.building', 'words.mjs']);

function* filesUnder(path) {
  if (!statSync(path).isDirectory()) {
    yield path;
    return;
  }
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    if (SKIPPED.has(entry.name)) continue;
    const child = join(path, entry.name);
    if (entry.isDirectory()) yield* filesUnder(child);
    else if (PROGRAMS.has(extname(child)) || TEXTS.has(extname(child))) yield child;
  }
}

/** @returns {string[]} one line for each word of a file, in the order of the file */
function linesOf(file) {
  const isCode = PROGRAMS.has(extname(file));
  const text = readFileSync(file, 'utf8');
  return [...forbiddenWords(text, isCode), ...wrongCitations(text, file)].map(
    ({ line, word, instead }) => `${file}:${line}: ${word} -> ${instead}`,
  );
}

const roots = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const isCount = process.argv.includes('--count');
let total = 0;
for (const root of roots.length > 0 ? roots : ROOTS) {
  const lines = [...filesUnder(root)].toSorted((one, other) => one.localeCompare(other)).flatMap(linesOf);
  total += lines.length;
  if (isCount) console.log(`${root}: ${lines.length}`);
  else for (const line of lines) console.log(line);
}
if (total > 0) {
  console.error(`${total} words to replace; see "Rules" in CONTRIBUTING.md and scripts/support/words.mjs`);
  process.exitCode = 1;
}
