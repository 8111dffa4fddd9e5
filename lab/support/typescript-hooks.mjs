// Resolves and transpiles TypeScript for node: `./name.js` in a TypeScript file means `./name.ts`, as it does for
// tsc.
import { fileURLToPath } from 'node:url';
import { transformFile } from '@swc/core';
import { repositoryRoot } from '../../scripts/support/repository.mjs';

export function resolve(specifier, context, nextResolve) {
  const isOurs = specifier.startsWith('.') && context.parentURL?.endsWith('.ts');
  return nextResolve(isOurs ? specifier.replace(/\.js$/, '.ts') : specifier, context);
}

export async function load(url, context, nextLoad) {
  if (!url.endsWith('.ts')) return nextLoad(url, context);
  const { code } = await transformFile(fileURLToPath(url), { cwd: repositoryRoot });
  return { format: 'module', source: code, shortCircuit: true };
}
