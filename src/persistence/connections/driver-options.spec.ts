import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { parseDatabaseAddress } from '../../domain/database-address.js';
import { driverOptions } from './driver-options.js';

const optionsOf = (query: string) => {
  const address = parseDatabaseAddress(`postgresql://user:p%2Fw@a:5433/na%2Fme?${query}`);
  return driverOptions(address, address.servers[0]);
};

describe('the options of the driver', () => {
  afterEach(() => {
    jest.restoreAllMocks();
  });

  it('have every part of the address', () => {
    expect(optionsOf('application_name=x&options=-c%20jit%3Doff&statement_timeout=9000')).toMatchObject({
      host: 'a',
      port: 5433,
      user: 'user',
      password: 'p/w',
      database: 'na/me',
      application_name: 'x',
      options: '-c jit=off',
      statement_timeout: '9000',
    });
  });

  // docs/operating.md#tls-to-postgresql
  it.each([
    ['', undefined],
    ['sslmode=disable', false],
    ['ssl=false', false],
    ['sslmode=no-verify', { rejectUnauthorized: false }],
    ['ssl=no-verify', { rejectUnauthorized: false }],
    ['sslmode=allow', {}],
    ['sslmode=prefer', {}],
    ['sslmode=require', {}],
    ['sslmode=verify-ca', {}],
    ['sslmode=verify-full', {}],
    ['ssl=true', {}],
    ['sslrootcert=system', {}],
    ['sslmode=require&sslrootcert=system', {}],
    ['sslmode=require&uselibpqcompat=true', { rejectUnauthorized: false }],
  ])('encrypt and check as documented, without a warning: %s', (query, tls) => {
    const warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    expect(optionsOf(query).ssl).toEqual(tls);
    expect(warn).not.toHaveBeenCalled();
  });
});
