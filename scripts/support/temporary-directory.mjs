// Directories for one run. The next run removes those of killed runs.
import { chmodSync, mkdtempSync, readdirSync, rmSync, statfsSync, statSync } from 'node:fs';
import { freemem, tmpdir } from 'node:os';
import { join } from 'node:path';
import { discardEmbeddedDatabase } from '../embedded-database.mjs';
import { identifyProcess } from './processes.mjs';

const PREFIX = 'signalbox-run-';
export const databaseName = 'postgres';

// Where Linux keeps files in memory.
const MEMORY = '/dev/shm';
const MIN_MEMORY_BYTES = 4 * 1024 ** 3;

function hasMemory() {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize >= MIN_MEMORY_BYTES && freemem() >= MIN_MEMORY_BYTES;
  } catch {
    return false;
  }
}

function removeLeftovers(parent) {
  for (const name of readdirSync(parent)) {
    const owner = name.startsWith(PREFIX) ? Number(name.slice(PREFIX.length).split('-')[0]) : undefined;
    const directory = join(parent, name);
    if (!owner || identifyProcess(owner)) continue;
    try {
      const isOurs = statSync(directory).uid === process.getuid?.();
      const isFree = isOurs && discardEmbeddedDatabase(join(directory, databaseName));
      if (isFree) rmSync(directory, { recursive: true, force: true });
    } catch {
      // Another run is cleaning up at the same moment; it does the rest.
    }
  }
}

/**
 * The caller removes it; the number in its name shows later runs whether the caller still lives. `inMemory`: for small
 * files that come and go quickly, in the memory of a machine that has plenty of it.
 */
export function createTemporaryDirectory({ inMemory = false } = {}) {
  const parent = inMemory && hasMemory() ? MEMORY : tmpdir();
  removeLeftovers(parent);
  const directory = mkdtempSync(join(parent, `${PREFIX}${process.pid}-`));
  // The account that runs the database for root must be able to pass through.
  if (process.getuid?.() === 0) chmodSync(directory, 0o711);
  return directory;
}
