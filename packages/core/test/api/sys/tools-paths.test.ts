import { randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { toolPaths } from '../../../src/api/sys/path-tools.ts';
import { call, type Answer } from '../../services/identity/call.ts';

const paths = toolPaths({ randomBytes });
const ask = (path: string, body?: Record<string, unknown>): Promise<Answer> => call(paths, 'update', path, body);
const bytes = (answer: Answer, encoding: 'base64' | 'hex' = 'base64'): number =>
  Buffer.from((answer.data as { random_bytes: string }).random_bytes, encoding).length;

describe('sys/tools/random', () => {
  test('gives 32 bytes of base64, or what is asked for in the body or the path', async () => {
    expect(bytes(await ask('tools/random'))).toBe(32);
    expect(bytes(await ask('tools/random', { bytes: '7' }))).toBe(7);
    expect(bytes(await ask('tools/random/16', { format: 'hex' }), 'hex')).toBe(16);
    expect(bytes(await ask('tools/random/platform'))).toBe(32);
    expect(bytes(await ask('tools/random/seal/131072'))).toBe(131072);
    expect((await ask('tools/random')).data).not.toEqual((await ask('tools/random')).data);
  });

  test.each([
    ['tools/random/0', {}, "'bytes' cannot be less than 1"],
    ['tools/random', { bytes: -1 }, "'bytes' cannot be less than 1"],
    ['tools/random/131073', {}, "'bytes' should be less than 131072"],
    ['tools/random', { format: 'x' }, 'unsupported encoding format "x"; must be "hex" or "base64"'],
    ['tools/random/dice/4', {}, 'unsupported entropy source "dice"; must be "platform", "seal" or "all"'],
    ['tools/random/many', {}, 'error parsing url-set byte count: "many" is not a whole number'],
  ])('%s %j is refused', async (path, body, text) => {
    expect(await ask(path, body)).toEqual({ status: 400, data: null, errors: [text] });
  });
});

describe('sys/tools/hash', () => {
  test.each([
    ['sha2-224', '23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7'],
    ['sha2-256', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
    ['sha2-384', 'cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7'],
    [
      'sha2-512',
      'ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f',
    ],
    ['sha3-224', 'e642824c3f8cf24ad09234ee7d3c766fc9a3a5168d0c94ad73b46fdf'],
    ['sha3-256', '3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532'],
    ['sha3-384', 'ec01498288516fc926459f58e2c6ad8df9b473cb0fc08c2596da7cf0e49be4b298d88cea927ac7f539f1edf228376d25'],
    [
      'sha3-512',
      'b751850b1a57168a5693cd924b6b096e08f621827444f70d884f5d0240d2712e10e116e9192af3c91a7ec57647e3934057340b4cf408d5a56592f8274eec53f0',
    ],
  ])('knows %s', async (algorithm, sum) => {
    expect((await ask(`tools/hash/${algorithm}`, { input: 'YWJj' })).data).toEqual({ sum });
    expect((await ask('tools/hash', { input: 'YWJj', algorithm })).data).toEqual({ sum });
  });

  test('takes SHA-256 where nothing is said, and writes base64 on request', async () => {
    expect((await ask('tools/hash', { input: 'YWJj', format: 'base64' })).data).toEqual({
      sum: 'ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=',
    });
    expect((await ask('tools/hash', { input: 'YQ==\n' })).status).toBe(200);
    expect((await ask('tools/hash', {})).status).toBe(200);
  });

  test.each([
    ['!', 0],
    ['YWJj!', 4],
    ['YWJjY', 4],
    ['YWJjYWI', 4],
    ['YQ=', 3],
    ['YQ=a', 2],
    ['YQ=\na', 3],
    ['YQ=\n', 4],
    ['YWJjY\n', 5],
    ['YQ==\n\na', 6],
    ['YWI=a', 4],
    ['Y===', 1],
    ['=', 0],
    ['YQ==YQ==', 4],
    ['ä', 0],
  ])('says where %j is no base64', async (input, at) => {
    expect(await ask('tools/hash', { input })).toEqual({
      status: 400,
      data: null,
      errors: [`unable to decode input as base64: illegal base64 data at input byte ${at}`],
    });
  });

  test.each([
    [
      { algorithm: 'md5' },
      'unsupported algorithm "md5"; must be one of sha2-224, sha2-256, sha2-384, sha2-512, sha3-224, sha3-256, sha3-384, sha3-512',
    ],
    [{ algorithm: 'constructor' }, /^unsupported algorithm "constructor"/],
    [{ format: 'x' }, 'unsupported encoding format "x"; must be "hex" or "base64"'],
  ])('%j is refused', async (body, text) => {
    const answer = await ask('tools/hash', { input: 'YWJj', ...body });
    expect(answer.status).toBe(400);
    expect(answer.errors?.[0]).toMatch(text instanceof RegExp ? text : new RegExp(`^${text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`));
  });
});
