import { copyFileSync, existsSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import type { EnginePackage } from '@strongroom/engine-sdk';
import { f, path } from '@strongroom/engine-sdk';
import { checkConfiguration } from '../src/config/read-configuration.ts';
import { ListenerFailed, startServer, TlsFilesInvalid, type RunningServer, type StartOptions } from '../src/index.ts';
import { ServerLog } from '../src/log/server-log.ts';
import { TestAuthority } from './certificates.ts';
import { scratchFolder } from './scratch.ts';

const TOKEN = 'root-of-this-test';
const folder = scratchFolder();
const running: RunningServer[] = [];
const lines: string[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map(async (server) => server.stop()));
  lines.length = 0;
});

async function start(text: string, options: Omit<StartOptions, 'configuration'> = {}): Promise<RunningServer> {
  const configuration = checkConfiguration([{ file: 'server.hcl', text }], { env: {}, dev: true });
  const log = new ServerLog({ level: 'debug', format: 'json', write: (line) => lines.push(line) });
  const server = await startServer({ configuration, log, devRootToken: TOKEN, ...options });
  running.push(server);
  return server;
}

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly headers: http.IncomingHttpHeaders;
  readonly peer: string | undefined;
}

function ask(url: string, options: https.RequestOptions & { body?: string; token?: string } = {}): Promise<Answer> {
  const { body, token = TOKEN, ...rest } = options;
  const send = url.startsWith('https:') ? https.request : http.request;
  return new Promise((resolve, reject) => {
    const request = send(url, { agent: false, headers: token === '' ? {} : { 'X-Vault-Token': token }, ...rest }, (response) => {
      const socket = response.socket as { getPeerCertificate?: () => { subject?: { CN?: string } } };
      const peer = socket.getPeerCertificate?.().subject?.CN;
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, text, headers: response.headers, peer });
      });
    });
    request.on('error', reject);
    request.end(body);
  });
}

const ANY_PORT = 'listener "tcp" { address = "127.0.0.1:0" }';

describe('a server', () => {
  test('serves key-value at secret/ in development', async () => {
    const { addresses } = await start(ANY_PORT);
    const secret = `${addresses[0]!}/v1/secret/data/app`;
    expect(await ask(secret, { method: 'POST', body: '{"data":{"user":"app"}}' })).toMatchObject({ status: 200 });
    expect(JSON.parse((await ask(secret)).text)).toMatchObject({ data: { data: { user: 'app' } } });
    expect(await ask(secret, { token: 'wrong' })).toMatchObject({ status: 403 });
  });

  test('listens on every address it was given', async () => {
    const socket = join(folder, 'api.sock');
    const { addresses } = await start(`${ANY_PORT}\n${ANY_PORT}\nlistener "unix" { address = "${socket}", socket_mode = "0660" }`);
    expect(addresses).toHaveLength(3);
    expect(statSync(socket).mode & 0o777).toBe(0o660);
    for (const address of addresses.slice(0, 2)) expect(await ask(`${address}/v1/sys/health`)).toMatchObject({ status: 200 });
    expect(await ask('http://localhost/v1/sys/health', { socketPath: socket })).toMatchObject({ status: 200 });
    await running[0]!.stop();
    expect(existsSync(socket)).toBe(false);
  });

  test('streams its log to who follows it, at the level that they ask for', async () => {
    const { addresses } = await start(ANY_PORT);
    const level = (name: string, to: string): Promise<Answer> =>
      ask(`${addresses[0]!}/v1/sys/loggers/${name}`, { method: 'POST', body: JSON.stringify({ level: to }) });
    expect(await level('core', 'error')).toMatchObject({ status: 204 });
    const request = http.get(`${addresses[0]!}/v1/sys/monitor?log_level=debug&log_format=json`, { headers: { 'X-Vault-Token': TOKEN } });
    const response = await new Promise<http.IncomingMessage>((resolve) => request.once('response', resolve));
    expect(response.headers['content-type']).toBe('application/json');
    await running[0]!.reload();
    const text = await new Promise<string>((resolve) => {
      let all = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        all += chunk;
        if (all.includes('reloaded')) resolve(all);
      });
    });
    request.destroy();
    expect(text).toMatch(/"level":30.*"msg":"reloaded"/);
  });

  test('sends the headers and keeps the limits of its listener', async () => {
    const { addresses } = await start(`listener "tcp" {
      address = "127.0.0.1:0"
      max_request_size = 100
      custom_response_headers { default = { "X-Frame-Options" = "DENY" } }
    }`);
    const answer = await ask(`${addresses[0]!}/v1/secret/data/a`, { method: 'POST', body: `{"data":{"a":"${'x'.repeat(200)}"}}` });
    expect(answer).toMatchObject({ status: 413, headers: { 'x-frame-options': 'DENY' } });
  });

  test('counts requests for Prometheus', async () => {
    const { addresses } = await start(
      `${ANY_PORT}\nlistener "tcp" { address = "127.0.0.1:0", telemetry { unauthenticated_metrics_access = true } }`,
    );
    const [closed, open] = addresses as [string, string];
    for (let i = 0; i < 3; i += 1) await ask(`${closed}/v1/sys/mounts`);
    await ask(`${closed}/v1/no/such`);
    const { text, headers } = await ask(`${closed}/v1/sys/metrics?format=prometheus`);
    expect(headers['content-type']).toBe('text/plain; version=0.0.4');
    expect(text).toContain('strongroom_requests_total{operation="read",status="200"} 3');
    expect(text).toContain('strongroom_requests_total{operation="read",status="404"} 1');
    expect(text).toContain('strongroom_request_seconds_count{operation="read"} 4');
    expect(text).toContain('strongroom_unsealed 1');
    expect(text).toMatch(/^process_resident_memory_bytes \d+$/m);
    expect(Number(/^strongroom_storage_commits_total (\d+)$/m.exec(text)?.[1])).toBeGreaterThan(0);
    expect(await ask(`${closed}/v1/sys/metrics`, { token: '' })).toMatchObject({ status: 403 });
    expect(await ask(`${open}/v1/sys/metrics`, { token: '' })).toMatchObject({ status: 200 });
    expect(await ask(`${open}/metrics`, { token: '' })).toMatchObject({ status: 200 });
    expect(await ask(`${closed}/metrics`, { token: '' })).toMatchObject({ status: 404 });
  });

  test('counts for Prometheus, and in JSON, what each mount does', async () => {
    const { addresses } = await start(ANY_PORT);
    const at = `${addresses[0]!}/v1`;
    const write = async (path: string, body: object, token?: string) =>
      ask(`${at}/${path}`, { method: 'POST', body: JSON.stringify(body), ...(token === undefined ? {} : { token }) });
    await write('sys/auth/people', { type: 'userpass' });
    await write('auth/people/users/ada', { password: 'lovelace' });
    await write('auth/people/login/ada', { password: 'lovelace' }, '');
    await write('auth/people/login/ada', { password: 'babbage' }, '');
    const { text } = await ask(`${at}/sys/metrics?format=prometheus`);
    expect(text).toContain('strongroom_logins_total{mount="auth/people/",type="userpass",result="ok"} 1');
    expect(text).toContain('strongroom_logins_total{mount="auth/people/",type="userpass",result="denied"} 1');
    expect(text).not.toContain('strongroom_logins_total{mount="secret/"');
    expect(text).toContain('strongroom_circuit_breakers_open 0');
    const json = await ask(`${at}/sys/metrics?format=json`);
    expect(json.headers['content-type']).toBe('application/json');
    const { Gauges, Counters, Samples, Points } = JSON.parse(json.text) as Record<string, { Name: string; Count?: number }[]>;
    expect(Gauges).toContainEqual({ Name: 'strongroom_unsealed', Value: 1, Labels: {} });
    expect(Counters).toContainEqual(
      expect.objectContaining({
        Name: 'strongroom_logins_total',
        Count: 1,
        Labels: { mount: 'auth/people/', type: 'userpass', result: 'ok' },
      }),
    );
    expect(Samples!.find(({ Name }) => Name === 'strongroom_request_seconds')!.Count).toBeGreaterThan(0);
    expect(Points).toEqual([]);
    expect(await ask(`${at}/sys/metrics?format=xml`)).toMatchObject({ status: 400, text: 'metric response format "xml" unknown' });
  });

  test('tells Prometheus how far quotas are used', async () => {
    const { addresses } = await start(ANY_PORT);
    const at = `${addresses[0]!}/v1`;
    const write = async (path: string, body: object) => ask(`${at}/${path}`, { method: 'POST', body: JSON.stringify(body) });
    await write('sys/quotas/lease-count/tokens', { path: 'auth/token', max_leases: 5 });
    await write('auth/token/create', { ttl: '1h' });
    await write('sys/quotas/rate-limit/policies', { path: 'sys/policies/acl/none', rate: 1, interval: '1h' });
    expect((await ask(`${at}/sys/policies/acl/none`)).status).toBe(404);
    const refused = await ask(`${at}/sys/policies/acl/none`);
    expect([refused.status, Number(refused.headers['retry-after']) > 3_590]).toEqual([429, true]);
    const { text } = await ask(`${at}/sys/metrics?format=prometheus`);
    expect(text).toContain('strongroom_quota_rate_limit_violations_total{name="policies"} 1');
    expect(text).toContain('strongroom_quota_lease_count{name="tokens"} 1');
    expect(text).toContain('strongroom_quota_lease_count_limit{name="tokens"} 5');
  });

  test('lets requests end before it closes', async () => {
    let entered = (): void => {};
    let release = (): void => {};
    const inside = new Promise<void>((resolve) => (entered = resolve));
    const gate = new Promise<void>((resolve) => (release = resolve));
    const slow: EnginePackage = {
      name: 'slow',
      kind: 'secret',
      apiVersion: 2,
      create: () => ({
        paths: [
          path('wait/{name}', { synopsis: 'Waits.', description: '', fields: { name: f.name('Any.') } }).read({
            summary: 'Waits',
            handle: async () => {
              entered();
              await gate;
              return { data: { waited: true } };
            },
          }),
        ],
      }),
    };
    const server = await start(ANY_PORT, { plugins: [slow] });
    const [address] = server.addresses;
    expect(await ask(`${address!}/v1/sys/mounts/slow`, { method: 'POST', body: '{"type":"slow"}' })).toMatchObject({ status: 204 });
    const answer = ask(`${address!}/v1/slow/wait/x`);
    await inside;
    const stopped = server.stop();
    await expect(ask(`${address!}/v1/sys/health`)).rejects.toThrow('ECONNREFUSED');
    release();
    expect(await answer).toMatchObject({ status: 200 });
    await stopped;
    expect(server.core.sealed).toBe(true);
  });

  test('leaves nothing behind when it cannot start', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => taken.once('listening', resolve));
    const { port } = taken.address() as { port: number };
    const pid = join(folder, 'failed.pid');
    const failing = start(
      `${ANY_PORT}\nlistener "tcp" { address = "127.0.0.1:${port}" }\nstorage "lmdb" { path = "${join(folder, 'failed')}" }\npid_file = "${pid}"`,
    );
    await expect(failing).rejects.toThrow(
      new ListenerFailed(`cannot listen on 127.0.0.1:${port}: the address is in use: is another server running?`),
    );
    expect(existsSync(pid)).toBe(false);
    taken.close();
  });

  test('takes over the socket of a dead server only', async () => {
    const file = join(folder, 'plain');
    writeFileSync(file, 'precious');
    await expect(start(`listener "unix" { address = "${file}" }`)).rejects.toThrow('no socket');
    expect(readFileSync(file, 'utf8')).toBe('precious');
    const socket = join(folder, 'busy.sock');
    await start(`listener "unix" { address = "${socket}" }`);
    await expect(start(`listener "unix" { address = "${socket}" }`)).rejects.toThrow('the address is in use');
  });

  test('writes its number into the pid file, and takes it away', async () => {
    const pid = join(folder, 'run', 'server.pid');
    const server = await start(`${ANY_PORT}\npid_file = "${pid}"`);
    expect(readFileSync(pid, 'utf8')).toBe(`${process.pid}\n`);
    await server.stop();
    expect(existsSync(pid)).toBe(false);
  });

  test('opens audit files again when it reloads', async () => {
    const file = join(folder, 'audit.log');
    const server = await start(`${ANY_PORT}\naudit "file" "main" { file_path = "${file}" }`);
    await ask(`${server.addresses[0]!}/v1/sys/mounts`);
    renameSync(file, `${file}.1`);
    await server.reload();
    await ask(`${server.addresses[0]!}/v1/sys/policies/acl/default`);
    expect(readFileSync(`${file}.1`, 'utf8')).toContain('"path":"sys/mounts"');
    expect(readFileSync(file, 'utf8')).toContain('"path":"sys/policies/acl/default"');
  });

  test('says nothing secret in its log', async () => {
    const value = 'a-value-nobody-may-see';
    const server = await start(`${ANY_PORT}\nseal "static" { current_key_id = "1", current_key = "${'ab'.repeat(32)}" }`);
    const api = `${server.addresses[0]!}/v1`;
    await ask(`${api}/secret/data/app`, { method: 'POST', body: `{"data":{"password":"${value}"}}` });
    await ask(`${api}/sys/mounts/db`, { method: 'POST', body: '{"type":"database"}' });
    const url = `postgresql://{{username}}:{{password}}@127.0.0.1:1/none`;
    const config = JSON.stringify({
      plugin_name: 'postgresql-database-plugin',
      connection_url: url,
      username: 'u',
      password: value,
      allowed_roles: '*',
    });
    expect((await ask(`${api}/db/config/main`, { method: 'POST', body: config })).status).toBeGreaterThanOrEqual(400);
    const made = JSON.parse((await ask(`${api}/auth/token/create`, { method: 'POST', body: '{}' })).text) as {
      auth: { client_token: string };
    };
    await server.stop();
    const log = lines.join('');
    expect(log).toContain('"msg":"stopped"');
    for (const secret of [TOKEN, value, 'ab'.repeat(32), made.auth.client_token]) expect(log).not.toContain(secret);
  });
});

describe('a TLS listener', () => {
  const authority = new TestAuthority(folder);
  const first = authority.issue('first');
  const second = authority.issue('second');
  const ca = readFileSync(authority.caFile);
  const listener = (more = ''): string =>
    `listener "tcp" { address = "127.0.0.1:0", tls_cert_file = "${join(folder, 'cert.pem')}", tls_key_file = "${join(folder, 'key.pem')}"\n${more} }`;
  const use = ({ certFile, keyFile }: { certFile: string; keyFile: string }): void => {
    copyFileSync(certFile, join(folder, 'cert.pem'));
    copyFileSync(keyFile, join(folder, 'key.pem'));
  };

  test('shows its certificate, and the new one after a reload', async () => {
    use(first);
    const server = await start(listener());
    const url = `${server.addresses[0]!}/v1/sys/health`;
    expect(url).toMatch(/^https:\/\/127\.0\.0\.1:\d+\//);
    expect(await ask(url, { ca })).toMatchObject({ status: 200, peer: 'first' });
    use(second);
    expect(await ask(url, { ca })).toMatchObject({ peer: 'first' });
    await server.reload();
    expect(await ask(url, { ca })).toMatchObject({ peer: 'second' });
  });

  test('keeps its certificate when the new files are faulty', async () => {
    use(first);
    const server = await start(listener());
    copyFileSync(second.keyFile, join(folder, 'key.pem'));
    await server.reload();
    expect(await ask(`${server.addresses[0]!}/v1/sys/health`, { ca })).toMatchObject({ status: 200, peer: 'first' });
    expect(lines.join('')).toContain('is not the key of the certificate');
  });

  test('refuses callers without the certificate it wants', async () => {
    use(first);
    const server = await start(listener(`tls_client_ca_file = "${authority.caFile}", tls_require_and_verify_client_cert = true`));
    const url = `${server.addresses[0]!}/v1/sys/health`;
    const stranger = new TestAuthority(folder, 'stranger').issue('impostor');
    const pair = ({ certFile, keyFile }: typeof first): { cert: Buffer; key: Buffer } => ({
      cert: readFileSync(certFile),
      key: readFileSync(keyFile),
    });
    await expect(ask(url, { ca })).rejects.toThrow();
    await expect(ask(url, { ca, ...pair(stranger) })).rejects.toThrow();
    expect(await ask(url, { ca, ...pair(second) })).toMatchObject({ status: 200 });
  });

  test('accepts no older TLS than configured', async () => {
    use(first);
    const server = await start(listener('tls_min_version = "tls13"'));
    await expect(ask(`${server.addresses[0]!}/v1/sys/health`, { ca, maxVersion: 'TLSv1.2' })).rejects.toThrow();
  });

  test('does not open with files that cannot be used', async () => {
    use(first);
    copyFileSync(second.keyFile, join(folder, 'key.pem'));
    await expect(start(listener())).rejects.toThrow(TlsFilesInvalid);
    writeFileSync(join(folder, 'key.pem'), 'no key');
    await expect(start(listener())).rejects.toThrow('holds no usable private key in PEM');
  });
});
