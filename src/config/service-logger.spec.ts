import { describe, expect, it } from '@jest/globals';
import { ServiceLogger } from './service-logger.js';

function recorder() {
  const lines: string[] = [];
  const logger = new ServiceLogger(
    { logLevel: 'info', logFormat: 'json' },
    { write: (line) => void lines.push(line) },
  );
  return { logger, last: () => JSON.parse(lines.at(-1) ?? 'null') as Record<string, unknown>, lines };
}

describe('a log line', () => {
  it('names the context and the logged members, without undefined ones', () => {
    const { logger, last } = recorder();
    logger.log({ requestId: 'one', code: undefined, status: 200 }, 'request', 'Requests');
    const { time, pid, ...rest } = last();
    expect(rest).toEqual({
      level: 'info',
      context: 'Requests',
      requestId: 'one',
      status: 200,
      msg: 'request',
    });
    expect(pid).toBe(process.pid);
    expect(new Date(time as string).toISOString()).toBe(time);
  });

  it('keeps contexts apart', () => {
    const { logger, last } = recorder();
    for (const context of ['One', 'Other', 'One', 'with "quotes"']) {
      logger.warn('text', context);
      expect(last()).toMatchObject({ level: 'warn', context, msg: 'text' });
    }
  });

  it('describes an error by chosen members', () => {
    const { logger, last, lines } = recorder();
    const error = Object.assign(new Error('broken'), { code: 'E1', values: ['secret'] });
    logger.error({ error }, 'it failed', 'Requests');
    expect(last()).toMatchObject({
      msg: 'it failed',
      error: { type: 'Error', message: 'broken', code: 'E1' },
    });
    logger.error(error, 'Requests');
    expect(last()).toMatchObject({ msg: 'error', context: 'Requests', error: { message: 'broken' } });
    expect(lines.join()).not.toContain('secret');
  });

  it('names no context when Nest passes a stack instead of one', () => {
    const { logger, last, lines } = recorder();
    const error = new Error(`it failed ${'-'.repeat(500)} secret`);
    const withoutFrames = Object.assign(new Error('it failed'), { stack: 'Error: it failed secret' });
    for (const each of [error, withoutFrames]) {
      logger.error(each, each.stack);
      expect(last()).toMatchObject({ level: 'error', msg: 'error' });
      expect(last()).not.toHaveProperty('context');
    }
    expect(lines.join()).not.toContain('secret');
  });

  it('is written whatever its members are', () => {
    const { logger, last } = recorder();
    const cyclic: Record<string, unknown> = {};
    cyclic['self'] = cyclic;
    for (const members of [cyclic, { amount: 1n }]) {
      logger.warn(members, 'odd', 'Requests');
      expect(last()).toMatchObject({ level: 'warn', context: 'Requests', msg: 'odd' });
    }
    logger.log({}, 'empty', 'Requests');
    expect(Object.keys(last())).toEqual(['level', 'time', 'pid', 'context', 'msg']);
  });

  it('is not written below the level, nor for the routes that Nest lists', () => {
    const { logger, lines } = recorder();
    logger.debug('text', 'Requests');
    logger.log('Mapped {/keys, GET} route', 'RouterExplorer');
    expect(lines).toEqual([]);
  });
});
