// Lets the lab import TypeScript of the repository without a build. The transpiler is installed later than this is loaded.
import { register } from 'node:module';

export const registerTypeScript = () =>
  register('../../test/support/jest/typescript-hooks.mjs', import.meta.url);
