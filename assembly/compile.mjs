// Compiles the AssemblyScript of this folder to WebAssembly, and puts that into a module that src/ can import wherever it
// runs. The build calls it.
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import asc from 'assemblyscript/asc';

const PROGRAM = 'vector-texts';
// Pages of 64 KiB. Texts that do not fit there are checked in TypeScript.
const MEMORY_PAGES = '8';

const here = fileURLToPath(new URL('.', import.meta.url));
const generated = new URL('../src/vectors/generated/', import.meta.url);

let binary;
const stderr = asc.createMemoryStream();
const { error } = await asc.main(
  // prettier-ignore
  [
    `${PROGRAM}.ts`, '--baseDir', here, '--outFile', PROGRAM,
    '--enable', 'simd', '--runtime', 'stub', '--noAssert',
    '--optimizeLevel', '3', '--shrinkLevel', '0',
    '--initialMemory', MEMORY_PAGES, '--maximumMemory', MEMORY_PAGES,
  ],
  { stderr, writeFile: (_file, contents) => (binary = contents) },
);
if (error) throw new Error(`assembly/${PROGRAM}.ts does not compile\n${stderr.toString()}`, { cause: error });
mkdirSync(generated, { recursive: true });
writeFileSync(
  new URL(`${PROGRAM}.ts`, generated),
  `// Compiled from assembly/${PROGRAM}.ts: WebAssembly in base64.
export const WASM =
  '${Buffer.from(binary).toString('base64')}';
`,
);
