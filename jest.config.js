// How the tests are run: by Node's own loader (test/support/jest), one database per test file, a plain closing line.

// Only `npm run test:all` runs these.
const EXHAUSTIVE = ['<rootDir>/test/console/', '<rootDir>/test/fuzz/', '\\.all-spec\\.ts$'];

export default {
  rootDir: '.',
  testMatch: [
    '<rootDir>/src/**/*.spec.ts',
    '<rootDir>/console/src/**/*.spec.ts',
    '<rootDir>/lab/**/*.spec.ts',
    '<rootDir>/test/**/*.e2e-spec.ts',
    '<rootDir>/test/**/*.contract-spec.ts',
    '<rootDir>/test/**/*.int-spec.ts',
    '<rootDir>/test/**/*.fuzz-spec.ts',
    '<rootDir>/test/**/*.all-spec.ts',
  ],
  testPathIgnorePatterns: ['/node_modules/', ...(process.env.SIGNALBOX_TEST_ALL === 'yes' ? [] : EXHAUSTIVE)],
  // Nothing is loaded through Jest.
  transform: {},
  testRunner: '<rootDir>/test/support/jest/native-runner.mjs',
  injectGlobals: false,
  // Tests wait for PostgreSQL and for timers: a third worker uses what two leave of two cores. Browsers leave nothing.
  maxWorkers: process.env.SIGNALBOX_TEST_ALL === 'yes' ? 2 : 3,
  // The variables of every file stay: without an end to it, a worker spends its time collecting.
  workerIdleMemoryLimit: '1GB',
  // Milliseconds. Far above what any test takes: a machine under load must not fail one.
  testTimeout: 300_000,
};
