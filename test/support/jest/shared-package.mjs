// The transformer of packages: a test file gets the module that its process has loaded, the same as every other file.
// Loading packages again for each file took most of the time of small files.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

// A package re-exports names of others, so the version of each of them counts.
const version = createHash('sha256');
for (const file of [new URL(import.meta.url), new URL('../../../package-lock.json', import.meta.url)])
  version.update(readFileSync(file));

const isName = (name) => /^[A-Za-z_$][\w$]*$/.test(name) && name !== 'default';

function exportsOf(module, load) {
  const names = Object.keys(module).filter(isName);
  return [
    `const shared = ${load};`,
    ...names.map((name, index) => `const name${index} = shared.${name}; export { name${index} as ${name} };`),
    ...('default' in module ? ['export default shared.default;'] : []),
  ].join('\n');
}

export default {
  getCacheKey: (source, path, { configString }) =>
    version.copy().update([source, path, configString].join('\0')).digest('hex'),
  process(_source, path) {
    // main-context-environment.mjs sets the loader.
    const module = globalThis[Symbol.for('signalbox.loadPackage')](path);
    const load = `globalThis[Symbol.for('signalbox.loadPackage')](${JSON.stringify(path)})`;
    const isEcmaScript = module[Symbol.toStringTag] === 'Module';
    return { code: isEcmaScript ? exportsOf(module, load) : `module.exports = ${load};` };
  },
};
