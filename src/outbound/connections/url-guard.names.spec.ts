// The checks of names, of permitted ranges, and of http.
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { TestClock } from '../../../test/support/app/clock.js';
import { ScriptedResolver } from '../../../test/support/app/name-resolver.js';
import { OutboundFailure, OutboundRejected } from '../exchange/exchange.js';
import { guardWith } from '../../../test/support/upstreams/url-guard.js';

const PUBLIC = '93.184.216.34';

describe('names', () => {
  afterEach(() => {
    jest.restoreAllMocks();
    jest.useRealTimers();
  });

  it.each([
    [['127.0.0.1'], 'a loopback address'],
    [['::1'], 'a loopback address'],
    [['::ffff:169.254.169.254'], 'a link-local address'],
    [['fe80::1%eth0'], 'a link-local address'],
    [[PUBLIC, '10.0.0.1'], 'a private address'],
    [['2606:2800:220:1::1', PUBLIC, 'fd00::1'], 'a private address'],
    [['not an address'], 'an invalid IP address'],
  ])('rejects a name that resolves to %j without naming the address', async (addresses, purpose) => {
    const guard = guardWith(new ScriptedResolver().script('host.example', addresses));
    expect(await guard.check('https://host.example/', 'account')).toBe(`host.example leads to ${purpose}`);
    await expect(guard.resolve('https:', 'host.example', 'account')).rejects.toThrow(OutboundRejected);
  });

  it.each(['HOST.example', 'host.example.', 'h\u00f6st.example'])(
    'looks up %s as the URL has it',
    async (name) => {
      const { hostname } = new URL(`https://${name}`);
      const resolver = new ScriptedResolver().script(hostname, ['127.0.0.1']);
      expect(await guardWith(resolver).check(`https://${name}/`, 'account')).toBe(
        `${hostname} leads to a loopback address`,
      );
    },
  );

  it('permits a name with public addresses, and returns all of them', async () => {
    const guard = guardWith(new ScriptedResolver().script('host.example', [PUBLIC, '2606:2800:220:1::1']));
    expect(await guard.check('https://host.example/', 'account')).toBeNull();
    expect(await guard.resolve('https:', 'host.example', 'account')).toEqual([
      { address: PUBLIC, family: 4 },
      { address: '2606:2800:220:1::1', family: 6 },
    ]);
  });

  it('permits a name without an address; no connection is opened', async () => {
    const guard = guardWith(new ScriptedResolver().script('empty.example', []));
    expect(await guard.check('https://unknown.example/', 'account')).toBeNull();
    expect(await guard.check('https://empty.example/', 'account')).toBeNull();
    await expect(guard.resolve('https:', 'unknown.example', 'account')).rejects.toThrow('ENOTFOUND');
    await expect(guard.resolve('https:', 'empty.example', 'account')).rejects.toThrow(OutboundFailure);
  });

  it('permits a name whose look-up takes more than a second', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
    const started = jest.spyOn(globalThis, 'setTimeout');
    const ended = jest.spyOn(globalThis, 'clearTimeout');
    const guard = guardWith(new ScriptedResolver().script('host.example', 'hang'));
    const onSettled = jest.fn();
    const checked = guard.check('https://host.example/', 'account').finally(onSettled);
    await jest.advanceTimersByTimeAsync(999);
    expect(onSettled).not.toHaveBeenCalled();
    await jest.advanceTimersByTimeAsync(1);
    expect(await checked).toBeNull();
    // Libraries have timers of their own.
    const own = started.mock.calls.findIndex(([, delay]) => delay === 1_000);
    expect(own).not.toBe(-1);
    expect(ended).toHaveBeenCalledWith(started.mock.results[own]?.value as NodeJS.Timeout);
  });

  it('caches a permitted name for five seconds; connecting always looks it up', async () => {
    const clock = new TestClock();
    const resolver = new ScriptedResolver().script('host.example', [PUBLIC], ['127.0.0.1']);
    const guard = guardWith(resolver, [], clock);
    expect(await guard.check('https://host.example/one', 'account')).toBeNull();
    clock.advance(5_000);
    expect(await guard.check('https://host.example/two', 'account')).toBeNull();
    expect(resolver.asked).toEqual(['host.example']);
    await expect(guard.resolve('https:', 'host.example', 'account')).rejects.toThrow(
      'host.example leads to a loopback',
    );
    clock.advance(1);
    expect(await guard.check('https://host.example/three', 'account')).toBe(
      'host.example leads to a loopback address',
    );
  });

  it('does not cache a rejection', async () => {
    const guard = guardWith(new ScriptedResolver().script('host.example', ['127.0.0.1'], [PUBLIC]));
    expect(await guard.check('https://host.example/', 'account')).not.toBeNull();
    expect(await guard.check('https://host.example/', 'account')).toBeNull();
  });
});

describe('DESTINATION_ALLOWED_CIDRS', () => {
  it.each([
    ['10.0.0.0/8', '10.1.2.3'],
    ['10.0.0.0/8', '[::ffff:10.1.2.3]'],
    ['::ffff:10.0.0.0/104', '10.1.2.3'],
    ['127.0.0.1/32', '2130706433'],
    ['::1/128', '[::1]'],
    ['fd00::/8', '[fd00:ec2::254]'],
  ])('permits with %s the address %s, also over http', async (range, host) => {
    const guard = guardWith(new ScriptedResolver(), ['192.168.7.0/24', range]);
    expect(await guard.check(`https://${host}/`, 'account')).toBeNull();
    expect(await guard.check(`http://${host}/`, 'account')).toBeNull();
  });

  it('permits no other address', async () => {
    const guard = guardWith(new ScriptedResolver(), ['10.0.0.0/8']);
    expect(await guard.check('https://11.0.0.1/', 'account')).toBeNull();
    expect(await guard.check('http://11.0.0.1/', 'account')).toBe('11.0.0.1 needs https');
    expect(await guard.check('https://127.0.0.1/', 'account')).toBe('127.0.0.1 is a loopback address');
    expect(await guard.check('http://127.0.0.1/', 'account')).toBe('127.0.0.1 is a loopback address');
  });

  it('permits a name only if all its addresses are permitted or public, and http only if all are permitted', async () => {
    const resolver = new ScriptedResolver()
      .script('opened.example', ['10.0.0.1', '10.0.0.2'])
      .script('mixed.example', ['10.0.0.1', PUBLIC])
      .script('worse.example', ['10.0.0.1', '10.0.0.2', '127.0.0.1']);
    const guard = guardWith(resolver, ['10.0.0.0/8']);
    const problems = [];
    for (const host of ['opened', 'mixed', 'worse']) {
      for (const scheme of ['https', 'http'])
        problems.push(await guard.check(`${scheme}://${host}.example/`, 'account'));
    }
    expect(problems).toEqual([
      null,
      null,
      null,
      'mixed.example needs https',
      'worse.example leads to a loopback address',
      'worse.example leads to a loopback address',
    ]);
  });
});

describe('http', () => {
  it('is rejected for a public host', async () => {
    const guard = guardWith(new ScriptedResolver().script('host.example', [PUBLIC]));
    expect(await guard.check('http://host.example/', 'account')).toBe('host.example needs https');
    expect(await guard.check('https://host.example/', 'account')).toBeNull();
    // A pass over https is not a pass over http.
    expect(await guard.check('http://host.example/', 'account')).toBe('host.example needs https');
    await expect(guard.resolve('http:', 'host.example', 'account')).rejects.toThrow(OutboundRejected);
  });

  it('is rejected for an unresolved name without a permitted range, else left to the connection', async () => {
    expect(await guardWith().check('http://unknown.example/', 'account')).toBe('unknown.example needs https');
    expect(
      await guardWith(new ScriptedResolver(), ['10.0.0.0/8']).check('http://unknown.example/', 'account'),
    ).toBeNull();
  });
});
