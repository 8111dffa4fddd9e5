import { describe, expect, it } from '@jest/globals';
import { parseDatabaseAddress } from './database-address.js';

describe('an address of PostgreSQL', () => {
  it('stays unchanged with one server, which may be any', () => {
    const url = 'postgresql://user:p%40ss@db.example:5433/signalbox?sslmode=verify-full';
    expect(parseDatabaseAddress(url)).toEqual({
      servers: [{ host: 'db.example', port: 5433, url }],
      choice: 'any',
    });
  });

  it('has one address for each of its servers, in their order', () => {
    const { servers, choice } = parseDatabaseAddress(
      'postgres://u:p,w@a:5433,b,[fd00::1]:5434/name?sslmode=disable',
    );
    expect(servers).toEqual([
      { host: 'a', port: 5433, url: 'postgres://u:p,w@a:5433/name?sslmode=disable' },
      { host: 'b', port: 5432, url: 'postgres://u:p,w@b/name?sslmode=disable' },
      { host: 'fd00::1', port: 5434, url: 'postgres://u:p,w@[fd00::1]:5434/name?sslmode=disable' },
    ]);
    expect(choice).toBe('read-write');
  });

  it.each(['any', 'read-write', 'primary'])('may ask for target_session_attrs=%s', (choice) => {
    expect(parseDatabaseAddress(`postgresql://a,b/name?target_session_attrs=${choice}`).choice).toBe(choice);
    expect(parseDatabaseAddress(`postgresql://a/name?target_session_attrs=${choice}`).choice).toBe(choice);
  });

  it('may name the socket of its machine', () => {
    const url = 'postgresql://user@localhost/name?host=%2Fvar%2Frun';
    expect(parseDatabaseAddress(url).servers).toMatchObject([{ url }]);
    expect(parseDatabaseAddress('postgresql:///name?host=%2Fvar%2Frun').servers).toHaveLength(1);
  });

  it.each([
    'mysql://secret@a/name',
    'secret',
    'postgresql://secret@a:port/name',
    'postgresql://secret@a:1,,b:2:3/name',
    'postgresql://secret@a:70000,b/name',
    'postgresql://secret@a,b/name?target_session_attrs=standby',
    'postgresql://secret@a,b/name?target_session_attrs=prefer-standby',
    'postgresql://secret@a,b/name?host=c',
    'postgresql://secret@a/name?host=b,c',
  ])('is rejected without being shown: %s', (text) => {
    expect(() => parseDatabaseAddress(text)).toThrow(/^must (?!.*secret)/);
  });
});
