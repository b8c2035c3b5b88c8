import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { createDirectory, LdapDialError, LdapError, parseLdapUrl } from '../src/index.ts';
import type { Connection, Directory, LdapSettings } from '../src/index.ts';
import { manualClock } from './manual-clock.ts';
import { idOf, responseTag, result, startRawServer } from './raw-server.ts';
import { describeWithSlapd, startSlapd } from './slapd.ts';
import type { Slapd } from './slapd.ts';
import { startTcpProxy } from './tcp-proxy.ts';
import type { TcpProxy } from './tcp-proxy.ts';

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

async function until(condition: () => boolean): Promise<void> {
  for (let turn = 0; !condition(); turn++) {
    if (turn > 100_000) throw new Error('it never came true');
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

  test('service accounts do not share connections, and a changed password starts anew', async () => {
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

  test('who waits too long for a connection is told so, and a signal ends the wait', async () => {
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

  test('a server that refuses the anonymous bind afterwards gets a new connection for each user', async () => {
    let connections = 0;
    const server = await startRawServer((socket, chunk, number) => {
      if (number === 1) connections++;
      socket.write(result(idOf(chunk), responseTag.bind, number === 1 ? 0 : 48));
    });
    cleanups.push(() => server.stop());
    const directory = open({ urls: [server.url], maxConnections: 1 });
    for (let round = 0; round < 3; round++) await directory.verifyUser('cn=a', 'b');
    expect(connections).toBe(3);
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
