import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { transform } from '@swc/core';
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { createDirectory, LdapDialError, LdapError, parseLdapUrl } from '../src/index.ts';
import type { Connection, Directory, LdapSettings } from '../src/index.ts';
import { manualClock } from './manual-clock.ts';
import { idOf, responseTag, result, startRawServer } from './raw-server.ts';
import { describeWithSlapd, type Slapd, startSlapd, startTcpProxy, type TcpProxy } from '@strongroom/lab';

const base = 'dc=example,dc=org';
const user = (n: number): string => `uid=user${n},ou=people,${base}`;
const service = { dn: `uid=svc1,ou=svc,${base}`, password: 'pw1' };
const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function open(settings: LdapSettings, options: Parameters<typeof createDirectory>[1] = {}): Directory {
  const directory = createDirectory(settings, options);
  cleanups.push(() => directory.close());
  return directory;
}

async function failure(work: Promise<unknown>): Promise<LdapError> {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(LdapError);
  return error as LdapError;
}

/** Runs a module beside the package's own sources, in a process of its own. */
async function runCompiled(source: string): Promise<ChildProcessByStdio<null, Readable, null>> {
  const sources = new URL('../src/', import.meta.url);
  const folder = await mkdtemp(join(fileURLToPath(new URL('../', import.meta.url)), '.compiled-'));
  cleanups.push(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  for (const name of await readdir(sources)) {
    const { code } = await transform(await readFile(new URL(name, sources), 'utf8'), {
      jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
    });
    await writeFile(join(folder, name.replace(/\.ts$/, '.js')), code.replace(/(from '\.\/[\w-]+)\.ts'/g, "$1.js'"));
  }
  await writeFile(join(folder, 'main.js'), source);
  return spawn(process.execPath, [join(folder, 'main.js')], { stdio: ['ignore', 'pipe', 'inherit'] });
}

async function until(condition: () => boolean): Promise<void> {
  const deadline = performance.now() + 4_000;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error('it never came true');
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describeWithSlapd('pooled connections to OpenLDAP', () => {
  let slapd: Slapd;

  beforeAll(async () => {
    slapd = await startSlapd();
  });

  afterAll(() => slapd?.stop());

  async function counted(settings: Partial<LdapSettings> = {}, options: Parameters<typeof createDirectory>[1] = {}) {
    const proxy = await startTcpProxy(slapd.port);
    cleanups.push(() => proxy.stop());
    return { proxy, directory: open({ urls: [`ldap://127.0.0.1:${proxy.port}`], ...settings }, options) };
  }

  test('a service connection is bound once and lent again', async () => {
    const { proxy, directory } = await counted();
    for (let round = 0; round < 20; round++)
      expect(await directory.withServiceConnection(service, (lent) => lent.whoAmI())).toBe(`dn:${service.dn}`);
    expect(proxy.accepted).toBe(1);
  });

  test('service accounts do not share connections, and a changed password starts again', async () => {
    const { proxy, directory } = await counted();
    const who = (lent: Connection): Promise<string> => lent.whoAmI();
    expect(await directory.withServiceConnection(service, who)).toBe(`dn:${service.dn}`);
    expect(await directory.withServiceConnection({ dn: `uid=svc2,ou=svc,${base}`, password: 'pw2' }, who)).toBe(
      `dn:uid=svc2,ou=svc,${base}`,
    );
    expect(await directory.withServiceConnection({ dn: '', password: '' }, who)).toBe('');
    expect((await failure(directory.withServiceConnection({ ...service, password: 'old' }, who))).code).toBe(49);
    expect((await failure(directory.withServiceConnection({ ...service, password: '' }, who))).code).toBe('EMPTY_PASSWORD');
    expect(proxy.accepted).toBe(5);
  });

  test('work that binds as somebody else costs the connection its place', async () => {
    const { proxy, directory } = await counted();
    await directory.withServiceConnection(service, (lent) => lent.bind(user(1), 'pw1'));
    expect(await directory.withServiceConnection(service, (lent) => lent.whoAmI())).toBe(`dn:${service.dn}`);
    await directory.withServiceConnection(service, (lent) => lent.bind(user(1), 'wrong')).catch(() => {});
    expect(await directory.withServiceConnection(service, (lent) => lent.whoAmI())).toBe(`dn:${service.dn}`);
    expect(proxy.accepted).toBe(3);
  });

  test('users are verified on kept connections that nobody finds bound as a user', async () => {
    const { proxy, directory } = await counted({ maxConnections: 1 });
    const seen: (string | undefined)[] = [];
    for (let round = 1; round <= 10; round++) {
      await directory.verifyUser(user(round), `pw${round}`, async (lent) => {
        seen.push(await lent.whoAmI());
      });
      expect((await failure(directory.verifyUser(user(round), 'wrong'))).code).toBe(49);
    }
    expect(seen).toEqual(Array.from({ length: 10 }, (_, index) => `dn:${user(index + 1)}`));
    expect(proxy.accepted).toBe(1);
    expect((await failure(directory.verifyUser(user(1), ''))).code).toBe('EMPTY_PASSWORD');
    expect((await failure(directory.verifyUser(user(1), '', { allowUnauthenticated: true }))).code).toBe(53);
  });

  test('a connection whose work as a user fails is anonymous for the next', async () => {
    const { proxy, directory } = await counted({ maxConnections: 1 });
    let lent: Connection | undefined;
    const work = directory.verifyUser(user(1), 'pw1', async (connection) => {
      lent = connection;
      throw new Error('the work failed');
    });
    await expect(work).rejects.toThrow('the work failed');
    await until(() => lent?.boundAs === '');
    expect(await lent?.whoAmI()).toBe('');
    await directory.verifyUser(user(2), 'pw2');
    expect(proxy.accepted).toBe(1);
  });

  test('no connection is left bound as a user: it is bound anonymously in the moment that the user is done', async () => {
    const { proxy, directory } = await counted();
    const lent = new Set<Connection>();
    const keep = async (connection: Connection): Promise<void> => void lent.add(connection);
    for (const n of [1, 2, 3]) {
      await directory.verifyUser(user(n), `pw${n}`, keep);
      const [only] = [...lent];
      expect([lent.size, only?.boundAs]).toEqual([1, undefined]);
      await until(() => only?.boundAs === '');
      expect(await only?.whoAmI()).toBe('');
    }
    expect((await failure(directory.verifyUser(user(2), 'wrong', keep))).code).toBe(49);
    expect([lent.size, [...lent][0]?.boundAs]).toEqual([1, '']);
    expect(await directory.withServiceConnection(service, (connection) => connection.whoAmI())).toBe(`dn:${service.dn}`);
    expect(await directory.withServiceConnection({ dn: '', password: '' }, (connection) => connection.whoAmI())).toBe('');
    expect(proxy.accepted).toBe(3);
  });

  test('of many connections that users are done with, each becomes anonymous', async () => {
    const { directory } = await counted({ maxConnections: 5 });
    const lent = new Set<Connection>();
    const finish: (() => void)[] = [];
    const logins = [1, 2, 3, 4, 5].map((n) =>
      directory.verifyUser(user(n), `pw${n}`, (connection) => {
        lent.add(connection);
        return new Promise<void>((resolve) => finish.push(resolve));
      }),
    );
    await until(() => finish.length === 5);
    for (const one of finish) one();
    await Promise.all(logins);
    await until(() => [...lent].every(({ boundAs }) => boundAs === ''));
    expect(await Promise.all([...lent].map(async (connection) => connection.whoAmI()))).toEqual(['', '', '', '', '']);
  });

  test('a connection that the anonymous bind gets no answer on is lent to nobody, and closed at the deadline', async () => {
    const clock = manualClock();
    const { proxy, directory } = await counted({ requestTimeoutSeconds: 9 }, { clock });
    let lent: Connection | undefined;
    await directory.verifyUser(user(1), 'pw1', async (connection) => {
      lent = connection;
      proxy.hold();
    });
    const next = directory.verifyUser(user(2), 'pw2', (connection) => connection.whoAmI());
    await until(() => proxy.accepted === 2);
    expect(lent?.boundAs).toBeUndefined();
    clock.advance(8_999);
    expect(lent?.alive).toBe(true);
    proxy.release();
    expect(await next).toBe(`dn:${user(2)}`);
    await until(() => lent?.boundAs === '');
    proxy.stall();
    const late = failure(directory.verifyUser(user(3), 'pw3'));
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    clock.advance(9_000);
    expect((await late).code).toBe('TIMEOUT');
    await until(() => proxy.open === 0);
  });

  test('a bind that gets no answer takes its connection with it, and the next user is served by another', async () => {
    const clock = manualClock();
    const { proxy, directory } = await counted({ maxConnections: 1, requestTimeoutSeconds: 9 }, { clock });
    const first = await directory.verifyUser(user(1), 'pw1', async (connection) => connection);
    await until(() => first.boundAs === '');
    proxy.stall();
    const slow = failure(directory.verifyUser(user(2), 'pw2'));
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    clock.advance(9_000);
    expect(await slow).toMatchObject({ code: 'TIMEOUT', outcomeUnknown: true });
    await until(() => proxy.open === 0);
    proxy.resume();
    expect(await directory.verifyUser(user(3), 'pw3', (connection) => connection.whoAmI())).toBe(`dn:${user(3)}`);
    expect(proxy.accepted).toBe(2);
  });

  test('a process that dies while a user is bound leaves no connection behind', async () => {
    const { proxy } = await counted();
    const child = await runCompiled(`
      const { createDirectory } = await import('./directory.js');
      const directory = createDirectory({ urls: ['ldap://127.0.0.1:${proxy.port}'] });
      await directory.verifyUser('${user(1)}', 'pw1', async (connection) => {
        process.stdout.write(await connection.whoAmI());
        await new Promise((resolve) => setTimeout(resolve, 60_000));
      });`);
    cleanups.push(() => child.kill('SIGKILL'));
    const said = await new Promise<string>((resolve) => child.stdout.once('data', (data: Buffer) => resolve(data.toString())));
    expect([said, proxy.open]).toEqual([`dn:${user(1)}`, 1]);
    child.kill('SIGKILL');
    await until(() => proxy.open === 0);
  });

  test('many at once share the allowed connections and are all served', async () => {
    const { proxy, directory } = await counted({ maxConnections: 4 });
    const verdicts = await Promise.all(
      Array.from({ length: 200 }, (_, index) =>
        directory.verifyUser(user(index + 1), index % 2 === 0 ? `pw${index + 1}` : 'wrong').then(
          () => 'in',
          (error: LdapError) => error.code,
        ),
      ),
    );
    expect(verdicts).toEqual(Array.from({ length: 200 }, (_, index) => (index % 2 === 0 ? 'in' : 49)));
    expect(proxy.accepted).toBe(4);
  });

  test('a connection that died unnoticed is replaced without the caller seeing it', async () => {
    const { proxy, directory } = await counted();
    const who = (lent: Connection): Promise<string> => lent.whoAmI();
    await directory.verifyUser(user(1), 'pw1');
    await directory.withServiceConnection(service, who);
    proxy.cut();
    await directory.verifyUser(user(1), 'pw1');
    expect(await directory.withServiceConnection(service, who, { idempotent: true })).toBe(`dn:${service.dn}`);
    proxy.cutAfterNextRequest();
    await directory.verifyUser(user(1), 'pw1');
    proxy.cutAfterNextRequest();
    expect(await directory.withServiceConnection(service, who, { idempotent: true })).toBe(`dn:${service.dn}`);
  });

  test('work that is not marked idempotent never runs twice', async () => {
    const { proxy, directory } = await counted();
    await directory.withServiceConnection(service, (lent) => lent.whoAmI());
    let runs = 0;
    proxy.cutAfterNextRequest();
    const error = await failure(
      directory.withServiceConnection(service, (lent) => {
        runs++;
        return lent.whoAmI();
      }),
    );
    expect(error).toMatchObject({ code: 'NETWORK', outcomeUnknown: true });
    expect(runs).toBe(1);
  });

  test('a restarted server is found again', async () => {
    const own = await startSlapd();
    cleanups.push(() => own.stop());
    const directory = open({ urls: [own.url] });
    await directory.verifyUser(user(1), 'pw1');
    await own.restart();
    await directory.verifyUser(user(1), 'pw1');
    expect(directory.health()).toEqual([{ url: own.url, state: 'up' }]);
  });

  test('unused connections are closed after the idle time, old ones after five minutes', async () => {
    const clock = manualClock();
    const { proxy, directory } = await counted({ idleTimeoutSeconds: 60 }, { clock });
    const use = (): Promise<unknown> => directory.withServiceConnection(service, (lent) => lent.whoAmI());
    await use();
    clock.advance(59_000);
    expect(proxy.open).toBe(1);
    await use();
    clock.advance(59_000);
    expect(proxy.open).toBe(1);
    clock.advance(1_000);
    await until(() => proxy.open === 0);
    for (let minutes = 0; minutes < 6; minutes += 0.5) {
      await use();
      clock.advance(30_000);
    }
    expect(proxy.accepted).toBe(3);
  });

  test('who waits too long for a connection learns so, and a signal ends the wait', async () => {
    const clock = manualClock();
    const { directory } = await counted({ maxConnections: 1, requestTimeoutSeconds: 5 }, { clock });
    let finish!: () => void;
    let started!: () => void;
    const running = new Promise<void>((resolve) => (started = resolve));
    const busy = directory.withServiceConnection(service, () => {
      started();
      return new Promise<void>((resolve) => (finish = resolve));
    });
    await running;
    const caller = new AbortController();
    const aborted = failure(directory.withServiceConnection(service, (lent) => lent.whoAmI(), { signal: caller.signal }));
    const late = failure(directory.withServiceConnection(service, (lent) => lent.whoAmI()));
    caller.abort();
    expect((await aborted).code).toBe('ABORTED');
    clock.advance(5_000);
    expect(await late).toMatchObject({ code: 'TIMEOUT', diagnosticMessage: 'all 1 connections stayed busy', outcomeUnknown: false });
    finish();
    await busy;
    expect(await directory.withServiceConnection(service, (lent) => lent.whoAmI())).toBe(`dn:${service.dn}`);
  });

  test('closing ends what is lent and refuses what comes later', async () => {
    const { proxy, directory } = await counted();
    proxy.stall();
    const work = failure(directory.verifyUser(user(1), 'pw1'));
    await until(() => proxy.open === 1);
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    directory.close();
    directory.close();
    expect((await work).code).toBe('CLOSED');
    expect((await failure(directory.verifyUser(user(1), 'pw1'))).code).toBe('CLOSED');
    expect((await failure(directory.withServiceConnection(service, (lent) => lent.whoAmI()))).code).toBe('CLOSED');
    expect((await failure(directory.connect())).code).toBe('CLOSED');
    await until(() => proxy.open === 0);
  });

  describe('with several servers', () => {
    /** Plain LDAP connects as soon as TCP does, so a server that accepts and then says nothing shows only with TLS. */
    async function tlsPair() {
      const clock = manualClock();
      const tlsPort = Number(new URL(slapd.ldapsUrl).port);
      const proxies: TcpProxy[] = [await startTcpProxy(tlsPort), await startTcpProxy(tlsPort)];
      cleanups.push(...proxies.map((proxy) => () => proxy.stop()));
      const urls = proxies.map(({ port }) => `ldaps://127.0.0.1:${port}`);
      const directory = open({ urls, insecureTls: true, connectionTimeoutSeconds: 30 }, { clock });
      return { clock, first: proxies[0]!, second: proxies[1]!, urls, directory };
    }

    test('the first that answers is used', async () => {
      const { first, second, directory } = await tlsPair();
      (await directory.connect()).close();
      expect([first.accepted, second.accepted]).toEqual([1, 0]);
    });

    test('a dead first server costs one timeout, not one for every dial', async () => {
      const { clock, first, second, urls, directory } = await tlsPair();
      first.stall();
      const dial = directory.connect();
      await until(() => first.accepted === 1);
      clock.advance(30_000);
      (await dial).close();
      expect(directory.health()).toEqual([
        { url: urls[0], state: 'down', lastError: expect.stringContaining('i/o timeout'), retryAt: clock.millis() + 5_000 },
        { url: urls[1], state: 'up' },
      ]);
      for (let round = 0; round < 5; round++) (await directory.connect()).close();
      expect([first.accepted, second.accepted]).toEqual([1, 6]);
    });

    test('a dead server is tried again after its back-off, beside the dial, and used once it is back', async () => {
      const { clock, first, second, directory } = await tlsPair();
      first.stall();
      const dial = directory.connect();
      await until(() => first.accepted === 1);
      clock.advance(30_000);
      (await dial).close();
      clock.advance(5_000);
      (await directory.connect()).close();
      (await directory.connect()).close();
      await until(() => first.accepted === 2);
      clock.advance(30_000);
      await until(() => directory.health()[0]?.retryAt === clock.millis() + 10_000);
      first.resume();
      clock.advance(10_000);
      (await directory.connect()).close();
      await until(() => directory.health()[0]?.state === 'up');
      const seconds = second.accepted;
      (await directory.connect()).close();
      expect(second.accepted).toBe(seconds);
    });

    test('a server that takes connections but answers nothing costs one request, and comes back only when it answers', async () => {
      const clock = manualClock();
      const [first, second] = [await startTcpProxy(slapd.port), await startTcpProxy(slapd.port)];
      cleanups.push(
        () => first.stop(),
        () => second.stop(),
      );
      const urls = [first, second].map(({ port }) => `ldap://127.0.0.1:${port}`);
      const directory = open({ urls, requestTimeoutSeconds: 90, connectionTimeoutSeconds: 30 }, { clock });
      first.stall();
      const slow = failure(directory.verifyUser(user(1), 'pw1'));
      await until(() => first.accepted === 1);
      for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
      clock.advance(90_000);
      expect((await slow).code).toBe('TIMEOUT');
      expect(directory.health()).toMatchObject([{ state: 'down', lastError: expect.stringContaining('no answer within 90 s') }, {}]);
      await directory.verifyUser(user(1), 'pw1');
      expect(directory.health()[1]).toMatchObject({ state: 'up' });
      clock.advance(5_000);
      (await directory.connect()).close();
      await until(() => first.accepted === 2);
      for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
      clock.advance(30_000);
      await until(() => directory.health()[0]?.retryAt === clock.millis() + 10_000);
      first.resume();
      clock.advance(10_000);
      (await directory.connect()).close();
      await until(() => directory.health()[0]?.state === 'up');
    });

    test('a server that a caller gave up waiting for is asked, and passed over when it does not answer', async () => {
      const clock = manualClock();
      const [first, second] = [await startTcpProxy(slapd.port), await startTcpProxy(slapd.port)];
      cleanups.push(
        () => first.stop(),
        () => second.stop(),
      );
      const urls = [first, second].map(({ port }) => `ldap://127.0.0.1:${port}`);
      const directory = open({ urls, connectionTimeoutSeconds: 30 }, { clock });
      const giveUp = async (): Promise<void> => {
        const caller = new AbortController();
        const accepted = first.accepted;
        const work = failure(directory.withServiceConnection(service, (lent) => lent.whoAmI(), { signal: caller.signal }));
        await until(() => first.accepted > accepted);
        for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
        caller.abort();
        expect((await work).code).toBe('ABORTED');
      };
      first.hold();
      await giveUp();
      await until(() => first.accepted === 2);
      first.release();
      await until(() => first.open === 0);
      expect(directory.health()).toMatchObject([{ state: 'up' }, { state: 'unknown' }]);
      first.stall();
      await giveUp();
      await until(() => first.accepted === 4);
      for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
      clock.advance(30_000);
      await until(() => directory.health()[0]?.state === 'down');
      await directory.verifyUser(user(1), 'pw1');
      expect([first.accepted, second.accepted]).toEqual([4, 1]);
    });

    test('when the other servers fail as well, those that back off are tried', async () => {
      const { first, second, urls, directory } = await tlsPair();
      first.refuse();
      (await directory.connect()).close();
      expect(directory.health()[0]?.state).toBe('down');
      second.refuse();
      const error = await failure(directory.connect());
      expect(error).toBeInstanceOf(LdapDialError);
      expect((error as LdapDialError).attempts.map(({ url }) => url)).toEqual([urls[1], urls[0]]);
      expect(error.message).toMatch(
        /^2 errors occurred:\n\t\* error connecting to host "ldaps:.*\n\t\* error connecting to host "ldaps:.*\n\n$/,
      );
    });
  });
});

describe('a directory without a server', () => {
  test('every refused URL is named in its order, with what is wrong with it', async () => {
    const directory = open({ urls: ['ldap://127.0.0.1:1', ' ldap://127.0.0.1:1', 'http://example.org:80'] });
    const error = await failure(directory.connect());
    expect(error.message).toBe(
      '3 errors occurred:\n' +
        '\t* error connecting to host "ldap://127.0.0.1:1": LDAP Result Code 200 "Network Error": dial tcp 127.0.0.1:1: connect: connection refused\n' +
        '\t* error parsing url " ldap://127.0.0.1:1": not an LDAP URL\n' +
        '\t* invalid LDAP scheme in url "example.org:80"\n\n',
    );
  });

  test.each([
    ['ldap://h', { secure: false, host: 'h', port: 389 }],
    ['LDAPS://Dc1.Example.org', { secure: true, host: 'Dc1.Example.org', port: 636 }],
    ['ldap://h:1389/dc=x', { secure: false, host: 'h', port: 1389 }],
    ['ldaps://[::1]:1636', { secure: true, host: '::1', port: 1636 }],
    ['ldap://', { secure: false, host: 'localhost', port: 389 }],
  ])('%s is read as a server', (text, url) => {
    expect(parseLdapUrl(text)).toEqual({ text, ...url });
  });

  test.each([
    ['x://y', 'invalid LDAP scheme in url "y:"'],
    ['example.org', 'invalid LDAP scheme in url ":"'],
    ['', 'invalid LDAP scheme in url ":"'],
    ['ldap://h:port', 'error parsing url "ldap://h:port": not an LDAP URL'],
    ['ldap://h:99999', 'error parsing url "ldap://h:99999": not an LDAP URL'],
    ['h:389', 'error parsing url "h:389": not an LDAP URL'],
  ])('%j is refused', (text, message) => {
    expect(() => parseLdapUrl(text)).toThrow(new LdapError('INVALID', { diagnosticMessage: message }));
  });

  test('a server that refuses anonymous binds has made the connection anonymous by that, and keeps it', async () => {
    const binds: string[] = [];
    let connections = 0;
    const server = await startRawServer((socket, chunk, number) => {
      if (number === 1) connections++;
      binds.push(chunk.includes('cn=a') ? 'cn=a' : 'nobody');
      socket.write(result(idOf(chunk), responseTag.bind, chunk.includes('cn=a') ? 0 : 48));
    });
    cleanups.push(() => server.stop());
    const directory = open({ urls: [server.url], maxConnections: 1 });
    for (let round = 0; round < 3; round++) await directory.verifyUser('cn=a', 'b');
    await until(() => binds.length === 6);
    expect(binds).toEqual(['cn=a', 'nobody', 'cn=a', 'nobody', 'cn=a', 'nobody']);
    expect(connections).toBe(1);
  });

  test('a user who waits for a connection is bound on it right after the one before, with no anonymous bind between', async () => {
    const binds: string[] = [];
    const server = await startRawServer((socket, chunk) => {
      binds.push(/cn=\w/.exec(chunk.toString('latin1'))?.[0] ?? 'nobody');
      socket.write(result(idOf(chunk), responseTag.bind, 0));
    });
    cleanups.push(() => server.stop());
    const directory = open({ urls: [server.url], maxConnections: 1 });
    await Promise.all(['cn=a', 'cn=b', 'cn=c'].map(async (name) => directory.verifyUser(name, 'x')));
    await until(() => binds.length === 4);
    expect(binds).toEqual(['cn=a', 'cn=b', 'cn=c', 'nobody']);
  });

  test('while others log in, the next user is bound on a connection that is done with; once nobody does, each becomes anonymous', async () => {
    const binds: string[] = [];
    let connections = 0;
    const server = await startRawServer((socket, chunk, number) => {
      if (number === 1) connections++;
      binds.push(/cn=\w/.exec(chunk.toString('latin1'))?.[0] ?? 'nobody');
      socket.write(result(idOf(chunk), responseTag.bind, 0));
    });
    cleanups.push(() => server.stop());
    const clock = manualClock();
    const directory = open({ urls: [server.url] }, { clock });
    let finish = (): void => undefined;
    const other = directory.verifyUser('cn=o', 'x', () => new Promise<void>((resolve) => (finish = resolve)));
    await until(() => binds.length === 1);
    for (const name of ['cn=a', 'cn=b']) await directory.verifyUser(name, 'x');
    const lent = await directory.verifyUser('cn=c', 'x', async (connection) => connection);
    expect([binds, connections]).toEqual([['cn=o', 'cn=a', 'cn=b', 'cn=c'], 2]);
    clock.advance(10);
    await until(() => lent.boundAs === '');
    expect(binds.slice(4)).toEqual(['nobody']);
    await directory.verifyUser('cn=d', 'x');
    finish();
    await other;
    await until(() => binds.length === 8);
    expect([binds.slice(5), connections]).toEqual([['cn=d', 'nobody', 'nobody'], 2]);
  });

  test('a server that hangs up on an anonymous bind costs a connection for each user, and none stays bound', async () => {
    let standing = 0;
    const server = await startRawServer((socket, chunk, number) => {
      if (number === 1) {
        standing++;
        socket.on('close', () => standing--);
      }
      if (chunk.includes('cn=a')) socket.write(result(idOf(chunk), responseTag.bind, 0));
      else socket.destroy();
    });
    cleanups.push(() => server.stop());
    const directory = open({ urls: [server.url], maxConnections: 1 });
    for (let round = 0; round < 3; round++) await directory.verifyUser('cn=a', 'b');
    await until(() => standing === 0);
  });

  test('a user whose name no server knows and a wrong password look the same', async () => {
    const server = await startRawServer((socket, chunk) => socket.write(result(idOf(chunk), responseTag.bind, 49)));
    cleanups.push(() => server.stop());
    const directory = open({ urls: [server.url] });
    const texts = await Promise.all(
      ['cn=known', 'cn=unknown'].map(async (name) => (await failure(directory.verifyUser(name, 'x'))).message),
    );
    expect(texts[0]).toBe(texts[1]);
  });
});
