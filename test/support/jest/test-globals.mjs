// `@jest/globals` of a test process. Modules outlive the file that loads them first, so `it` and its like lead to those
// of the file that runs (native-runner.mjs).
const jestOfFile = () => globalThis[Symbol.for('signalbox.jestOfFile')];

const ofFile = (name) =>
  new Proxy(() => undefined, {
    apply: (_target, _this, values) => jestOfFile()[name](...values),
    get: (_target, key) => jestOfFile()[name][key],
  });

export const [describe, it, test] = ['describe', 'it', 'test'].map(ofFile);
export const [beforeAll, beforeEach, afterEach, afterAll] = [
  'beforeAll',
  'beforeEach',
  'afterEach',
  'afterAll',
].map(ofFile);
// Jest has one of each for a process.
export const { expect, jest } = jestOfFile();
