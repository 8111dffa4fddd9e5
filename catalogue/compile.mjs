// Puts the shipped models of this folder into a module that src/ can import wherever it runs. The build calls it. YAML takes a
// hundred times as long to read as JSON, and every process reads the models at its start.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { LineCounter, parseDocument } from 'yaml';

// Models are listed in this order where a caller asks for no other (docs/contract.md#models).
const EMBEDDINGS = 'local openai cohere voyage mistral google jina nomic amazon open-models'.split(' ');
const CHATS =
  'local openai openai-2026 openai-earlier anthropic google amazon mistral cohere open-models open-models-2026 open-models-more'.split(
    ' ',
  );
const RERANKS = 'cohere voyage jina amazon open-models'.split(' ');
const FILES = [
  'defaults.yaml',
  ...EMBEDDINGS.map((vendor) => `embeddings/${vendor}.yaml`),
  ...CHATS.map((vendor) => `chat/${vendor}.yaml`),
  ...RERANKS.map((vendor) => `rerank/${vendor}.yaml`),
];

const here = new URL('.', import.meta.url);
const generated = new URL('../src/catalogue/generated/', import.meta.url);

function read(name) {
  const lineCounter = new LineCounter();
  const document = parseDocument(readFileSync(new URL(name, here), 'utf8'), {
    lineCounter,
    prettyErrors: false,
  });
  const [problem] = [...document.errors, ...document.warnings];
  if (problem)
    throw new Error(`catalogue/${name}:${lineCounter.linePos(problem.pos[0]).line}: ${problem.message}`);
  return document.toJS({ maxAliasCount: -1 });
}

const unlisted = readdirSync(fileURLToPath(here), { recursive: true })
  .map((name) => name.replaceAll('\\', '/'))
  .filter((name) => name.endsWith('.yaml') && !FILES.includes(name));
if (unlisted.length > 0) throw new Error(`catalogue/compile.mjs: state the place of ${unlisted.join(', ')}`);

const documents = Object.fromEntries(FILES.map((name) => [`catalogue/${name}`, read(name)]));
mkdirSync(generated, { recursive: true });
writeFileSync(
  new URL('shipped.ts', generated),
  `// Compiled from the YAML of catalogue/: its documents by the names of their files, as JSON.
export const SHIPPED =
  ${JSON.stringify(JSON.stringify(documents))};
`,
);
