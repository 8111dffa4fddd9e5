// Compiles the AssemblyScript of this folder to WebAssembly, and puts that into a module that src/ can import wherever it
// runs. The build calls it.
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import asc from 'assemblyscript/asc';

const here = fileURLToPath(new URL('.', import.meta.url));
const generated = new URL('../src/domain/generated/', import.meta.url);

// Pages of 64 KiB. What is longer than fits there is judged without it.
const MEMORY_PAGES = '8';

async function compile(name) {
  let binary;
  const options = ['--runtime', 'stub', '--optimizeLevel', '3', '--shrinkLevel', '0', '--noAssert'];
  const memory = ['--initialMemory', MEMORY_PAGES, '--maximumMemory', MEMORY_PAGES];
  const stderr = asc.createMemoryStream();
  const { error } = await asc.main(
    [`${name}.ts`, '--baseDir', here, '--outFile', name, '--enable', 'simd', ...options, ...memory],
    { stderr, writeFile: (_file, contents) => (binary = contents) },
  );
  if (error) throw new Error(`${name}.ts does not compile\n${stderr.toString()}`, { cause: error });
  mkdirSync(generated, { recursive: true });
  writeFileSync(
    new URL(`${name}.ts`, generated),
    `// Compiled from assembly/${name}.ts: WebAssembly in base64.\nexport const WASM =\n  '${Buffer.from(binary).toString('base64')}';\n`,
  );
}

await compile('json-numbers');
