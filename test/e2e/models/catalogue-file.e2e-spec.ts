// CATALOGUE_FILE: read at the start, read again when it changes, and kept when a change breaks it.
import { rename, rm, writeFile } from 'node:fs/promises';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { ConfigError } from '../../../src/config/environment-reader.js';
import { CatalogueSource } from '../../../src/routing/catalogue-source.js';
import { createTestApp } from '../../support/app/app.js';
import { TestClock } from '../../support/app/clock.js';
import { askFor } from '../../support/requests/admin.js';
import type { TestApp } from '../../support/app/app.js';
import { withCatalogueFile } from '../../support/catalogue/catalogue-file.js';
import { embed } from '../../support/requests/create-embedding.js';
import { eventually } from '../../support/eventually.js';

const named = (name: string): string => `models: [{ id: local/hashing, name: ${name} }]\n`;
const BROKEN = 'models:\n  - id: local/hashing\n    nmae: Other\n';
const REASON = /catalogue\.yaml:3: models\[0\]\.nmae: is not known here; known are id, name, [a-z_, ]+$/;

async function withApp(use: (app: TestApp, file: string) => Promise<void>): Promise<void> {
  await withCatalogueFile(named('First'), async (file) => {
    const app = await createTestApp({ environment: { CATALOGUE_FILE: file } });
    try {
      await use(app, file);
    } finally {
      await app.close();
    }
  });
}

async function nameOf(app: TestApp): Promise<string> {
  const response = await app.http
    .get('/api/v1/models/local/hashing/endpoints')
    .set('authorization', `Bearer ${app.apiKey}`);
  return (response.body as { data: { name: string } }).data.name;
}

async function catalogueOf(app: TestApp): Promise<unknown> {
  const { data } = await askFor<{ data: { catalogue: unknown } }>(200, app, 'get', '/system');
  return data.catalogue;
}

afterEach(() => {
  jest.restoreAllMocks();
});

describe('the start', () => {
  it('fails with one line for a broken file', async () => {
    const start = withCatalogueFile(BROKEN, (file) =>
      createTestApp({ environment: { CATALOGUE_FILE: file } }),
    );
    const error: unknown = await start.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ConfigError);
    expect((error as Error).message).toMatch(/^CATALOGUE_FILE: [^\n]*$/);
    expect((error as Error).message).toMatch(REASON);
  });

  it('fails with one line for a missing file', () => {
    expect(() => new CatalogueSource('/nowhere/catalogue.yaml', new TestClock())).toThrow(
      new ConfigError('CATALOGUE_FILE: /nowhere/catalogue.yaml cannot be read (ENOENT)'),
    );
  });
});

describe('a change', () => {
  it('is served from the next request on', () =>
    withApp(async (app, file) => {
      expect(await nameOf(app)).toBe('First');
      await writeFile(file, named('Second'));
      await app.application.get(CatalogueSource).reload();
      expect(await nameOf(app)).toBe('Second');
      const response = await embed(app, { model: 'local/hashing', input: 'x' });
      expect(response.status).toBe(200);
    }));

  it('is ignored when it breaks the file, and the log has the reason', () =>
    withApp(async (app, file) => {
      const warn = jest.spyOn(Logger.prototype, 'warn').mockReturnValue();
      await writeFile(file, BROKEN);
      await app.application.get(CatalogueSource).reload();
      expect(await nameOf(app)).toBe('First');
      // The service may have noticed the change on its own before.
      expect(String(warn.mock.lastCall?.[0])).toMatch(REASON);

      await rm(file);
      await app.application.get(CatalogueSource).reload();
      expect(String(warn.mock.lastCall?.[0])).toMatch(
        /the old catalogue stays: .* cannot be read \(ENOENT\)$/,
      );
      expect(await nameOf(app)).toBe('First');
      // An operator sees it, without the folders of the file.
      expect(await catalogueOf(app)).toMatchObject({
        file: 'catalogue.yaml',
        problem: 'catalogue.yaml cannot be read (ENOENT)',
      });

      await writeFile(file, named('Third'));
      await app.application.get(CatalogueSource).reload();
      expect(await nameOf(app)).toBe('Third');
      expect(await catalogueOf(app)).toMatchObject({ file: 'catalogue.yaml', problem: null });
    }));

  it('is noticed in the same file, and in a file that replaces it', () =>
    withApp(async (app, file) => {
      const becomes = (name: string): Promise<string> =>
        eventually(
          () => nameOf(app),
          (found) => found === name,
        );
      await writeFile(file, named('Edited'));
      await becomes('Edited');
      // Editors save like this.
      await writeFile(`${file}.new`, named('Moved'));
      await rename(`${file}.new`, file);
      await becomes('Moved');
    }));
});
