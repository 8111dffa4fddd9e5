// Imports TypeScript of the repository without a build. The transpiler is installed later than the scripts are
// loaded.
import { register } from 'node:module';
import { pathToFileURL } from 'node:url';
import { inRepository } from './repository.mjs';

let isRegistered = false;

/** A module by its path in the repository; its imports may be TypeScript as well. */
export function importTypeScript(path) {
  if (!isRegistered) register('./typescript-hooks.mjs', import.meta.url);
  isRegistered = true;
  return import(pathToFileURL(inRepository(path)).href);
}
