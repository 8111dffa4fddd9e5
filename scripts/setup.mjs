// Makes a checkout ready to run: packages, generated database client, dist/, console/dist/. Silent and quick when it is ready.
import { copyFileSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fingerprint } from './support/fingerprint.mjs';
import { readFileIfPresent, writeFileAtomically } from './support/files.mjs';
import { catchInterruptions, reportFailure } from './support/interruption.mjs';
import { tryLock } from './support/lock-file.mjs';
import { installPackages } from './support/npm.mjs';
import { sleep } from './support/processes.mjs';
import { createProgress } from './support/progress.mjs';
import { inRepository, isCalledDirectly, repositoryRoot } from './support/repository.mjs';
import { runCommand, ScriptError } from './support/run-command.mjs';

const OLDEST_NODE = [20, 19];
const lockFile = inRepository('.setup.lock');
// One stamp in node_modules and one in dist, each written last: an unfinished step has none.
const stampFile = inRepository('node_modules', '.signalbox-setup.json');
const generatedDirectories = [
  'src/persistence/generated',
  'src/vectors/generated',
  'src/catalogue/generated',
];
const builtDirectory = inRepository('dist');
const builtStampName = '.signalbox-build.json';
const unfinishedDirectory = inRepository('dist.building');
const consoleDirectory = inRepository('console', 'dist');
const unfinishedConsole = inRepository('console', 'dist.building');

function checkNodeVersion() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1])) return;
  throw new ScriptError(
    `Node ${OLDEST_NODE.join('.')} or newer is needed; this is ${process.versions.node}.`,
  );
}

function readStamp(path) {
  try {
    return JSON.parse(readFileIfPresent(path) ?? '{}');
  } catch {
    return {};
  }
}

function readVersion(packageName) {
  return readStamp(inRepository('node_modules', packageName, 'package.json')).version;
}

function writeStamp(path, stamp) {
  writeFileAtomically(path, JSON.stringify(stamp));
}

const fingerprintSources = (...names) =>
  fingerprint(
    repositoryRoot,
    names.map((name) => inRepository(name)),
  );
const fingerprintBuilt = (directory) => fingerprint(directory, [directory], builtStampName);

function describePackages() {
  return `${process.platform}-${process.arch} ${fingerprintSources('package-lock.json')}`;
}

/** The inputs of the generated code. */
function describeOrigins() {
  const versions = ['prisma', '@prisma/client', 'assemblyscript'].map(readVersion);
  return `${versions.join(' ')} ${fingerprintSources('prisma/schema.prisma', 'prisma.config.ts', 'assembly', 'catalogue')}`;
}

function describeSources() {
  return `${readVersion('@swc/core')} ${fingerprintSources('src', '.swcrc')}`;
}

// `rm -rf node_modules/*` spares the stamp, whose name begins with a dot, so packages are checked as well.
const isInstalled = () =>
  readStamp(stampFile).packages === describePackages() && readVersion('prisma') !== undefined;

function isGenerated() {
  const { origins, generated } = readStamp(stampFile);
  return origins === describeOrigins() && generated === fingerprintSources(...generatedDirectories);
}

function isBuilt() {
  const { sources, output } = readStamp(inRepository('dist', builtStampName));
  return sources === describeSources() && output === fingerprintBuilt(builtDirectory);
}

function describeConsole() {
  const names = [
    'src',
    'public',
    'index.html',
    'first-paint-plugin.ts',
    'kinds-plugin.ts',
    'vite.config.ts',
    'tsconfig.json',
    'package.json',
  ];
  // The generated types have no part in the built files.
  const sources = fingerprint(
    repositoryRoot,
    [inRepository('openapi.json'), ...names.map((name) => inRepository('console', name))],
    'console/src/api/generated/schema.d.ts',
  );
  return `${readVersion('vite')} ${fingerprintSources('package-lock.json')} ${sources}`;
}

function isConsoleBuilt() {
  const { sources, output } = readStamp(join(consoleDirectory, builtStampName));
  return sources === describeConsole() && output === fingerprintBuilt(consoleDirectory);
}

async function install(options) {
  rmSync(stampFile, { force: true });
  await installPackages(options);
  writeStamp(stampFile, { packages: describePackages() });
}

async function generate(options) {
  const { packages } = readStamp(stampFile);
  writeStamp(stampFile, { packages });
  await runCommand(process.execPath, [inRepository('node_modules/prisma/build/index.js'), 'generate'], {
    ...options,
    environment: {
      ...process.env,
      // Generating does not use the schema engine, but without this the command line downloads it first.
      PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
      PRISMA_HIDE_UPDATE_MESSAGE: '1',
      CHECKPOINT_DISABLE: '1',
    },
  });
  for (const folder of ['assembly', 'catalogue'])
    await runCommand(process.execPath, [inRepository(folder, 'compile.mjs')], options);
  const generated = fingerprintSources(...generatedDirectories);
  writeStamp(stampFile, { packages, origins: describeOrigins(), generated });
}

/** Transpiles as the tests do. `npm run typecheck` checks the types, which takes ten times as long. */
async function transpile(name) {
  const { transformFile } = await import('@swc/core');
  const target = join(unfinishedDirectory, name.replace(/\.ts$/, '.js'));
  mkdirSync(dirname(target), { recursive: true });
  if (name.endsWith('.json')) copyFileSync(inRepository('src', name), target);
  if (!name.endsWith('.ts')) return;
  const { code, map } = await transformFile(inRepository('src', name), {
    cwd: repositoryRoot,
    sourceMaps: true,
  });
  writeFileSync(target, `${code}//# sourceMappingURL=${basename(target)}.map\n`);
  writeFileSync(`${target}.map`, map);
}

async function build({ signal }) {
  const sources = describeSources();
  rmSync(unfinishedDirectory, { recursive: true, force: true });
  const names = readdirSync(inRepository('src'), { recursive: true });
  await Promise.all(names.filter((name) => !name.endsWith('.spec.ts')).map(transpile));
  signal?.throwIfAborted();
  writeStamp(inRepository('dist.building', builtStampName), {
    sources,
    output: fingerprintBuilt(unfinishedDirectory),
  });
  rmSync(builtDirectory, { recursive: true, force: true });
  renameSync(unfinishedDirectory, builtDirectory);
}

async function buildConsole(options) {
  const sources = describeConsole();
  rmSync(unfinishedConsole, { recursive: true, force: true });
  const vite = inRepository('node_modules/vite/bin/vite.js');
  await runCommand(process.execPath, [vite, 'build', '--logLevel', 'warn', '--outDir', 'dist.building'], {
    ...options,
    options: { cwd: inRepository('console') },
  });
  writeStamp(join(unfinishedConsole, builtStampName), {
    sources,
    output: fingerprintBuilt(unfinishedConsole),
  });
  rmSync(consoleDirectory, { recursive: true, force: true });
  renameSync(unfinishedConsole, consoleDirectory);
}

async function takeLock(progress, signal) {
  const begunAt = Date.now();
  let saidAt = begunAt;
  for (;;) {
    const { lock, owner } = tryLock(lockFile);
    if (lock) return lock;
    if (Date.now() - saidAt > 3000) {
      saidAt = Date.now();
      progress.line(
        `Waiting for another setup (process ${owner}) … ${Math.round((saidAt - begunAt) / 1000)} s`,
      );
    }
    await sleep(200, signal);
  }
}

/** Runs the missing steps in order; any number of processes may call it at the same time. */
export async function setup({ progress = createProgress(), signal } = {}) {
  checkNodeVersion();
  // The container contains only built files; no step is missing or possible.
  if (!existsSync(inRepository('src'))) return;
  const isConsoleReady = () => process.env.CONSOLE?.trim() === 'off' || isConsoleBuilt();
  if (isInstalled() && isGenerated() && isBuilt() && isConsoleReady()) return;
  const lock = await takeLock(progress, signal);
  const options = { signal, onStart: (pid) => lock.recordChild(pid) };
  try {
    if (!isInstalled()) await progress.step('Installing packages', () => install(options));
    if (!isGenerated())
      await progress.step('Generating the database client, WebAssembly and the catalogue', () =>
        generate(options),
      );
    if (!isBuilt()) await progress.step('Building', () => build(options));
    if (!isConsoleReady()) await progress.step('Building the console', () => buildConsole(options));
  } finally {
    for (const path of [unfinishedDirectory, unfinishedConsole])
      rmSync(path, { recursive: true, force: true });
    lock.release();
  }
}

if (isCalledDirectly(import.meta.url)) {
  const { signal } = catchInterruptions();
  process.exit(await setup({ signal }).then(() => 0, reportFailure));
}
