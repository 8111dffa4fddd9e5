// Runs every test file in the main context of its process: only there can files share packages (shared-package.mjs).
// Each file loads the modules of src and test for itself, and its changes of globals end with it.
import { createRequire } from 'node:module';
import vm from 'node:vm';
import { TestEnvironment as NodeEnvironment } from 'jest-environment-node';

// Jest passes its context to these functions of Node. Without one, they use the main context.
const mainContext = vm.createContext({});
const { compileFunction, SourceTextModule, SyntheticModule } = vm;
const withoutMain = (name, options) =>
  options?.[name] === mainContext ? { ...options, [name]: undefined } : options;
vm.compileFunction = (code, parameters, options) =>
  compileFunction(code, parameters, withoutMain('parsingContext', options));
vm.SourceTextModule = class extends SourceTextModule {
  constructor(code, options) {
    super(code, withoutMain('context', options));
  }
};
vm.SyntheticModule = class extends SyntheticModule {
  constructor(names, evaluate, options) {
    super(names, evaluate, withoutMain('context', options));
  }
};

// Jest's own copies of functions that a test may replace. They cannot be removed, so all files have the same.
const isKeptByJest = (key) => String(key).includes('jest-');

const requireNative = createRequire(import.meta.url);
// Packages are loaded once: their globals outlive the file that loads them first.
const globalsOfPackages = new Set();

function loadPackage(path) {
  const before = new Set(Reflect.ownKeys(globalThis));
  const module = requireNative(path);
  for (const key of Reflect.ownKeys(globalThis)) if (!before.has(key)) globalsOfPackages.add(key);
  return module;
}

/**
 * Values that every file of a worker would compute alike, by the text that they are computed from. They hold no module
 * of a file.
 */
const sharedValues = new Map();

/** Remembers the properties of an object, and returns the function that restores them. */
function keepProperties(object) {
  const kept = new Map(
    Reflect.ownKeys(object).map((key) => [key, Object.getOwnPropertyDescriptor(object, key)]),
  );
  return () => {
    for (const key of Reflect.ownKeys(object))
      if (!kept.has(key) && !globalsOfPackages.has(key)) Reflect.deleteProperty(object, key);
    for (const [key, descriptor] of kept)
      if (descriptor.configurable) Object.defineProperty(object, key, descriptor);
  };
}

/** The same for the process: the functions that Jest replaces, the variables and the listeners. */
function keepProcess() {
  const replaced = ['exit', 'getBuiltinModule'].map((name) => [name, process[name]]);
  const variables = { ...process.env };
  const listeners = new Map(process.eventNames().map((event) => [event, process.rawListeners(event)]));
  return () => {
    Object.assign(process, Object.fromEntries(replaced));
    for (const name of Object.keys(process.env)) if (!(name in variables)) delete process.env[name];
    Object.assign(process.env, variables);
    for (const event of process.eventNames())
      for (const listener of process.rawListeners(event))
        if (!listeners.get(event)?.includes(listener)) process.removeListener(event, listener);
  };
}

export default class MainContextEnvironment extends NodeEnvironment {
  constructor(config, context) {
    super(config, context);
    const { global: own, moduleMocker, fakeTimersModern } = this;
    for (const key of Reflect.ownKeys(own))
      if (isKeptByJest(key) && !(key in globalThis))
        Object.defineProperty(globalThis, key, Object.getOwnPropertyDescriptor(own, key));
    // Jest passes the imports of this file through the transformer below, which needs what this constructor sets.
    const { Logger } = loadPackage('@nestjs/common');
    this.restore = [keepProperties(globalThis), keepProperties(Logger), keepProcess()];
    globalThis[Symbol.for('signalbox.loadPackage')] = loadPackage;
    globalThis[Symbol.for('signalbox.sharedValues')] = sharedValues;
    this.global = globalThis;
    this.moduleMocker = new moduleMocker.constructor(globalThis);
    this.fakeTimersModern = new fakeTimersModern.constructor({
      config: config.projectConfig,
      global: globalThis,
    });
  }

  async teardown() {
    this.moduleMocker.restoreAllMocks();
    await super.teardown();
    for (const restore of this.restore) restore();
  }

  getVmContext() {
    // Jest takes none for the sign that the file has ended.
    return this.context && mainContext;
  }
}
