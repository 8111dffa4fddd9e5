// The limits of an exchange, whatever the work inside does with its signal.
import { describe, expect, it } from '@jest/globals';
import { getEventListeners } from 'node:events';
import { OutboundFailure, OutboundTimeout, withinLimits } from './exchange.js';

const deaf = (): Promise<never> => new Promise(() => undefined);

describe('limits', () => {
  it('end work that does not hear of its signal, such as undici while it connects', async () => {
    await expect(withinLimits({ timeout: 5 }, deaf)).rejects.toThrow(OutboundTimeout);
    const controller = new AbortController();
    const given = withinLimits({ timeout: 60_000, signal: controller.signal }, deaf);
    controller.abort();
    await expect(given).rejects.toMatchObject({ constructor: OutboundFailure });
  });

  it('tell the work', async () => {
    const heard: boolean[] = [];
    const work = (signal: AbortSignal): Promise<never> => {
      signal.addEventListener('abort', () => heard.push(true));
      return deaf();
    };
    await expect(withinLimits({ timeout: 5 }, work)).rejects.toThrow(OutboundTimeout);
    expect(heard).toEqual([true]);
  });

  it("leave nothing behind at a caller's signal, which any number of exchanges may have", async () => {
    const warnings: Error[] = [];
    const warn = (warning: Error): void => void warnings.push(warning);
    process.on('warning', warn);
    const { signal } = new AbortController();
    const enders: (() => void)[] = [];
    const exchanges = Array.from({ length: 50 }, () =>
      withinLimits({ timeout: 60_000, signal }, () => new Promise<void>((resolve) => enders.push(resolve))),
    );
    expect(getEventListeners(signal, 'abort')).toHaveLength(50);
    for (const end of enders) end();
    await Promise.all(exchanges);
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
    // Warnings are told one tick later.
    await new Promise((resolve) => setImmediate(resolve));
    process.off('warning', warn);
    expect(warnings).toEqual([]);
  });

  it('keep the reason of a failure: the code of the system, or the message', async () => {
    const failing = (cause: Error) => withinLimits({ timeout: 60_000 }, () => Promise.reject(cause));
    await expect(
      failing(Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })),
    ).rejects.toMatchObject({
      constructor: OutboundFailure,
      message: 'ECONNREFUSED',
    });
    await expect(failing(new Error('odd'))).rejects.toMatchObject({
      constructor: OutboundFailure,
      message: 'odd',
    });
    class Special extends OutboundFailure {}
    await expect(failing(new Special('as it is'))).rejects.toThrow(Special);
  });
});
