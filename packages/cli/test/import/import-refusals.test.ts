import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer as createTcpServer } from 'node:net';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { importFrom, reportOf, testServer, type TestServer } from './import-target.ts';
import { servedSource, type ServedSource } from './served-source.ts';

let source: ServedSource;
let target: TestServer;
let folder: string;

beforeAll(async () => {
  [source, target] = await Promise.all([servedSource(), testServer()]);
  folder = await mkdtemp(join(tmpdir(), 'strongroom-import-'));
});
afterAll(async () => {
  await Promise.all([source.close(), target.close(), rm(folder, { recursive: true })]);
});

/** The one sentence that a run ends with, and its exit code. */
async function refusal(words: readonly string[] = [], more: { token?: string; from?: { address: string } } = {}): Promise<string> {
  const { code, stdout, stderr } = await importFrom(more.from ?? source, target, words, more);
  expect(stdout).toBe('');
  expect(code).toBe(1);
  return stderr.trim();
}

describe('an import says in a sentence', () => {
  test('that the token of the source is not accepted', async () => {
    expect(await refusal([], { token: 'wrong' })).toBe('The source does not accept the token: permission denied');
  });

  test('that there is no token', async () => {
    expect(await refusal([], { token: '' })).toContain('The token of the source is missing');
  });

  test('that the source is sealed, or not initialized', async () => {
    source.intercept = () => ({ status: 503, body: { initialized: true, sealed: true } });
    expect(await refusal()).toBe('The source is sealed: unseal it, then run the import again');
    source.intercept = () => ({ status: 501, body: { initialized: false, sealed: true } });
    expect(await refusal()).toBe('The source is not initialized');
    source.intercept = undefined;
  });

  test('that the source is a web page, or no API at all', async () => {
    source.intercept = () => ({ status: 200, text: '<!doctype html><title>Login</title>', headers: { 'Content-Type': 'text/html' } });
    expect(await refusal()).toContain('with a web page (status 200): is this the address of its API?');
    source.intercept = () => ({ status: 200, text: '{"hello":"world"}' });
    expect(await refusal()).toContain('is this the address of its API?');
    source.intercept = undefined;
  });

  test('that nothing answers there, or speaks TLS, or does not', async () => {
    expect(await refusal([], { from: { address: 'http://127.0.0.1:1' } })).toMatch(/^The source does not answer: .*connection refused/);
    const tls = source.address.replace('http:', 'https:');
    expect(await refusal([], { from: { address: tls } })).toMatch(/^The source does not answer: .*HTTP response to HTTPS client/s);
    const hangsUp = createTcpServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
    await once(hangsUp, 'listening');
    const address = `http://127.0.0.1:${(hangsUp.address() as AddressInfo).port}`;
    expect(await refusal([], { from: { address } })).toMatch(/^The source does not answer: /);
    hangsUp.close();
  });

  test('that the source is the target', async () => {
    expect(await refusal([], { from: target, token: 'root' })).toBe('The source and the target are the same server');
  });

  test.each([
    [['-plan', '-apply'], '-plan and -apply exclude each other'],
    [['-versions=0'], '-versions must be all, latest or a number from 1'],
    [['-verify=some'], '-verify must be all or a number'],
    [['-parallel=0'], '-parallel must be 1 or more'],
    [['-rate=-1'], '-rate must be 1 or more'],
    [['-rename=secret/'], '-rename must be from=to'],
    [['-rename=secret/=auth/secret/'], 'a login method stays below auth/'],
    [['-include=kind=policie'], 'There is no kind "policie"; did you mean "policies"?'],
    [['-on-conflict=maybe'], 'on-conflict'],
    [['-raw'], 'raw'],
  ])('%j cannot be', async (words, text) => {
    expect(await refusal(words)).toContain(text);
  });

  test('what is wrong with the file of secrets, without a value of it', async () => {
    const file = join(folder, 'secrets.json');
    await writeFile(file, '{"a":{"password":"planted"}}', { mode: 0o644 });
    expect(await refusal([`-secrets=${file}`])).toContain(`can be read by others (mode 0644): chmod 600 ${file}`);
    for (const text of ['planted', '["planted"]', '{"a":"planted"}']) {
      const other = join(folder, `secrets-${text.length}.json`);
      await writeFile(other, text, { mode: 0o600 });
      const said = await refusal([`-secrets=${other}`]);
      expect(said).toContain('The file of -secrets');
      expect(said).not.toContain('planted');
    }
    expect(await refusal([`-secrets=${join(folder, 'none')}`])).toContain('cannot be read');
  });

  test('that a checkpoint is of other servers', async () => {
    const file = join(folder, 'checkpoint');
    await writeFile(file, '{"import":"a b"}\n');
    expect(await refusal(['-apply', `-checkpoint=${file}`])).toContain('is not the checkpoint of an import between these two servers');
  });
});

describe('a source that means harm', () => {
  test('cannot lead a write to another path by the name of a thing', async () => {
    source.answers.set('old/deep/?list=true', { status: 200, body: { data: { keys: ['../../sys/policies/acl/evil', 'er/'] } } });
    source.set('sys/policies/acl/evil', { policy: 'path "*" { capabilities = ["sudo"] }' });
    source.set('old/deep/../../sys/policies/acl/evil', { policy: 'path "*" { capabilities = ["sudo"] }' });
    const report = await reportOf(source, target, ['-apply', '-include=old/']);
    expect(report.line('old/deep/../../sys/policies/acl/evil')).toMatchObject({ outcome: 'refused' });
    expect(report.of('imported')).toContain('old/deep/er/b');
    expect(await target.list('sys/policies/acl')).not.toContain('evil');
  });
});

describe('a namespace of the source', () => {
  test('is read below its own name, and has a record of its own', async () => {
    const namespaces = new Map<string, unknown>();
    source.intercept = (_, path, call) => void namespaces.set(path, call.headers['x-vault-namespace']);
    const report = await reportOf(source, target, [
      '-apply',
      '-source-namespace=team',
      '-include=sys/policies/password/',
      '-include=kind=system',
    ]);
    source.intercept = undefined;
    expect(report.of('imported')).toEqual(['sys/policies/password/letters']);
    expect(namespaces.get('sys/policies/password/letters')).toBe('team/');
    expect(namespaces.get('sys/health') ?? '').toBe('');
    expect((await target.list('sys/import')).some((id) => /^[0-9a-f-]{36}\.[0-9a-f]{8}$/.test(id))).toBe(true);
  });
});

describe('a source that refuses a part', () => {
  test('is reported part by part, and the rest comes', async () => {
    source.intercept = (_, path) =>
      path.startsWith('secret/metadata/bulk/2/?') || path === 'sys/policies/acl/app' || path.startsWith('identity/group')
        ? { status: 403, body: { errors: ['1 error occurred:\n\t* permission denied\n\n'] } }
        : undefined;
    const report = await reportOf(source, target, ['-include=secret/bulk/', '-include=kind=policies', '-include=kind=identity']);
    source.intercept = undefined;
    expect(report.code).toBe(3);
    expect(report.of('refused').sort()).toEqual(['identity/group/id', 'secret/metadata/bulk/2/', 'sys/policies/acl/app']);
    expect(report.line('sys/policies/acl/app').why).toBe('the source answered 403: 1 error occurred: * permission denied');
    expect(report.of('imported')).toContain('secret/bulk/1/s1');
  });

  test('with 429 is asked again after the time that it names', async () => {
    let refused = 0;
    source.intercept = (_, path) =>
      path === 'sys/policies/acl/jsonp' && refused++ < 3
        ? { status: 429, body: { errors: ['request path "…": rate limit quota exceeded'] }, headers: { 'Retry-After': '7' } }
        : undefined;
    const report = await reportOf(source, target, ['-include=kind=policies', '-rate=1000']);
    source.intercept = undefined;
    expect(refused).toBe(4);
    expect(report.of('imported')).toContain('sys/policies/acl/jsonp');
  });

  test('that is sealed in between stops the import, which says so and goes on another time', async () => {
    source.intercept = (_, path) => (path.startsWith('secret/data/') ? { status: 503, body: { errors: ['Vault is sealed'] } } : undefined);
    const stopped = await reportOf(source, target, ['-apply', '-include=kind=kv', '-include=kind=policies']);
    source.intercept = undefined;
    expect(stopped.code).toBe(1);
    expect(stopped.stopped).toBe('The source is sealed: unseal it, then run the import again');
    expect(stopped.of('imported')).toContain('sys/policies/acl/jsonp');
    const again = await reportOf(source, target, ['-apply', '-include=kind=kv', '-include=kind=policies']);
    expect(again.of('imported')).toContain('secret/app/db');
    expect(again.of('conflict')).toEqual([]);
  });

  test('with 503 and no seal, with a lost connection or slowly now and then, is asked again, and everything comes', async () => {
    let calls = 0;
    source.intercept = () => {
      calls += 1;
      return calls > 5 && calls % 7 === 0 ? { status: 503, text: 'upstream connect error' } : undefined;
    };
    const report = await reportOf(source, target, ['-apply', '-include=secret/bulk/2/', '-verify=all']);
    source.intercept = undefined;
    expect(report.stopped).toBeUndefined();
    expect(report.verified?.different).toEqual([]);
    expect(report.totals).toMatchObject({ failed: 0, refused: 0 });
  });

  test('that answers something else than JSON in the middle stops the import with the path, and nothing of it is written', async () => {
    source.intercept = (_, path) =>
      /^secret\/metadata\/bulk\/3\/[^?]+$/.test(path) ? { status: 200, text: '<html>maintenance</html>' } : undefined;
    const report = await reportOf(source, target, ['-apply', '-include=secret/bulk/3/']);
    expect(report.code).toBe(1);
    expect(report.stopped).toContain('with a web page (status 200)');
    source.intercept = undefined;
    expect((await reportOf(source, target, ['-apply', '-include=secret/bulk/3/', '-verify=all'])).verified?.different).toEqual([]);
  });

  test('whose answers have other shapes than they should brings nothing of them, and no failure of the program', async () => {
    const odd: readonly unknown[] = [
      null,
      [],
      'text',
      7,
      { keys: 'a' },
      { keys: [null, 7, {}] },
      { versions: [] },
      { versions: { x: null } },
    ];
    for (const data of odd) {
      source.intercept = (_, path) =>
        /^(secret\/metadata\/bulk|identity\/entity|sys\/policies\/acl)/.test(path) ? { status: 200, body: { data } } : undefined;
      const { code, stderr } = await importFrom(source, target, [
        '-include=secret/bulk/',
        '-include=kind=policies',
        '-include=kind=identity',
      ]);
      expect([0, 1, 2, 3]).toContain(code);
      expect(stderr).not.toMatch(/TypeError|undefined|\[object/);
    }
    source.intercept = undefined;
  });

  test('whose token expires in the middle stops the import, which goes on with another token', async () => {
    let calls = 0;
    source.intercept = () => (++calls > 60 ? { status: 403, body: { errors: ['permission denied'] } } : undefined);
    const report = await reportOf(source, target, ['-apply', '-include=secret/']);
    source.intercept = undefined;
    expect(report.stopped).toBe('The source no longer accepts the token: run the import again with another one');
    expect((await reportOf(source, target, ['-apply', '-include=secret/', '-verify=all'])).code).toBe(0);
  });

  test('whose names are hostile brings those that can be stored, with their very names', async () => {
    const names = ['a b', 'ü/ß', '%2e%2e', 'a#b?c', 'o\'b"c', '日本', 'x%'];
    const like = source.data('sys/mounts')['old/'] as object;
    source.set('sys/mounts', { ...source.data('sys/mounts'), 'odd/': { ...like, accessor: 'kv_odd', type: 'kv', options: null } });
    source.intercept = (_, path) => {
      if (path === 'odd/?list=true') return { status: 200, body: { data: { keys: [...names, '..', '.', 'a/../../b', ''] } } };
      return path.startsWith('odd/') ? { status: 200, body: { data: { value: path } } } : undefined;
    };
    const report = await reportOf(source, target, ['-apply', '-include=odd/']);
    source.intercept = undefined;
    expect(report.stopped).toBeUndefined();
    expect(report.of('refused').sort()).toEqual(['odd/.', 'odd/..', 'odd/a/../../b']);
    expect(report.of('failed')).toEqual([]);
    for (const name of ['a b', 'ü/ß', '日本', 'o\'b"c'])
      expect(await target.read(`odd/${name}`)).toMatchObject({ value: expect.any(String) });
  });
});
