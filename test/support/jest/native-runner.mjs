// Runs test files as modules of their process: Node loads each module of src, test and node_modules once, for all files
// of a worker. Jest's own registry loads them again for every file, which took longer than most files' tests.
import { createRequire, register } from 'node:module';
import { pathToFileURL } from 'node:url';

const require = createRequire(import.meta.url);
const { default: runFile } = require('jest-circus/runner');
const EVENT_HANDLERS = Symbol.for('EVENT_HANDLERS');
const JEST_OF_FILE = Symbol.for('signalbox.jestOfFile');

let jest;
// The storages of the files that run. Each lengthens a list that Node 20 and 22 walk whenever a promise is made.
const storages = new Set();

/** Loads a module that keeps the state of one file, and remembers its storages. */
function loadForFile(path) {
  const asyncHooks = require('node:async_hooks');
  const { AsyncLocalStorage } = asyncHooks;
  asyncHooks.AsyncLocalStorage = class extends AsyncLocalStorage {
    constructor(...options) {
      super(...options);
      storages.add(this);
    }
  };
  delete require.cache[path];
  try {
    return require(path);
  } finally {
    asyncHooks.AsyncLocalStorage = AsyncLocalStorage;
  }
}

function endStorages() {
  for (const storage of storages) storage.disable();
  storages.clear();
}

/** The parts of `jest` that need no module registry. They replace members of this process, not of Jest's context. */
function createJest({ moduleMocker, fakeTimersModern }, config) {
  const mocks = new moduleMocker.constructor(globalThis);
  const timers = new fakeTimersModern.constructor({ config, global: globalThis });
  const bound = (object, names) => Object.fromEntries(names.map((name) => [name, object[name].bind(object)]));
  return {
    ...bound(mocks, ['fn', 'spyOn', 'replaceProperty', 'restoreAllMocks']),
    ...bound(timers, [
      'advanceTimersByTime',
      'advanceTimersByTimeAsync',
      'getTimerCount',
      'setSystemTime',
      'useFakeTimers',
      'useRealTimers',
    ]),
  };
}

/** Remembers variables and listeners of the process, and returns the function that restores them. */
function keepProcess() {
  const variables = { ...process.env };
  const listeners = new Map(process.eventNames().map((event) => [event, process.rawListeners(event)]));
  return () => {
    for (const name of Object.keys(process.env)) if (!(name in variables)) delete process.env[name];
    Object.assign(process.env, variables);
    for (const event of process.eventNames())
      for (const listener of process.rawListeners(event))
        if (!listeners.get(event)?.includes(listener)) process.removeListener(event, listener);
  };
}

/** The members of Jest's module registry that jest-circus uses. */
const nativeRuntime = {
  requireInternalModule(path) {
    delete globalThis[EVENT_HANDLERS];
    return loadForFile(path);
  },
  requireModule: require,
  setGlobalsForRuntime: (globals) => (globalThis[JEST_OF_FILE] = { ...globals, jest }),
  unstable_shouldLoadAsEsm: () => true,
  unstable_importModule: (path) => import(pathToFileURL(path).href),
  enterTestCode: () => undefined,
  leaveTestCode: () => undefined,
};

export default async function run(globalConfig, config, environment, _runtime, path, sendMessageToJest) {
  if (globalConfig.watch || globalConfig.watchAll)
    throw new Error(
      '--watch would run old modules, which Node keeps until its process ends: start Jest again',
    );
  if (!jest) {
    register('./typescript-hooks.mjs', import.meta.url);
    process.setSourceMapsEnabled(true);
    jest = createJest(environment, config);
  }
  const { console } = globalThis;
  const prepareStackTrace = Reflect.get(Error, 'prepareStackTrace');
  const restoreProcess = keepProcess();
  globalThis.console = environment.global.console;
  // Jest's knows the files that Jest has compiled; Node's own knows these.
  Error.prepareStackTrace = undefined;
  try {
    return await runFile(globalConfig, config, environment, nativeRuntime, path, sendMessageToJest);
  } finally {
    jest.useRealTimers();
    jest.restoreAllMocks();
    endStorages();
    restoreProcess();
    Error.prepareStackTrace = prepareStackTrace;
    globalThis.console = console;
  }
}
