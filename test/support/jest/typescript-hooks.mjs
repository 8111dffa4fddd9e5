// Resolves and transpiles TypeScript for node: `./name.js` in a TypeScript file means `./name.ts`, as it does for
// tsc. In a test process, `@jest/globals` means the file beside this one.
import { fileURLToPath } from 'node:url';
import { transformFile } from '@swc/core';
import { repositoryRoot } from '../../../scripts/support/repository.mjs';

const GLOBALS = new URL('test-globals.mjs', import.meta.url).href;

/** The console's imports have no ending. */
const withTypeScript = (end) => `${end.replace(/\.js$/, '')}.ts`;

export function resolve(specifier, context, nextResolve) {
  if (specifier === '@jest/globals') return { url: GLOBALS, shortCircuit: true };
  const isOurs = specifier.startsWith('.') && context.parentURL?.endsWith('.ts');
  return nextResolve(isOurs ? specifier.replace(/(?:\.js|\/[^/.]+)$/, withTypeScript) : specifier, context);
}

export async function load(url, context, nextLoad) {
  if (!url.endsWith('.ts')) return nextLoad(url, context);
  const { code } = await transformFile(fileURLToPath(url), { cwd: repositoryRoot });
  return { format: 'module', source: code, shortCircuit: true };
}
