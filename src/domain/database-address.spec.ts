import { describe, expect, it } from '@jest/globals';
import { describeServers, parseDatabaseAddress } from './database-address.js';

/** The forms of https://www.postgresql.org/docs/current/libpq-connect.html, and what they mean. */
const FORMS: readonly (readonly [address: string, meaning: object])[] = [
  ['postgresql://', { servers: [{ host: '' }] }],
  ['postgresql://localhost', { servers: [{ host: 'localhost' }] }],
  ['postgresql://localhost:5433', { servers: [{ host: 'localhost', port: 5433 }] }],
  ['postgres://localhost/name', { servers: [{ host: 'localhost' }], database: 'name' }],
  ['postgresql://user@localhost', { servers: [{ host: 'localhost' }], user: 'user' }],
  ['postgresql://user:pass@localhost', { user: 'user', password: 'pass' }],
  ['postgresql://:5433/name', { servers: [{ host: '', port: 5433 }], database: 'name' }],
  ['postgresql://localhost/name?user=user&password=pa+ss', { user: 'user', password: 'pa+ss' }],
  ['postgresql://localhost/name?user=a@b', { user: 'a@b', database: 'name' }],
  ['postgresql://a/name?dbname=other', { database: 'other' }],
  ['postgresql://[fd00::1]:5434/name', { servers: [{ host: 'fd00::1', port: 5434 }] }],
  ['postgresql:///name?host=fd00::1&port=5434', { servers: [{ host: 'fd00::1', port: 5434 }] }],
  [
    'postgresql://user@/name?host=/folder',
    { servers: [{ host: '/folder' }], user: 'user', database: 'name' },
  ],
  ['postgresql:///name?host=%2Fvar%2Frun', { servers: [{ host: '/var/run' }] }],
  ['postgresql://%2Fvar%2Frun:5433/name', { servers: [{ host: '/var/run', port: 5433 }] }],
  ['postgresql://localhost/name?host=/folder', { servers: [{ host: '/folder' }] }],
  [
    'postgresql://a,b:5433/name',
    { servers: [{ host: 'a' }, { host: 'b', port: 5433 }], choice: 'read-write' },
  ],
  [
    'postgresql:///name?host=a,b&port=1,2',
    {
      servers: [
        { host: 'a', port: 1 },
        { host: 'b', port: 2 },
      ],
    },
  ],
  [
    'postgresql:///name?host=a,b&port=1',
    {
      servers: [
        { host: 'a', port: 1 },
        { host: 'b', port: 1 },
      ],
    },
  ],
  ['postgresql://a/name%2Fwith%20more', { database: 'name/with more' }],
  ['postgresql://a/name?target_session_attrs=primary', { choice: 'primary' }],
  ['postgresql://a,b/name?target_session_attrs=any', { choice: 'any' }],
  ['postgresql://a/name?schema=gw', { schema: 'gw', parameters: {} }],
  ['postgresql://a/name?options=-c%20search_path%3Dgw', { parameters: { options: '-c search_path=gw' } }],
  ['postgresql://a/name?channel_binding=require', { bindsChannel: true }],
  ['postgresql://a/name?sslmode=require&connection_limit=5', { parameters: { sslmode: 'require' } }],
];

/** Raw characters that an address can hold: they are not the ends of a part. */
const RAW = ['2024', '20:24', '20@24', '20,24', "2'4", '20[24]', '20$24!', '20;24', 'passwörd €', '"20\\24'];
/** Those that end a part, or begin an encoded character. */
const CUTTING = [
  '2024/x',
  '2024#x',
  '2024?x',
  '20%2gx',
  '/2024',
  '#2024',
  '?2024=5',
  '%zz',
  '20/24@25',
  '20?host=a',
];

describe('an address of PostgreSQL', () => {
  it.each(FORMS)('is read as libpq reads it: %s', (address, meaning) => {
    expect(parseDatabaseAddress(address)).toMatchObject(meaning);
  });

  it.each(RAW)('has the raw password %s', (password) => {
    expect(parseDatabaseAddress(`postgresql://user:${password}@a:5433/name`)).toMatchObject({
      user: 'user',
      password,
      servers: [{ host: 'a', port: 5433 }],
      database: 'name',
    });
  });

  it.each([...RAW, ...CUTTING])('has the encoded password %s', (password) => {
    const { servers, ...address } = parseDatabaseAddress(
      `postgresql://user:${encodeURIComponent(password)}@a,b/name?sslmode=disable`,
    );
    expect(address).toMatchObject({ user: 'user', password, database: 'name' });
    expect(servers).toEqual([{ host: 'a' }, { host: 'b' }]);
  });

  it.each(CUTTING)('asks for an encoded password, and shows nothing of it: %s', (password) => {
    for (const host of ['a', 'a:5432', 'a,b', '']) {
      const read = () => parseDatabaseAddress(`postgresql://user:${password}@${host}/name?sslmode=disable`);
      expect(read).toThrow(/^must look like .*percent-encode the password/);
      expect(read).not.toThrow(/2024|20\/|24|zz|host=a/);
    }
  });

  it.each([
    ['mysql://secret@a/name', 'must begin with postgresql://'],
    ['host=a user=b password=secret dbname=c', 'must begin with postgresql://'],
    ['secret', 'must begin with postgresql://'],
    ['postgresql://secret@a:port/name', 'must look like'],
    ['postgresql://secret@a:1,b:2:3/name', 'must look like'],
    ['postgresql://secret@a:70000,b/name', 'must look like'],
    ['postgresql://secret@a,,b/name', 'must name each of its servers'],
    ['postgresql://secret@a,b/name?port=1,2,3', 'must have one port'],
    ['postgresql://secret@a,b/name?target_session_attrs=standby', 'must have a target_session_attrs'],
    ['postgresql://secret@a/name?sslmode=required', 'must have an sslmode of disable, allow'],
    ['postgresql://secret@a/name?sslmod=require', 'must not have the parameter sslmod'],
    ['postgresql://secret@a/name?service=x', 'must not have the parameter service: write host'],
    ['postgresql://secret@a/name?passfile=/x', 'must not have the parameter passfile: set PGPASSFILE'],
    ['postgresql://secret@a/name?hostaddr=::1', 'must not have the parameter hostaddr: write the address'],
    ['postgresql://secret@a/name?gssencmode=require', 'must not have the parameter gssencmode'],
    ['postgresql://secret@a/name?secret@b', 'must look like'],
    ['postgresql://secret@a/%E9', 'must look like'],
  ])('is rejected without being shown: %s', (address, message) => {
    const read = () => parseDatabaseAddress(address);
    expect(read).toThrow(message);
    expect(read).not.toThrow(/secret/);
  });

  it('names its servers', () => {
    expect(describeServers(parseDatabaseAddress('postgresql://u:p@a,b:5433/name'))).toBe('a:5432, b:5433');
    expect(describeServers(parseDatabaseAddress('postgresql://u:p@/name'))).toBe('localhost:5432');
  });
});
