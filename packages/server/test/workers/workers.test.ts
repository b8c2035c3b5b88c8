import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { TestAuthority } from '../certificates.ts';
import { scratchFolder } from '../scratch.ts';
import { Begun, isAlive, ServerProcess, until, type Connection } from './server-process.ts';

jest.setTimeout(120_000);

const folder = scratchFolder();
const KEY = 'ab'.repeat(32);
const started: ServerProcess[] = [];
afterAll(async () => {
  for (const server of started) await server.end('SIGKILL');
});
const start = (config: string, env: Record<string, string> = {}): ServerProcess => {
  const server = new ServerProcess(config, env);
  started.push(server);
  return server;
};
const written = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};
/** A configuration of two workers on a store of this name. */
const twoWorkers = (name: string): string =>
  written(
    `${name}.hcl`,
    `storage "lmdb" { path = ${JSON.stringify(join(folder, name))} }\nlistener "tcp" { address = "127.0.0.1:0", tls_disable = true }\nui = false\nworkers = 2\n`,
  );

/** The tests follow one server through its life, in this order. */
describe('a server of two workers', () => {
  const audit = join(folder, 'audit.log');
  const socket = join(folder, 'strongroom.sock');
  let server: ServerProcess;
  let address: string;
  let token: string;
  let recovery: string[];
  let connections: Connection[];
  const auditConnections = new Set<Socket>();
  const auditSocket = createServer((one) => void auditConnections.add(one.resume().on('error', () => undefined)));
  afterAll(() => void auditSocket.close());

  beforeAll(async () => {
    await new Promise<void>((resolve) => auditSocket.listen(0, '127.0.0.1', resolve));
    const { port } = auditSocket.address() as AddressInfo;
    server = start(
      written(
        'server.hcl',
        `storage "lmdb" { path = ${JSON.stringify(join(folder, 'store'))} }
listener "tcp" { address = "127.0.0.1:0", tls_disable = true, disable_unauthed_generate_root_endpoints = false, disable_unauthed_rekey_endpoints = false }
listener "unix" { address = ${JSON.stringify(socket)} }
seal "static" { current_key_id = "1", current_key = "${KEY}" }
audit "file" "file" { options = { file_path = ${JSON.stringify(audit)} } }
audit "socket" "socket" { options = { address = "127.0.0.1:${port}", socket_type = "tcp" } }
ui = false
pid_file = ${JSON.stringify(join(folder, 'pid'))}
workers = 2
`,
      ),
    );
    address = await server.says(/Listeners: (http:\S+?),/);
    await server.says(/ready/);
    connections = Array.from({ length: 8 }, () => server.connection(address));
  });
  const all = async (method: string, path: string, body?: unknown) =>
    Promise.all(connections.map(async (one) => one.call(method, path, token, body)));
  const statuses = async (path: string): Promise<number[]> => [...new Set((await all('GET', path)).map(({ status }) => status))];

  test('is ready once both listen, and its pid file has the number of the supervisor', () => {
    expect(readFileSync(join(folder, 'pid'), 'utf8')).toBe(`${server.pid}\n`);
    expect(server.workers).toHaveLength(2);
    expect(server.said).toContain('Workers: 2');
  });

  test('opens whole when one worker initializes it', async () => {
    const { body } = await connections[0]!.call('PUT', 'sys/init', '', { recovery_shares: 2, recovery_threshold: 2 });
    token = body['root_token'] as string;
    recovery = body['recovery_keys_base64'] as string[];
    expect(await statuses('sys/health')).toEqual([200]);
    expect((await connections[0]!.call('GET', 'sys/health')).body).toMatchObject({ workers: { running: 2, configured: 2 } });
  });

  test('has one connection from each worker to an audit device behind a socket', async () => {
    for (let i = 0; i < 10; i += 1) expect(await statuses('auth/token/lookup-self')).toEqual([200]);
    expect(auditConnections.size).toBe(2);
  });

  test('has no key and no token in the environment or the arguments of a process', () => {
    for (const pid of [server.pid, ...server.workers, server.writer!])
      for (const file of ['environ', 'cmdline']) {
        const text = readFileSync(`/proc/${pid}/${file}`, 'utf8');
        for (const secret of [KEY, token, ...recovery]) expect(text).not.toContain(secret);
      }
  });

  test('answers at its unix socket, which is its owner’s', async () => {
    const answered = await new Promise<string>((resolve, reject) => {
      const client = connect(socket, () => client.write('GET /v1/sys/health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'));
      let text = '';
      client.setEncoding('utf8').on('data', (chunk) => (text += String(chunk)));
      client.once('end', () => resolve(text));
      client.once('error', reject);
    });
    expect(answered).toMatch(/^HTTP\/1.1 200 /);
  });

  test('counts the requests of all its workers, whichever is asked', async () => {
    const counted = async (one: Connection): Promise<number> => {
      const { text } = await one.call('GET', 'sys/metrics', token);
      return Number(/^strongroom_requests_total\{operation="read",status="404"\} (\d+)$/m.exec(text)?.[1] ?? 0);
    };
    const before = await counted(connections[0]!);
    for (let i = 0; i < 25; i += 1) await all('GET', 'sys/policies/acl/absent');
    const after = await Promise.all(connections.map(counted));
    expect(after).toEqual(connections.map(() => before + 200));
    const { text } = await connections[0]!.call('GET', 'sys/metrics', token);
    expect(text).toMatch(/^process_resident_memory_bytes\{worker="1"\} /m);
    expect(text).toMatch(/^process_resident_memory_bytes\{worker="2"\} /m);
    expect(text).toMatch(/^strongroom_unsealed 1$/m);
    expect(text).toMatch(/^vault_core_unsealed\{cluster="[^"]+"\} 1$/m);
  });

  test('writes 20,000 whole lines to one audit file, before and after a rotation', async () => {
    const lines = (file: string): string[] => readFileSync(file, 'utf8').split('\n').slice(0, -1);
    const before = lines(audit).length;
    const rotated = `${audit}.1`;
    const wide = JSON.stringify(Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`key${i}`, 'x'])));
    const head = `Host: x\r\nX-Vault-Token: ${token}\r\n`;
    const narrow = `GET /v1/auth/token/lookup-self HTTP/1.1\r\n${head}\r\n`;
    const long = `PUT /v1/cubbyhole/wide HTTP/1.1\r\n${head}Content-Length: ${wide.length}\r\n\r\n${wide}`;
    let answered = 0;
    const count = (more: number): void => {
      if (answered < 5_000 && answered + more >= 5_000) {
        renameSync(audit, rotated);
        server.child.kill('SIGHUP');
      }
      answered += more;
    };
    const asked = Array.from({ length: 8 }, async (_, at) => server.many(address, at < 6 ? narrow : long, at < 6 ? 1_600 : 200, count));
    expect(new Set((await Promise.all(asked)).flat())).toEqual(new Set([200, 204]));
    const written = [...lines(rotated), ...lines(audit)];
    expect(written).toHaveLength(before + 20_000);
    for (const line of written) expect(() => JSON.parse(line) as unknown).not.toThrow();
    expect(lines(audit).length).toBeGreaterThan(0);
  });

  test('generates a root token from shares that different workers are given', async () => {
    const begun = await connections[0]!.call('PUT', 'sys/generate-root/attempt', token, {});
    const { nonce, otp } = begun.body as { nonce: string; otp: string };
    await connections[1]!.call('PUT', 'sys/generate-root/update', token, { nonce, key: recovery[0] });
    const { body } = await connections[2]!.call('PUT', 'sys/generate-root/update', token, { nonce, key: recovery[1] });
    expect(body).toMatchObject({ complete: true, progress: 2 });
    const encoded = Buffer.from(body['encoded_token'] as string, 'base64');
    const made = encoded.map((byte, at) => byte ^ otp.charCodeAt(at)).toString();
    for (const one of connections) expect((await one.call('GET', 'auth/token/lookup-self', made)).status).toBe(200);
  });

  test('replaces recovery keys with shares that different workers are given', async () => {
    const begun = await connections[1]!.call('PUT', 'sys/rekey-recovery-key/init', token, { secret_shares: 2, secret_threshold: 2 });
    const nonce = begun.body['nonce'];
    await connections[2]!.call('PUT', 'sys/rekey-recovery-key/update', token, { nonce, key: recovery[0] });
    const { body } = await connections[3]!.call('PUT', 'sys/rekey-recovery-key/update', token, { nonce, key: recovery[1] });
    expect(body).toMatchObject({ complete: true });
    recovery = body['keys_base64'] as string[];
  });

  test('sets the level of a logger, and reloads a plugin, in all workers', async () => {
    await connections[0]!.call('POST', 'sys/loggers/audit', token, { level: 'trace' });
    for (const { body } of await all('GET', 'sys/loggers')) expect(body['data']).toMatchObject({ audit: 'trace' });
    await connections[0]!.call('POST', 'sys/mounts/secret', token, { type: 'kv', options: { version: '2' } });
    const { body } = await connections[1]!.call('PUT', 'sys/plugins/reload/backend', token, { mounts: ['secret/'] });
    const { reload_id } = body['data'] as { reload_id: string };
    const status = `sys/plugins/reload/backend/status?reload_id=${reload_id}`;
    expect(await statuses(status)).toEqual([200]);
  });

  test('follows the log of all workers at one of them', async () => {
    const seen = new Set<string>();
    const followed = server.follows(address, 'sys/monitor', token, (text) => {
      for (const [, worker] of text.matchAll(/reloaded.*worker=(\d)/g)) seen.add(worker!);
      return seen.size === 2;
    });
    await until(async () => {
      server.child.kill('SIGHUP');
      await connections[0]!.call('GET', 'sys/health');
      return seen.size === 2;
    });
    expect(await followed).toContain('worker=1');
  });

  test('loses nothing while a worker is killed under load, answers others meanwhile, starts another, and loses no count', async () => {
    const requests = async (): Promise<number> => {
      const { text } = await server.connection(address).call('GET', 'sys/metrics', token);
      return [...text.matchAll(/^strongroom_requests_total\{.*\} (\d+)$/gm)].reduce((sum, [, value]) => sum + Number(value), 0);
    };
    const written: string[] = [];
    const wrong: number[] = [];
    let broken = 0;
    let over = false;
    const writers = connections.map(async (_, writer) => {
      let one = server.connection(address);
      for (let i = 0; !over; i += 1) {
        const answer = await one.call('PUT', `secret/data/${writer}-${i}`, token, { data: { i } }).catch(() => undefined);
        if (answer?.status === 200) written.push(`${writer}-${i}`);
        else if (answer) wrong.push(answer.status);
        else {
          broken += 1;
          one.close();
          one = server.connection(address);
        }
      }
    });
    await until(() => written.length > 200);
    const before = await requests();
    const [killed, other] = server.workers as [number, number];
    server.said = '';
    process.kill(killed, 'SIGKILL');
    await server.says(/a worker ended; starting a new one: worker=\d pid=\d+ signal=SIGKILL/);
    const meanwhile = written.length;
    await server.says(/all workers are running/);
    expect(written.length).toBeGreaterThan(meanwhile);
    over = true;
    await Promise.all(writers);
    expect(wrong).toEqual([]);
    // Connections that the killed worker had taken break; no other does, and none is left waiting.
    expect(broken).toBeLessThanOrEqual(writers.length);
    expect(server.workers).toContain(other);
    // What the killed one counted in its last seconds alone may be missing.
    expect(await requests()).toBeGreaterThan(before);
    connections = Array.from({ length: 8 }, () => server.connection(address));
    const lists = await all('LIST', 'secret/metadata');
    for (const { body } of lists) {
      const kept = new Set((body['data'] as { keys: string[] }).keys);
      expect(written.filter((name) => !kept.has(name))).toEqual([]);
    }
    expect((await connections[0]!.call('GET', 'sys/nodes', token)).body['data']).toMatchObject({
      nodes: [{ state: 'active', workers: 2 }],
    });
  });

  test('loses nothing while the process that writes for the workers is killed under load, and starts another', async () => {
    connections = Array.from({ length: 8 }, () => server.connection(address));
    const statuses: number[] = [];
    const written: string[] = [];
    let over = false;
    const writers = connections.map(async (one, writer) => {
      for (let i = 0; !over; i += 1) {
        const { status } = await one.call('PUT', `secret/data/w${writer}-${i}`, token, { data: { i } });
        statuses.push(status);
        if (status === 200) written.push(`w${writer}-${i}`);
      }
    });
    await until(() => server.writer !== undefined && written.length > 100);
    const killed = server.writer!;
    process.kill(killed, 'SIGKILL');
    await server.says(
      new RegExp(
        `the process that writes for the workers ended; each worker writes by itself until it runs again: pid=${killed} signal=SIGKILL`,
      ),
    );
    const meanwhile = written.length;
    await until(() => server.writer !== undefined && server.writer !== killed && written.length > meanwhile + 100);
    over = true;
    await Promise.all(writers);
    expect(new Set(statuses)).toEqual(new Set([200]));
    for (const { body } of await all('LIST', 'secret/metadata')) {
      const kept = new Set((body['data'] as { keys: string[] }).keys);
      expect(written.filter((name) => !kept.has(name))).toEqual([]);
    }
  });

  test('is sealed and unsealed whole, and a worker that is started meanwhile stays sealed', async () => {
    expect((await connections[3]!.call('PUT', 'sys/seal', token)).status).toBe(204);
    expect(await statuses('sys/health')).toEqual([503]);
    server.said = '';
    process.kill(server.workers[0]!, 'SIGKILL');
    await server.says(/all workers are running/);
    connections = Array.from({ length: 8 }, () => server.connection(address));
    expect(await statuses('sys/health')).toEqual([503]);
    for (const [at, key] of recovery.entries()) await connections[at]!.call('PUT', 'sys/unseal', '', { key });
    expect(await statuses('sys/health')).toEqual([200]);
    expect(await statuses('auth/token/lookup-self')).toEqual([200]);
  });

  test('leaves no process behind when its supervisor is killed, and its port is free', async () => {
    const processes = [...server.workers, server.writer!];
    expect(processes).toHaveLength(3);
    await server.end('SIGKILL');
    await until(() => !processes.some(isAlive));
    const { port, hostname } = new URL(address);
    const next = createServer();
    await new Promise<void>((resolve, reject) => next.once('error', reject).listen(Number(port), hostname, resolve));
    next.close();
  });
});

test('a server of two workers ends with 1 and one plain sentence when its address is in use', async () => {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  const { port } = taken.address() as { port: number };
  const blocked = written('blocked', '');
  const both = [
    `storage "lmdb" { path = ${JSON.stringify(join(folder, 'other'))} }\nlistener "tcp" { address = "127.0.0.1:${port}", tls_disable = true }`,
    `storage "lmdb" { path = ${JSON.stringify(join(blocked, 'store'))} }\nlistener "tcp" { address = "127.0.0.1:0", tls_disable = true }`,
  ].map((text, at) => start(written(`faulty-${at}.hcl`, `${text}\nworkers = 2\nui = false\n`)));
  expect(await Promise.all(both.map(({ exited }) => exited))).toEqual([1, 1]);
  expect(both[0]!.said).toMatch(new RegExp(`^Error: cannot listen on 127.0.0.1:${port}: the address is in use`, 'm'));
  expect(both[0]!.said.match(/^Error:/gm)).toHaveLength(1);
  expect(both[1]!.said).toMatch(/^Error: storage lmdb: the path is not a folder$/m);
  taken.close();
});

describe('a server of two workers that gets the order to stop', () => {
  const configuration = (name: string): string =>
    written(
      `${name}.hcl`,
      `storage "lmdb" { path = ${JSON.stringify(join(folder, name))} }
listener "tcp" { address = "127.0.0.1:0", tls_disable = true }
seal "static" { current_key_id = "1", current_key = "${KEY}" }
ui = false
workers = 2
`,
    );

  test('answers the requests that each worker has begun, and ends with 0', async () => {
    const server = start(configuration('in-flight'));
    const address = await server.says(/Listeners: (http:\S+)/);
    await server.says(/ready/);
    const { body } = await server.connection(address).call('PUT', 'sys/init', '', { recovery_shares: 1, recovery_threshold: 1 });
    const token = body['root_token'] as string;
    const begun = await Promise.all(
      Array.from({ length: 4 }, async () => Begun.request(address, 'PUT', 'cubbyhole/late', token, '{"a":1}')),
    );
    await until(() => server.writer !== undefined);
    const [workers, writer] = [server.workers, server.writer!];
    const ended = server.end('SIGTERM');
    await until(() => server.said.match(/stopping: worker=\d reason=SIGTERM/g)?.length === 2);
    expect(workers.map(isAlive)).toEqual([true, true]);
    expect(await Promise.all(begun.map(async (one) => one.finish()))).toEqual([204, 204, 204, 204]);
    expect(await ended).toBe(0);
    expect([...workers, writer].map(isAlive)).toEqual([false, false, false]);
    expect(server.said).not.toMatch(/ERROR|WARN/);
  });

  test.each([
    ['alone', 0],
    ['together with its worker', 1],
  ])('ends with 0 while it starts, signalled %s, and was never ready', async (_, signalled) => {
    const server = start(configuration(`starting-${signalled}`));
    await until(() => server.workers.length > 0);
    const { workers } = server;
    server.child.kill('SIGTERM');
    for (const pid of workers.slice(0, signalled)) process.kill(pid, 'SIGTERM');
    expect(await server.exited).toBe(0);
    expect(server.said).toContain('stopping: reason=SIGTERM');
    expect(server.said).not.toContain('ready');
    expect(workers.map(isAlive)).toEqual([false]);
  });
});

test('a server of two workers ends with 0 while it starts, also where the order to stop reaches its worker first', async () => {
  const server = start(twoWorkers('worker-first'));
  await until(() => server.workers.length > 0);
  const [worker] = server.workers;
  process.kill(worker!, 'SIGTERM');
  await until(() => !isAlive(worker!));
  server.child.kill('SIGTERM');
  expect(await server.exited).toBe(0);
  expect(server.said).not.toMatch(/ready|Error/);
});

test('a server whose first worker is stopped while it starts, by somebody who does not stop the server, ends with 1 and says so', async () => {
  const server = start(twoWorkers('worker-only'));
  await until(() => server.workers.length > 0);
  process.kill(server.workers[0]!, 'SIGTERM');
  expect(await server.exited).toBe(1);
  expect(server.said).toMatch(/worker 1 ended while the server started: (killed by SIGTERM|exit code 0)/);
});

test('a server whose workers, and whose process that writes for them, are all killed twice starts them again after a pause', async () => {
  const server = start(twoWorkers('all-killed'));
  await until(() => server.said.includes('ready'));
  for (let times = 1; times <= 2; times += 1) {
    await until(() => server.workers.length === 2 && server.writer !== undefined);
    const killed = [...server.workers, server.writer!];
    for (const pid of killed) process.kill(pid, 'SIGKILL');
    await until(() => killed.every((pid) => !isAlive(pid)));
  }
  await until(() => server.said.includes('starts_in_seconds=1') && server.said.includes('all workers are running'));
  expect(await server.end('SIGTERM')).toBe(0);
});

test('a reload of the whole process group, three times while its workers start, does not end a server', async () => {
  const server = start(twoWorkers('reloaded'));
  const reached = new Set<number>();
  await until(() => {
    for (const pid of server.workers.filter((one) => reached.size < 3 && !reached.has(one))) {
      reached.add(pid);
      process.kill(pid, 'SIGHUP');
      server.child.kill('SIGHUP');
    }
    return server.said.includes('ready') || server.child.exitCode !== null;
  });
  expect(reached.size).toBe(3);
  expect(await server.end('SIGTERM')).toBe(0);
  expect(server.said).not.toMatch(/error/i);
});

test('a server whose second worker cannot start ends with 1 and its reason, is never ready, and leaves no worker', async () => {
  const { certFile, keyFile } = new TestAuthority(folder).issue('second');
  const pids = join(folder, 'pids');
  const preload = written(
    'second.mjs',
    `import { appendFileSync, rmSync } from 'node:fs';
const [, program, number] = process.argv;
if (program?.includes('worker-main')) {
  appendFileSync(${JSON.stringify(pids)}, process.pid + '\\n');
  if (number === '2') rmSync(${JSON.stringify(certFile)});
}
`,
  );
  const config = written(
    'second.hcl',
    `storage "lmdb" { path = ${JSON.stringify(join(folder, 'second'))} }
listener "tcp" { address = "127.0.0.1:0", tls_cert_file = ${JSON.stringify(certFile)}, tls_key_file = ${JSON.stringify(keyFile)} }
pid_file = ${JSON.stringify(join(folder, 'second.pid'))}
ui = false
workers = 2
`,
  );
  const server = start(config, { NODE_OPTIONS: `--import=${pathToFileURL(preload).href}` });
  expect(await server.exited).toBe(1);
  expect(server.said).toContain(`Error: tls_cert_file ${certFile} cannot be read: ENOENT`);
  expect(server.said).not.toContain('ready');
  expect(existsSync(join(folder, 'second.pid'))).toBe(false);
  const workers = readFileSync(pids, 'utf8').trim().split('\n').map(Number);
  expect(workers.map(isAlive)).toEqual([false, false]);
});
