// Log lines are buffered for a moment: none is lost when the process ends by itself or by a signal.
import { describe, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';

const LINES = 300;

const program = (end: string): string => `
  const { ServiceLogger } = await import(${JSON.stringify(new URL('../../../dist/config/service-logger.js', import.meta.url).href)});
  const logger = new ServiceLogger({ logLevel: 'info', logFormat: 'json' });
  for (let line = 0; line < ${LINES}; line++) logger.log({ line }, 'ä text', 'Test');
  ${end}
`;

describe('the log of a process', () => {
  it.each([
    ['that has nothing left to do', '', 0],
    ['that ends itself', 'process.exit(3);', 3],
    ['that fails', 'setImmediate(() => { throw new Error("failed"); });', 1],
  ])('is complete at %s', (_what, end, code) => {
    const { stdout, status } = spawnSync(process.execPath, ['--input-type=module', '--eval', program(end)], {
      encoding: 'utf8',
    });
    expect(status).toBe(code);
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { readonly line: number; readonly msg: string });
    const numbers = lines.map(({ line }) => line);
    // A write in progress when the process ends at once may land behind the final write.
    if (code !== 0) numbers.sort((one, other) => one - other);
    expect(numbers).toEqual(Array.from({ length: LINES }, (_value, line) => line));
    expect(new Set(lines.map(({ msg }) => msg))).toEqual(new Set(['ä text']));
  });
});
