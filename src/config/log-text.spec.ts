import { describe, expect, it } from '@jest/globals';
import { ServiceLogger } from './service-logger.js';

function linesOf(write: (logger: ServiceLogger) => void): string[] {
  const lines: string[] = [];
  const output = { write: (line: string) => void lines.push(line) };
  write(new ServiceLogger({ logLevel: 'info', logFormat: 'text' }, output));
  return lines;
}

const TIME = /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2} /;

describe('a log line as text', () => {
  it('has time, level, context, message and members', () => {
    const [line = ''] = linesOf((logger) =>
      logger.warn(
        { route: '/keys/{hash}', status: 404, code: 'not_found', list: [1] },
        'request',
        'Requests',
      ),
    );
    expect(line).toMatch(TIME);
    expect(line.replace(TIME, '')).toBe(
      'WARN  Requests: request route="/keys/{hash}" status=404 code=not_found list=[1]\n',
    );
  });

  it('shows an error and its cause below, with their frames', () => {
    const cause = Object.assign(new Error('connection refused'), { code: 'ECONNREFUSED' });
    const [line = ''] = linesOf((logger) =>
      logger.error({ error: new TypeError('broken', { cause }) }, 'it failed', 'Start'),
    );
    expect(line.replace(TIME, '')).toMatch(
      /^ERROR Start: it failed\n {2}TypeError: broken\n {4}at .*\n {2}caused by\n {2}Error: connection refused \(ECONNREFUSED\)\n {4}at .*\n$/s,
    );
  });

  it('does not control the terminal', () => {
    const [line = ''] = linesOf((logger) =>
      logger.log({ name: 'a\u001B[2J\u009B' }, 'text\u001B[2J\nsecond', 'Test'),
    );
    expect(line.slice(0, -1)).not.toMatch(/\p{C}/u);
  });
});
