// Checks deliveries and the history with real engines (ClickHouse as chdb, S3 as s3rver) and the published messages of OTLP.
// They are too large for every node_modules, so they are installed at first use. Arguments go to Jest.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runDatabaseTests } from '../../scripts/support/database-tests.mjs';
import { runCommand, ScriptError } from '../../scripts/support/run-command.mjs';
import { createTemporaryDirectory } from '../../scripts/support/temporary-directory.mjs';
import { folderOf, installOnce } from '../support/install.mjs';

const NAME = 'receivers';
// The OTLP package provides its .proto files: the last version that has them.
const PACKAGES = ['chdb@3.4.0', 's3rver@3.7.1', '@opentelemetry/otlp-grpc-exporter-base@0.35.1'];
// chdb is a download of more than 100 MB.
const TIMEOUT_MS = 600_000;
const directory = folderOf(NAME);
const protoDirectory = join(directory, 'node_modules/@opentelemetry/otlp-grpc-exporter-base/build/protos');
const PROTO_FILES = [
  'common/v1/common',
  'resource/v1/resource',
  'trace/v1/trace',
  'collector/trace/v1/trace_service',
];

async function install(surroundings) {
  const stamp = PACKAGES.join(' ');
  const installation = {
    name: NAME,
    title: `Installing ${stamp} (about 600 MB)`,
    stamp,
    // Without a manifest of its own, npm would find the repository's.
    prepare: (folder) => writeFileSync(join(folder, 'package.json'), '{ "private": true }\n'),
    npmArguments: ['install', '--no-save', '--no-package-lock', ...PACKAGES],
    timeout: TIMEOUT_MS,
  };
  await installOnce(installation, surroundings).catch((error) => {
    surroundings.signal.throwIfAborted();
    throw new ScriptError(
      `The engines cannot be installed; is the package registry reachable? ${error.message}`,
    );
  });
}

/** A Python that can read protobuf JSON, or undefined. The first one in the path is not always the distribution's. */
async function findPython(signal) {
  for (const program of ['python3', '/usr/bin/python3']) {
    try {
      await runCommand(program, ['-c', 'import google.protobuf.json_format'], { signal });
      return program;
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof ScriptError)) throw error;
    }
  }
  return undefined;
}

/** The environment of the OTLP check; without protoc and Python's protobuf it is skipped with a message. */
async function prepareOtlpValidator(outputDirectory, { progress, signal }) {
  const python = await findPython(signal);
  try {
    if (python === undefined) throw new ScriptError("Python's protobuf was not found on this machine");
    const files = PROTO_FILES.map((name) => join(protoDirectory, 'opentelemetry/proto', `${name}.proto`));
    await runCommand(
      'protoc',
      [`--proto_path=${protoDirectory}`, `--python_out=${outputDirectory}`, ...files],
      {
        signal,
      },
    );
  } catch (error) {
    signal.throwIfAborted();
    progress.line(
      `OTLP is not checked: ${error.message}. Debian: apt install protobuf-compiler python3-protobuf`,
    );
    return undefined;
  }
  return { SIGNALBOX_OTLP_PYTHON: python, SIGNALBOX_OTLP_MESSAGES: outputDirectory };
}

function versionOf(name) {
  return JSON.parse(readFileSync(join(directory, 'node_modules', name, 'package.json'), 'utf8')).version;
}

export async function run(args, { progress, signal }) {
  await install({ progress, signal });
  progress.line(`Reference servers: chdb ${versionOf('chdb')}, s3rver ${versionOf('s3rver')}`);
  const outputDirectory = createTemporaryDirectory();
  try {
    const otlpValidator = await prepareOtlpValidator(outputDirectory, { progress, signal });
    const names =
      otlpValidator === undefined ? '{clickhouse,history,history-contents,history-reads,s3}' : '*';
    const { exitCode } = await runDatabaseTests(
      [`--testMatch=<rootDir>/lab/receivers/${names}.receiver-spec.ts`, ...args],
      { environment: { SIGNALBOX_RECEIVERS: directory, ...otlpValidator }, progress, signal },
    );
    return exitCode;
  } finally {
    rmSync(outputDirectory, { recursive: true, force: true });
  }
}
