// DATA_DIR: whether it may be used, and the small files that `npm start` keeps in it.
import { randomBytes } from 'node:crypto';
import { accessSync, chmodSync, constants, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { readFileIfPresent, writeSecretFile, writeSecretFileOnce } from './files.mjs';
import { repositoryRoot } from './repository.mjs';
import { ScriptError } from './run-command.mjs';

const MARKER_FILE = 'signalbox.json';
const FORMAT = 1;

export function locateDataDirectory() {
  const directory = resolve(repositoryRoot, process.env.DATA_DIR?.trim() || '.data');
  return {
    directory,
    lockFile: join(directory, 'signalbox.lock'),
    databaseDirectory: join(directory, 'postgres'),
    encryptionKeyFile: join(directory, 'encryption.key'),
    quickstartFile: join(directory, 'quickstart.env'),
  };
}

function checkMarker(directory, fail) {
  let format;
  try {
    format = JSON.parse(readFileSync(join(directory, MARKER_FILE), 'utf8')).format;
  } catch {
    fail(`has a ${MARKER_FILE} that cannot be read`);
  }
  if (format !== FORMAT)
    fail(`was made by another version of signalbox (format ${format}, this one is ${FORMAT})`);
}

/**
 * Creates the directory, or throws for one that is not empty and not of this project, before any file in it changes.
 */
export function claimDataDirectory({ directory }) {
  const fail = (found) => {
    throw new ScriptError(
      `DATA_DIR ${directory} ${found}. Nothing was changed. Set DATA_DIR to a new or empty directory, ` +
        'or to one that npm start has made.',
    );
  };
  try {
    const status = statSync(directory, { throwIfNoEntry: false });
    if (status && !status.isDirectory()) fail('is not a directory');
    const names = status ? readdirSync(directory) : [];
    if (status) accessSync(directory, constants.R_OK | constants.W_OK | constants.X_OK);
    if (names.includes(MARKER_FILE)) return checkMarker(directory, fail);
    // A killed start leaves an unfinished marker; a fresh volume contains lost+found.
    const foreign = names.filter((name) => !name.startsWith(MARKER_FILE) && name !== 'lost+found');
    if (foreign.length > 0) fail(`is not empty and not ours (it holds ${foreign.slice(0, 3).join(', ')})`);
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    // Root's database runs as another account, which has to pass through; it cannot list or read anything here. Only the
    // owner may set the mode: a volume of a container may be another user's, and each file here is private anyway.
    const user = process.getuid?.();
    if (statSync(directory).uid === user) chmodSync(directory, user === 0 ? 0o711 : 0o700);
    writeSecretFile(join(directory, MARKER_FILE), `${JSON.stringify({ format: FORMAT })}\n`);
  } catch (error) {
    if (error instanceof ScriptError || error.code === undefined) throw error;
    fail(`cannot be used (${error.message})`);
  }
}

/**
 * The key of this directory, created at the first start. Throws when data exists that a new key could not decrypt.
 */
export function readEncryptionKeys({ encryptionKeyFile, databaseDirectory }) {
  const kept = readFileIfPresent(encryptionKeyFile)?.trim();
  if (kept !== undefined) {
    const isKey = (text) => Buffer.from(text, 'base64').length === 32;
    if (kept.split(',').every(isKey)) return kept;
    throw new ScriptError(
      `${encryptionKeyFile} is damaged: it must hold base64 keys of 32 bytes. Restore it.`,
    );
  }
  if (statSync(databaseDirectory, { throwIfNoEntry: false })) {
    throw new ScriptError(
      `${encryptionKeyFile} is missing, and without it the stored configurations cannot be decrypted. ` +
        'Restore it, or set ENCRYPTION_KEYS to what it was when this directory was made.',
    );
  }
  writeSecretFileOnce(encryptionKeyFile, `${randomBytes(32).toString('base64')}\n`);
  // Read again: another process may have created it first.
  return readFileSync(encryptionKeyFile, 'utf8').trim();
}

/** For an external database: DATA_DIR then holds only the key for the configurations in it. */
export function keepEncryptionKeys(log) {
  const location = locateDataDirectory();
  claimDataDirectory(location);
  process.env.ENCRYPTION_KEYS = readEncryptionKeys(location);
  log(
    `ENCRYPTION_KEYS is not set; using the key in ${location.encryptionKeyFile} (every replica needs the same one)`,
  );
}

export function readQuickstart({ quickstartFile }) {
  const text = readFileIfPresent(quickstartFile) ?? '';
  const values = Object.fromEntries(
    text.split('\n').flatMap((line) => {
      const [, name, value] = /^([A-Z_]+)=(\S+)$/.exec(line.trim()) ?? [];
      return name ? [[name, value]] : [];
    }),
  );
  const { MANAGEMENT_KEY: managementKey, API_KEY: apiKey } = values;
  return managementKey && apiKey ? { managementKey, apiKey } : undefined;
}

export function writeQuickstart({ quickstartFile }, baseUrl, { managementKey, apiKey }) {
  const text = `BASE_URL=${baseUrl}\nMANAGEMENT_KEY=${managementKey}\nAPI_KEY=${apiKey}\n`;
  if (readFileIfPresent(quickstartFile) !== text) writeSecretFile(quickstartFile, text);
}
