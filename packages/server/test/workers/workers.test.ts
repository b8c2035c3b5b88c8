import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { scratchFolder } from '../scratch.ts';
import { isAlive, ServerProcess, until, type Connection } from './server-process.ts';

jest.setTimeout(120_000);

const folder = scratchFolder();
const KEY = 'ab'.repeat(32);
const started: ServerProcess[] = [];
afterAll(async () => {
  for (const server of started) await server.end('SIGKILL');
});
const start = (config: string): ServerProcess => {
  const server = new ServerProcess(config);
  started.push(server);
  return server;
};
const written = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};

/** The tests follow one server through its life, in this order. */
describe('a server of two workers', () => {
  const audit = join(folder, 'audit.log');
  const socket = join(folder, 'strongroom.sock');
  let server: ServerProcess;
  let address: string;
  let token: string;
  let recovery: string;
  let connections: Connection[];

  beforeAll(async () => {
    server = start(
      written(
        'server.hcl',
        `storage "lmdb" { path = ${JSON.stringify(join(folder, 'store'))} }
listener "tcp" { address = "127.0.0.1:0", tls_disable = true }
listener "unix" { address = ${JSON.stringify(socket)} }
seal "static" { current_key_id = "1", current_key = "${KEY}" }
audit "file" "file" { options = { file_path = ${JSON.stringify(audit)} } }
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

  test('opens whole when one worker initialises it', async () => {
    const { body } = await connections[0]!.call('PUT', 'sys/init', '', { recovery_shares: 1, recovery_threshold: 1 });
    token = body['root_token'] as string;
    [recovery] = body['recovery_keys_base64'] as [string];
    expect(await statuses('sys/health')).toEqual([200]);
    expect((await connections[0]!.call('GET', 'sys/health')).body).toMatchObject({ workers: { running: 2, configured: 2 } });
  });

  test('has no key and no token in the environment or the arguments of a process', () => {
    for (const pid of [server.pid, ...server.workers])
      for (const file of ['environ', 'cmdline']) {
        const text = readFileSync(`/proc/${pid}/${file}`, 'utf8');
        for (const secret of [KEY, token, recovery]) expect(text).not.toContain(secret);
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

  test('writes whole lines to one audit file, before and after a rotation', async () => {
    const lines = (file: string): string[] => readFileSync(file, 'utf8').split('\n').slice(0, -1);
    const before = lines(audit).length;
    let left = 600;
    const rotated = `${audit}.1`;
    await Promise.all(
      connections.map(async (one) => {
        while ((left -= 1) >= 0) {
          if (left === 300) {
            renameSync(audit, rotated);
            server.child.kill('SIGHUP');
          }
          await one.call('GET', 'auth/token/lookup-self', token);
        }
      }),
    );
    const written = [...lines(rotated), ...lines(audit)];
    expect(written).toHaveLength(before + 1_200);
    for (const line of written) expect(() => JSON.parse(line) as unknown).not.toThrow();
    expect(lines(audit).length).toBeGreaterThan(0);
  });

  test('sets the level of a logger, and follows the log, in all workers', async () => {
    await connections[0]!.call('POST', 'sys/loggers/audit', token, { level: 'trace' });
    for (const { body } of await all('GET', 'sys/loggers')) expect(body['data']).toMatchObject({ audit: 'trace' });
  });

  test('goes on while a worker is killed, starts another, and loses no count', async () => {
    const requests = async (): Promise<number> => {
      const { text } = await server.connection(address).call('GET', 'sys/metrics', token);
      return [...text.matchAll(/^strongroom_requests_total\{.*\} (\d+)$/gm)].reduce((sum, [, value]) => sum + Number(value), 0);
    };
    const before = await requests();
    const [first, second] = server.workers as [number, number];
    process.kill(first, 'SIGKILL');
    const answers: number[] = [];
    while (server.workers.length < 2 || !server.said.includes('all workers run')) {
      const one = server.connection(address);
      answers.push((await one.call('GET', 'auth/token/lookup-self', token).catch(() => ({ status: 0 }))).status);
      one.close();
    }
    // A connection that the killed worker had taken breaks; no other does, and none is left waiting.
    expect(answers.filter((status) => status !== 200).length).toBeLessThanOrEqual(1);
    expect(answers).toContain(200);
    expect(server.workers).toContain(second);
    expect(server.said).toMatch(/a worker ended and is started anew: worker=\d pid=\d+ signal=SIGKILL/);
    // What the killed one counted in its last seconds alone may be missing.
    expect(await requests()).toBeGreaterThan(before);
    connections = Array.from({ length: 8 }, () => server.connection(address));
    expect(await statuses('sys/health')).toEqual([200]);
    const { body } = await connections[0]!.call('GET', 'sys/nodes', token);
    expect(body['data']).toMatchObject({ nodes: [{ state: 'active', workers: 2 }] });
  });

  test('is sealed and unsealed whole, and a worker that is started meanwhile stays sealed', async () => {
    expect((await connections[3]!.call('PUT', 'sys/seal', token)).status).toBe(204);
    expect(await statuses('sys/health')).toEqual([503]);
    server.said = '';
    process.kill(server.workers[0]!, 'SIGKILL');
    await server.says(/all workers run/);
    connections = Array.from({ length: 8 }, () => server.connection(address));
    expect(await statuses('sys/health')).toEqual([503]);
    await connections[5]!.call('PUT', 'sys/unseal', '', { key: recovery });
    expect(await statuses('sys/health')).toEqual([200]);
    expect(await statuses('auth/token/lookup-self')).toEqual([200]);
  });

  test('leaves no worker behind when its supervisor is killed, and its port is free', async () => {
    const { workers } = server;
    await server.end('SIGKILL');
    await until(() => !workers.some(isAlive));
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
