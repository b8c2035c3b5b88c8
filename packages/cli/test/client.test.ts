import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { cliLab, denied } from './fake-server.ts';
import { envelope, sealStatus, wrapped } from './fixtures/answers.ts';

const lab = cliLab();
const some = { body: envelope({ data: { x: '1' } }) };

describe('requests', () => {
  test('carry the token and the marks of a client of this API', async () => {
    lab.routes['GET a/b'] = some;
    await lab.run(['read', 'a/b']);
    expect(lab.seen[0]?.headers).toMatchObject({ 'x-vault-token': 's.OWN', 'x-vault-request': 'true' });
    expect(lab.seen[0]?.headers).not.toHaveProperty('x-vault-namespace');
    expect(lab.seen[0]?.headers).not.toHaveProperty('x-vault-wrap-ttl');
  });

  test('take the environment under our name first, then the two known ones', async () => {
    lab.routes['GET a/b'] = some;
    const token = async (env: Record<string, string | undefined>) => {
      await lab.run(['read', 'a/b'], { env: { STRONGROOM_TOKEN: undefined, ...env } });
      return lab.seen.at(-1)?.headers['x-vault-token'];
    };
    expect(await token({ VAULT_TOKEN: 'v' })).toBe('v');
    expect(await token({ VAULT_TOKEN: 'v', BAO_TOKEN: 'b' })).toBe('b');
    expect(await token({ VAULT_TOKEN: 'v', BAO_TOKEN: 'b', STRONGROOM_TOKEN: 's' })).toBe('s');
    expect(await token({})).toBeUndefined();
  });

  test('take flags over the environment', async () => {
    lab.routes['GET a/b'] = some;
    const { code } = await lab.run(['read', '-address', lab.url, '-ns=team/a/', '-wrap-ttl=5m', '-header=X-Extra=1', 'a/b'], {
      env: { STRONGROOM_ADDR: 'http://127.0.0.1:1', VAULT_NAMESPACE: 'other' },
    });
    expect(code).toBe(0);
    expect(lab.seen[0]?.headers).toMatchObject({ 'x-vault-namespace': 'team/a/', 'x-vault-wrap-ttl': '300', 'x-extra': '1' });
  });

  test('escape what would end a path', async () => {
    await lab.run(['read', '/a//b?c#d e%/']);
    expect(lab.seen[0]?.path).toBe('a/b%3Fc%23d%20e%25');
  });

  test('a wrong setting is refused before anything is sent', async () => {
    expect((await lab.run(['read', 'a'], { env: { STRONGROOM_ADDR: 'localhost:8200' } })).stderr).toContain(
      'must start with http://, https:// or unix://',
    );
    expect((await lab.run(['read', 'a'], { env: { VAULT_MAX_RETRIES: 'many' } })).stderr).toContain('MAX_RETRIES must be a whole number');
    expect((await lab.run(['read', 'a'], { env: { VAULT_SKIP_VERIFY: 'perhaps' } })).stderr).toContain('SKIP_VERIFY must be true or false');
    expect(lab.seen).toEqual([]);
  });
});

describe('refusals', () => {
  test('show the request, the status and every error, and exit 2', async () => {
    lab.routes['GET secret/x'] = denied();
    const { code, stdout, stderr } = await lab.run(['read', 'secret/x']);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toBe(
      `Error reading secret/x: Error making API request.\n\nURL: GET ${lab.url}/v1/secret/x\nCode: 403. Errors:\n\n* 1 error occurred:\n\t* permission denied\n\n\n`,
    );
  });

  test('show the namespace when there is one, and a body that is not JSON as it came', async () => {
    lab.routes['GET x'] = { status: 400, text: 'plain words' };
    const { stderr } = await lab.run(['read', '-namespace=team', 'x']);
    expect(stderr).toContain('Namespace: team\nURL: GET');
    expect(stderr).toContain('Code: 400. Raw Message:\n\nplain words');
  });

  test('an answer that is no JSON exits 2 and doubts the address', async () => {
    lab.routes['GET x'] = { text: '<html>' };
    expect(await lab.run(['read', 'x'])).toMatchObject({ code: 2 });
  });

  test('a server that is not there is named, and exits 2', async () => {
    const { code, stderr } = await lab.run(['read', 'x'], { env: { STRONGROOM_ADDR: 'http://127.0.0.1:1' } });
    expect(code).toBe(2);
    expect(stderr).toContain('Error reading x: Get "http://127.0.0.1:1/v1/x": dial tcp 127.0.0.1:1: connect: connection refused');
  });

  test('https to a server that speaks http says which address to try', async () => {
    const { code, stderr } = await lab.run(['read', 'x', `-address=${lab.url.replace('http:', 'https:')}`]);
    expect(code).toBe(2);
    expect(stderr).toContain('http: server gave HTTP response to HTTPS client');
    expect(stderr).toContain(`try -address=${lab.url}`);
  });
});

describe('retries', () => {
  test.each([412, 429, 500, 502, 503])('%d is tried again, twice at most, with growing pauses', async (status) => {
    lab.routes['GET x'] = { status, body: { errors: ['later'] } };
    const { code } = await lab.run(['read', 'x']);
    expect(code).toBe(2);
    expect(lab.seen).toHaveLength(3);
    expect(lab.pauses).toHaveLength(2);
    expect(lab.pauses[0]).toBeGreaterThanOrEqual(1000);
    expect(lab.pauses[1]).toBeGreaterThan(lab.pauses[0] ?? 0);
  });

  test('a later success is the answer', async () => {
    lab.routes['GET x'] = [{ status: 502, body: { errors: [] } }, some];
    expect(await lab.run(['read', '-field=x', 'x'])).toMatchObject({ code: 0, stdout: '1' });
  });

  test.each([400, 403, 405, 501])('%d is final', async (status) => {
    lab.routes['GET x'] = { status, body: { errors: ['no'] } };
    await lab.run(['read', 'x']);
    expect(lab.seen).toHaveLength(1);
  });

  test('a sealed server is not asked again', async () => {
    lab.routes['GET x'] = { status: 503, body: { errors: ['Vault is sealed'] } };
    expect((await lab.run(['read', 'x'])).stderr).toContain('* Vault is sealed');
    expect(lab.seen).toHaveLength(1);
  });

  test('MAX_RETRIES decides how often', async () => {
    lab.routes['GET x'] = { status: 500, body: { errors: [] } };
    await lab.run(['read', 'x'], { env: { VAULT_MAX_RETRIES: '0' } });
    expect(lab.seen).toHaveLength(1);
  });
});

describe('redirects', () => {
  test('are followed once, with the method and the body', async () => {
    lab.routes['PUT x'] = { status: 307, headers: { Location: '/v1/y' } };
    lab.routes['PUT y'] = some;
    expect(await lab.run(['write', 'x', 'a=b'])).toMatchObject({ code: 0 });
    expect(lab.seen.at(-1)).toMatchObject({ method: 'PUT', path: 'y', body: { a: 'b' } });
  });

  test('are not followed in a circle', async () => {
    lab.routes['GET x'] = { status: 307, headers: { Location: '/v1/x' } };
    await lab.run(['read', 'x']);
    expect(lab.seen).toHaveLength(2);
  });
});

describe('describing a request instead of sending it', () => {
  test('as a curl command, which fetches the token when it runs', async () => {
    const { code, stdout } = await lab.run(['write', '-output-curl-string', 'a/b', "c=it's"]);
    expect(code).toBe(0);
    expect(stdout).toBe(
      `curl -X PUT -H "X-Vault-Token: $(strongroom print token)" -H 'X-Vault-Request: true' -d '{"c":"it'\\''s"}' '${lab.url}/v1/a/b'\n`,
    );
    expect(stdout).not.toContain('s.OWN');
    expect(lab.seen).toEqual([]);
  });

  test('as the policy that it needs, with sudo where the path asks for it', async () => {
    expect((await lab.run(['write', '-output-policy', 'a/b', 'c=d'])).stdout).toBe(
      'path "a/b" {\n  capabilities = ["create", "update"]\n}\n',
    );
    expect((await lab.run(['list', '-output-policy', 'auth/token/accessors'])).stdout).toContain('["list", "sudo"]');
    expect((await lab.run(['scan', '-output-policy', 'secret/metadata'])).stdout).toContain('capabilities = ["scan"]');
    expect((await lab.run(['kv', 'get', '-output-policy', 'v1/x'])).stdout).toContain('path "v1/x"');
  });
});

describe('wrapping', () => {
  test('prints the wrapping token and how long it lives', async () => {
    lab.routes['GET secret/data/app'] = { body: wrapped };
    const { stdout } = await lab.run(['read', '-wrap-ttl=5m', 'secret/data/app']);
    expect(stdout).toBe(
      [
        'Key                              Value',
        '---                              -----',
        'wrapping_token:                  s.WRAPPING',
        'wrapping_accessor:               0nBPxDfPOk8nZZcatSTQXdyr',
        'wrapping_token_ttl:              5m',
        'wrapping_token_creation_time:    2026-11-21 09:14:35.157724878 +0000 UTC',
        'wrapping_token_creation_path:    secret/data/app',
        '',
      ].join('\n'),
    );
    expect((await lab.run(['read', '-wrap-ttl=5m', '-field=wrapping_token', 'secret/data/app'])).stdout).toBe('s.WRAPPING');
  });

  test('unwrap sends the token in the body beside an own one, else in the header', async () => {
    lab.routes['PUT sys/wrapping/unwrap'] = some;
    await lab.run(['unwrap', 's.WRAPPING']);
    expect(lab.seen[0]).toMatchObject({ headers: { 'x-vault-token': 's.OWN' }, body: { token: 's.WRAPPING' } });
    await lab.run(['unwrap', 's.WRAPPING'], { env: { STRONGROOM_TOKEN: undefined } });
    expect(lab.seen[1]).toMatchObject({ headers: { 'x-vault-token': 's.WRAPPING' }, body: undefined });
    await lab.run(['unwrap'], { env: { STRONGROOM_TOKEN: 's.WRAPPING' } });
    expect(lab.seen[2]).toMatchObject({ headers: { 'x-vault-token': 's.WRAPPING' }, body: undefined });
    expect(await lab.run(['unwrap'], { env: { STRONGROOM_TOKEN: undefined } })).toMatchObject({ code: 1 });
  });

  test('unwrap reads the cubbyhole of a server without the endpoint', async () => {
    lab.routes['GET cubbyhole/response'] = { body: envelope({ data: { response: JSON.stringify(some.body) } }) };
    expect(await lab.run(['unwrap', '-field=x', 's.WRAPPING'])).toMatchObject({ code: 0, stdout: '1' });
    expect(lab.seen.at(-1)?.headers['x-vault-token']).toBe('s.WRAPPING');
  });
});

describe('TLS', () => {
  let folder = '';
  let url = '';
  const server = { current: undefined as ReturnType<typeof createServer> | undefined };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'strongroom-cli-tls-'));
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    const words =
      'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=lab -addext subjectAltName=DNS:lab.test,IP:127.0.0.1';
    await promisify(execFile)('openssl', [...words.split(' '), '-keyout', key, '-out', cert]);
    const running = createServer({ key: await readFile(key), cert: await readFile(cert) }, (request, reply) => {
      reply.end(JSON.stringify(request.url === '/v1/sys/leader' ? { ha_enabled: false } : sealStatus));
    });
    await new Promise<void>((resolve) => running.listen(0, '127.0.0.1', resolve));
    server.current = running;
    url = `https://127.0.0.1:${(running.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    server.current?.closeAllConnections();
    await new Promise((resolve) => server.current?.close(resolve));
    await rm(folder, { recursive: true, force: true });
  });

  const status = (env: Record<string, string>, ...words: string[]) =>
    lab.run(['status', ...words], { env: { STRONGROOM_ADDR: url, ...env } });

  test('a certificate signed by nobody known is refused with the way out', async () => {
    const { code, stderr } = await status({});
    expect(code).toBe(1);
    expect(stderr).toContain('tls: failed to verify certificate');
    expect(stderr).toContain('-ca-cert');
  });

  test('-ca-cert, -ca-path, -tls-server-name and -tls-skip-verify each decide', async () => {
    expect(await status({ VAULT_CACERT: join(folder, 'cert.pem') })).toMatchObject({ code: 0 });
    expect(await status({}, '-ca-path', folder)).toMatchObject({ code: 0 });
    expect(await status({}, `-ca-cert=${join(folder, 'cert.pem')}`, '-tls-server-name=lab.test')).toMatchObject({ code: 0 });
    expect(await status({}, `-ca-cert=${join(folder, 'cert.pem')}`, '-tls-server-name=other.test')).toMatchObject({ code: 1 });
    expect(await status({}, '-tls-skip-verify')).toMatchObject({ code: 0 });
  });

  test('a file that cannot be read is named by its flag', async () => {
    expect((await status({}, '-ca-cert=/nonexistent.pem')).stderr).toContain('Error reading the file of -ca-cert');
    expect((await status({}, '-client-cert=x.pem')).stderr).toContain('-client-cert and -client-key go together');
  });

  test('http to a server that speaks TLS says which address to try', async () => {
    const { stderr } = await status({}, `-address=${url.replace('https:', 'http:')}`);
    expect(stderr).toContain(`try -address=${url}`);
  });
});
