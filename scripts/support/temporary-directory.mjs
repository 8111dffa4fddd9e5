// Directories for one run. The next run removes those of killed runs.
import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { discardEmbeddedDatabase } from '../embedded-database.mjs';
import { identifyProcess } from './processes.mjs';

const PREFIX = 'signalbox-run-';
export const databaseName = 'postgres';

function removeLeftovers() {
  for (const name of readdirSync(tmpdir())) {
    const owner = name.startsWith(PREFIX) ? Number(name.slice(PREFIX.length).split('-')[0]) : undefined;
    const directory = join(tmpdir(), name);
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

/** The caller removes it; the number in its name shows later runs whether the caller still lives. */
export function createTemporaryDirectory() {
  removeLeftovers();
  const directory = mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-`));
  // The account that runs the database for root must be able to pass through.
  if (process.getuid?.() === 0) chmodSync(directory, 0o711);
  return directory;
}
