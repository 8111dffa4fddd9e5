import { describe, expect, it } from '@jest/globals';
import { bucketAddress, homeRegion, movedPut, putObject, signedRegion } from './signed-put.js';
import type { BucketAccess } from './signed-put.js';

const NOW = new Date('2013-05-24T00:00:00Z');
const access = (overrides: Partial<BucketAccess> = {}): BucketAccess => ({
  bucketName: 'my-traces',
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  ...overrides,
});

describe('the region', () => {
  it.each([
    [{ region: 'eu-west-3' }, 'eu-west-3'],
    [{ region: ' EU-West-3 ' }, 'eu-west-3'],
    [{ region: 'evil.example.com/#' }, 'us-east-1'],
    [{ region: '' }, 'us-east-1'],
    [{}, 'us-east-1'],
    [{ endpoint: 'https://acc.r2.cloudflarestorage.com' }, 'auto'],
    [{ endpoint: 'https://acc.eu.r2.cloudflarestorage.com', region: 'weur' }, 'weur'],
    [{ endpoint: 'https://minio.example.com', region: 'my_region' }, 'my_region'],
    [{ endpoint: 'https://swift.example.com', region: ' RegionOne ' }, 'RegionOne'],
    [{ endpoint: 'https://swift.example.com', region: 'default.zone' }, 'default.zone'],
    [{ endpoint: 'https://swift.example.com', region: 'a/b' }, 'us-east-1'],
    [{ endpoint: 'https://s3.eu-west-3.amazonaws.com', region: 'EU-West-3' }, 'eu-west-3'],
    [{ endpoint: 'https://s3.eu-central-1.amazonaws.com' }, 'eu-central-1'],
    [{ endpoint: 'https://my-traces.s3.eu-central-1.amazonaws.com' }, 'eu-central-1'],
    [{ endpoint: 'https://s3.us-west-004.backblazeb2.com' }, 'us-west-004'],
    [{ endpoint: 'https://s3.fr-par.scw.cloud' }, 'fr-par'],
    [{ endpoint: 'https://s3.amazonaws.com' }, 'us-east-1'],
    [{ endpoint: 'http://minio.example.com:9000' }, 'us-east-1'],
    [{ endpoint: 'https://s3.storage.example.com' }, 'us-east-1'],
  ])('of %j is %s', (config, region) => {
    expect(homeRegion(access(config))).toBe(region);
  });
});

describe('the address of a bucket', () => {
  it.each([
    [{}, 'https://my-traces.s3.eu-west-1.amazonaws.com'],
    [{ bucketName: 'my.traces' }, 'https://s3.eu-west-1.amazonaws.com/my.traces'],
    [{ bucketName: 'MyTraces' }, 'https://s3.eu-west-1.amazonaws.com/MyTraces'],
    [{ bucketName: 'a/../b' }, 'https://s3.eu-west-1.amazonaws.com/a%2F..%2Fb'],
    [{ endpoint: 'https://minio.example.com:9000/' }, 'https://minio.example.com:9000/my-traces'],
    [{ endpoint: 'https://store.example.com/s3?x=1#y' }, 'https://store.example.com/s3/my-traces'],
    [
      { endpoint: 'https://acc.r2.cloudflarestorage.com/my-traces' },
      'https://acc.r2.cloudflarestorage.com/my-traces',
    ],
    ...[
      'https://my-traces.nyc3.digitaloceanspaces.com',
      'https://my-traces.s3.amazonaws.com',
      'https://my-traces.s3-eu-west-1.amazonaws.com',
      'https://my-traces.s3.fr-par.scw.cloud',
      'https://my-traces.0123456789abcdef0123456789abcdef.r2.cloudflarestorage.com',
      'https://my-traces.storage.googleapis.com',
      'https://my-traces.minio.example.com:9000',
    ].map((endpoint) => [{ endpoint }, endpoint] as const),
  ])('of %j is %s', (config, address) => {
    expect(bucketAddress(access(config), 'eu-west-1')).toBe(address);
  });

  it.each([
    ['minio', 'https://minio.example.com'],
    ['storage', 'https://storage.example.com:9000'],
    ['nyc3', 'https://nyc3.digitaloceanspaces.com'],
    ['acc', 'https://acc.eu.r2.cloudflarestorage.com'],
    ['s3', 'https://s3.eu-west-1.amazonaws.com'],
  ])('has %s in the path after %s, whose first label is its own', (bucketName, endpoint) => {
    expect(bucketAddress(access({ bucketName, endpoint }), 'eu-west-1')).toBe(`${endpoint}/${bucketName}`);
  });

  it("is in the domain of the region's partition", () => {
    expect(bucketAddress(access(), 'cn-north-1')).toBe('https://my-traces.s3.cn-north-1.amazonaws.com.cn');
  });
});

describe('a signed PUT', () => {
  it('signs its content and, if there is one, the session token', async () => {
    const request = await putObject(access({ sessionToken: 'token' }), 'a/b c+d(1).json', '{}', {
      region: 'eu-west-1',
      now: NOW,
    });
    expect(request).toEqual({
      method: 'PUT',
      url: 'https://my-traces.s3.eu-west-1.amazonaws.com/a/b%20c%2Bd%281%29.json',
      body: '{}',
      headers: {
        'content-type': 'application/json',
        'x-amz-content-sha256': '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a',
        'x-amz-date': '20130524T000000Z',
        'x-amz-security-token': 'token',
        authorization: expect.stringMatching(
          /^AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE\/20130524\/eu-west-1\/s3\/aws4_request, SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token, Signature=[0-9a-f]{64}$/,
        ),
      },
    });
    expect(signedRegion(request)).toBe('eu-west-1');
  });

  it('accepts a region of any name', async () => {
    const request = await putObject(access(), 'a', '{}', { region: 'my_Region.1', now: NOW });
    expect(signedRegion(request)).toBe('my_Region.1');
  });

  it('has no token when the token is empty', async () => {
    const { headers } = await putObject(access({ sessionToken: '' }), 'a', '{}', {
      region: 'auto',
      now: NOW,
    });
    expect(headers).not.toHaveProperty('x-amz-security-token');
  });

  it('signs the custom headers that the store reads, and leaves the others to the sender', async () => {
    const headers = { 'X-Amz-Server-Side-Encryption': 'aws:kms', 'x-amz-acl': 'private', 'X-Team': 'search' };
    const request = await putObject(access({ headers }), 'a', '{}', { region: 'eu-west-1', now: NOW });
    expect(request.headers).toMatchObject({
      'x-amz-server-side-encryption': 'aws:kms',
      'x-amz-acl': 'private',
      authorization: expect.stringContaining(
        'SignedHeaders=host;x-amz-acl;x-amz-content-sha256;x-amz-date;x-amz-server-side-encryption,',
      ),
    });
    expect(request.headers).not.toHaveProperty('x-team');
  });

  it('moves to another region with its key and content, like a new request', async () => {
    for (const config of [
      {},
      { bucketName: 'my.traces' },
      { endpoint: 'http://127.0.0.1:9000/x' },
      { headers: { 'x-amz-acl': 'private' } },
    ]) {
      const [from, to] = [
        { region: 'us-east-1', now: NOW },
        { region: 'eu-west-1', now: NOW },
      ];
      const first = await putObject(access(config), 'a/b c.json', '{"a":1}', from);
      expect(await movedPut(access(config), first, from.region, to)).toEqual(
        await putObject(access(config), 'a/b c.json', '{"a":1}', to),
      );
    }
  });
});
