import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Server } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { checkedCore } from '@strongroom/engine-testkit';
import type { Core } from '@strongroom/core';
import { createHttpServer } from '@strongroom/http';
import { kvEngine } from '@strongroom/kv';
import { memoryStorage } from '@strongroom/storage-sdk';

const DIGITS = '{"a":12345678901234567890,"b":[0.10000000000000001,{"c":1e400}],"d":-0.0,"e":"12","f":1.50,"g":2}';

let core: Core;
let server: Server;
let folder: string;
let origin: string;

/** Status and text of the answer. */
async function ask(
  method: string,
  path: string,
  body?: string,
  { token = 'root', ...headers }: Record<string, string> = {},
): Promise<[status: number, text: string]> {
  const answer = await fetch(`${origin}/v1/${path}`, {
    method,
    headers: { ...(token === '' ? {} : { 'X-Vault-Token': token }), ...headers },
    ...(body === undefined ? {} : { body }),
  });
  return [answer.status, await answer.text()];
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'strongroom-numbers-'));
  core = await checkedCore({ storage: memoryStorage(), plugins: [kvEngine], devRootToken: 'root' });
  server = createHttpServer(core) as Server;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await ask('POST', 'sys/mounts/one', '{"type":"kv"}');
  await ask('POST', 'sys/mounts/two', '{"type":"kv","options":{"version":"2"}}');
  await ask('POST', 'sys/audit/file', `{"type":"file","options":{"file_path":${JSON.stringify(join(folder, 'audit.log'))}}}`);
});
afterAll(async () => {
  server.close();
  server.closeAllConnections();
  await core.close();
  await rm(folder, { recursive: true });
});

describe('numbers', () => {
  test('come back from version 1 of key-value digit by digit, and the audit device has the digits', async () => {
    expect(await ask('POST', 'one/a', DIGITS)).toEqual([204, '']);
    const [status, text] = await ask('GET', 'one/a');
    expect(status).toBe(200);
    expect(text).toContain(`"data":${DIGITS},`);
    // From the store as well as from the copy of a record: the first read decodes, the second may not.
    expect((await ask('GET', 'one/a'))[1]).toContain(`"data":${DIGITS},`);
    const lines = (await readFile(join(folder, 'audit.log'), 'utf8')).split('\n').filter((line) => line.includes('"path":"one/a"'));
    expect(lines.length).toBeGreaterThanOrEqual(4);
    for (const line of lines.filter((one) => one.includes('"data"'))) {
      expect(line).toContain('"a":12345678901234567890,"b":[0.10000000000000001,{"c":1e400}],"d":-0.0,');
    }
  });

  test('come back from version 1 in a body that is long', async () => {
    const long = `{"pad":"${'x'.repeat(100_000)}","n":[${'9007199254740993,'.repeat(5_000)}1.0]}`;
    expect(await ask('POST', 'one/long', long)).toEqual([204, '']);
    expect((await ask('GET', 'one/long'))[1]).toContain(`"data":${long},`);
  });

  test('come back from a cubbyhole digit by digit', async () => {
    expect(await ask('POST', 'cubbyhole/a', DIGITS)).toEqual([204, '']);
    expect((await ask('GET', 'cubbyhole/a'))[1]).toContain(`"data":${DIGITS},`);
  });

  test('come out of response wrapping digit by digit, be it data that was sent or an answer', async () => {
    const wrapped = async (method: string, path: string, body?: string): Promise<string> => {
      const [, text] = await ask(method, path, body, { 'X-Vault-Wrap-TTL': '60' });
      const { token } = (JSON.parse(text) as { wrap_info: { token: string } }).wrap_info;
      return (await ask('POST', 'sys/wrapping/unwrap', '{}', { token }))[1];
    };
    expect(await wrapped('POST', 'sys/wrapping/wrap', DIGITS)).toContain(`"data":${DIGITS},`);
    await ask('POST', 'one/w', DIGITS);
    expect(await wrapped('GET', 'one/w')).toContain(`"data":${DIGITS},`);
  });

  test('are 64-bit floats in version 2 of key-value', async () => {
    const sent = '{"data":{"a":9007199254740993,"b":1.0,"c":0.1},"options":{"cas":0.0}}';
    expect((await ask('POST', 'two/data/a', sent))[0]).toBe(200);
    expect((await ask('GET', 'two/data/a'))[1]).toContain('"data":{"a":9007199254740992,"b":1,"c":0.1}');
  });

  test.each([
    ['POST', '{"data":{"a":{"b":[1,1e400]}}}', 'data.a.b.1 is 1e400'],
    ['POST', '{"data":{"a":-1e999}}', 'data.a is -1e999'],
    ['PATCH', '{"data":{"a":1e400}}', 'data.a is 1e400'],
  ])('that no 64-bit float is near are refused by version 2: %s %s', async (method, body, where) => {
    await ask('POST', 'two/data/b', '{"data":{"a":1}}');
    const [status, text] = await ask(method, 'two/data/b', body, { 'Content-Type': 'application/merge-patch+json' });
    const error = `${where}, which is too large: version 2 of key-value holds numbers as 64-bit floats`;
    expect([status, text]).toEqual([400, `{"errors":["${error}"]}\n`]);
    expect((await ask('GET', 'two/data/b'))[1]).toContain('"data":{"a":1}');
  });

  test('that no 64-bit float is near are refused where a field has to be one', async () => {
    const [status, text] = await ask('POST', 'sys/mounts/three', '{"type":"kv","config":{"x":{"y":1e400}}}');
    expect(status).toBe(400);
    expect(text).toContain('field \\"config.x.y\\" is 1e400, which a 64-bit float cannot hold');
  });

  test('sent for a text become that text', async () => {
    expect((await ask('POST', 'sys/mounts/four', '{"type":"kv","description":12345678901234567890}'))[0]).toBe(204);
    expect((await ask('GET', 'sys/mounts/four'))[1]).toContain('"description":"12345678901234567890"');
  });

  test('keep their digits when a mount becomes version 2: nothing is lost', async () => {
    await ask('POST', 'sys/mounts/five', '{"type":"kv"}');
    await ask('POST', 'five/a', DIGITS);
    expect((await ask('POST', 'sys/mounts/five/tune', '{"options":{"version":"2"}}'))[0]).toBeLessThan(300);
    expect((await ask('GET', 'five/data/a'))[1]).toContain(`"data":${DIGITS}`);
    expect((await ask('GET', 'five/subkeys/a'))[1]).toContain('"subkeys":{"a":null,');
    const merge = { 'Content-Type': 'application/merge-patch+json' };
    expect((await ask('PATCH', 'five/data/a', '{"data":{"a":{"x":1},"g":null}}', merge))[0]).toBe(200);
    expect((await ask('GET', 'five/data/a'))[1]).toContain('"a":{"x":1}');
    expect((await ask('GET', 'five/data/a'))[1]).toContain('"d":-0.0,"e":"12","f":1.50}');
  });

  test('are judged by policies as the floats that they are', async () => {
    const policy = 'path "one/limited" { capabilities = ["create", "update"] denied_parameters = { n = [1] } }';
    await ask('PUT', 'sys/policies/acl/limited', JSON.stringify({ policy }));
    const [, made] = await ask('POST', 'auth/token/create', '{"policies":["limited"]}');
    const token = (JSON.parse(made) as { auth: { client_token: string } }).auth.client_token;
    for (const n of ['1', '1.0', '1e0', '0.1e1']) expect((await ask('POST', 'one/limited', `{"n":${n}}`, { token }))[0]).toBe(403);
    expect((await ask('POST', 'one/limited', '{"n":2.0}', { token }))[0]).toBe(204);
  });
});

describe('keys that objects have by nature', () => {
  const KEYS = '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"toString":"x","n":1.0}';

  test.each([
    ['one/keys', KEYS, `"data":${KEYS},`],
    ['cubbyhole/keys', KEYS, `"data":${KEYS},`],
    ['two/data/keys', `{"data":${KEYS}}`, `"data":${KEYS.replace('1.0', '1')},`],
    ['one/long', KEYS.replace('"x"', `"${'x'.repeat(50_000)}"`), '"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}'],
  ])('are stored and returned as data: %s', async (path, body, answer) => {
    expect((await ask('POST', path, body))[0]).toBeLessThan(300);
    expect((await ask('GET', path))[1]).toContain(answer);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  test('survive a patch', async () => {
    await ask('POST', 'two/data/patched', '{"data":{"a":1}}');
    const headers = { 'Content-Type': 'application/merge-patch+json' };
    expect((await ask('PATCH', 'two/data/patched', '{"data":{"__proto__":{"polluted":1},"constructor":2}}', headers))[0]).toBe(200);
    expect((await ask('GET', 'two/data/patched'))[1]).toContain('"data":{"a":1,"__proto__":{"polluted":1},"constructor":2}');
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });
});

describe('whether a caller is known', () => {
  const large = JSON.stringify({ pad: 'x'.repeat(1_500_000) });
  const made = async (order: string): Promise<string> => {
    const [, text] = await ask('POST', 'auth/token/create', order);
    return (JSON.parse(text) as { auth: { client_token: string } }).auth.client_token;
  };

  test('a token that exists raises the limits, and only while it exists', async () => {
    const token = await made('{"policies":["root"]}');
    expect((await ask('POST', 'one/large', large, { token }))[0]).toBe(204);
    await ask('POST', 'auth/token/revoke', JSON.stringify({ token }));
    expect(await ask('POST', 'one/large', large, { token })).toEqual([413, '{"errors":["http: request body too large"]}\n']);
    expect((await ask('POST', 'one/large', large, { token: '' }))[0]).toBe(413);
    expect((await ask('POST', 'one/large', large, { token: 'hvs.guessed' }))[0]).toBe(413);
  });

  test('a batch token does as well', async () => {
    expect((await ask('POST', 'one/large', large, { token: await made('{"policies":["default"],"type":"batch"}') }))[0]).toBe(403);
  });

  test('asking takes no use of a token that has few', async () => {
    const token = await made('{"policies":["root"],"num_uses":2}');
    for (let round = 0; round < 5; round += 1) expect(await core.recognizes(token, '127.0.0.1')).toBe(true);
    expect((await ask('POST', 'one/large', large, { token }))[0]).toBe(204);
    expect((await ask('POST', 'one/large', large, { token }))[0]).toBe(204);
    expect(await core.recognizes(token, '127.0.0.1')).toBe(false);
    expect((await ask('POST', 'one/large', large, { token }))[0]).toBe(413);
  });

  test('a wrapping token makes nobody known, and a token of other addresses neither', async () => {
    const [, text] = await ask('POST', 'sys/wrapping/wrap', '{"a":1}', { 'X-Vault-Wrap-TTL': '60' });
    const { token } = (JSON.parse(text) as { wrap_info: { token: string } }).wrap_info;
    expect(await core.recognizes(token, '127.0.0.1')).toBe(false);
    expect((await ask('POST', 'sys/wrapping/unwrap', large, { token }))[0]).toBe(413);
    expect((await ask('POST', 'sys/wrapping/unwrap', '{}', { token }))[0]).toBe(200);
    await ask('POST', 'auth/token/roles/bound', '{"token_bound_cidrs":"10.0.0.0/8","allowed_policies":"root"}');
    const [, bound] = await ask('POST', 'auth/token/create/bound', '{"policies":["root"]}');
    const elsewhere = (JSON.parse(bound) as { auth: { client_token: string } }).auth.client_token;
    expect(await core.recognizes(elsewhere, '127.0.0.1')).toBe(false);
    expect(await core.recognizes(elsewhere, '10.1.2.3')).toBe(true);
  });

  test('nobody is while the server is sealed', async () => {
    const sealed = await checkedCore({ storage: memoryStorage(), plugins: [kvEngine] });
    expect(await sealed.recognizes('root', '127.0.0.1')).toBe(false);
    await sealed.close();
  });
});
