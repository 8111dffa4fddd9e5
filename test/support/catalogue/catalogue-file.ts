// A catalogue file of a test's own, in a folder that is gone afterwards.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** `use` may keep nothing but what it returns: the file is removed when it is done. */
export async function withCatalogueFile<Result>(
  text: string,
  use: (file: string) => Promise<Result>,
): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), 'signalbox-catalogue-'));
  try {
    const file = join(folder, 'catalogue.yaml');
    await writeFile(file, text);
    return await use(file);
  } finally {
    await rm(folder, { recursive: true });
  }
}
