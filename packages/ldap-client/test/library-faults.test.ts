import { spawn } from 'node:child_process';
import { createServer as createTcpServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import ldapjs from 'ldapjs';
import { createDirectory, escapeDnValue, escapeFilterValue, LdapError } from '../src/index.ts';
import type { Connection, Directory, LdapSettings } from '../src/index.ts';
import { manualClock } from './manual-clock.ts';
import { ber, idOf, responseTag, result, startRawServer } from './raw-server.ts';
import type { RawServer } from './raw-server.ts';
import { describeWithSlapd, type Slapd, startSlapd, startTcpProxy } from '@strongroom/lab';

const base = 'dc=example,dc=org';
const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function open(settings: LdapSettings, options: Parameters<typeof createDirectory>[1] = {}): Directory {
  const directory = createDirectory(settings, options);
  cleanups.push(() => directory.close());
  return directory;
}

async function serve(answer: Parameters<typeof startRawServer>[0]): Promise<RawServer> {
  const server = await startRawServer(answer);
  cleanups.push(() => server.stop());
  return server;
}

async function failure(work: Promise<unknown>): Promise<LdapError> {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(LdapError);
  return error as LdapError;
}

describeWithSlapd('names and filters that ldapjs spells wrongly, against OpenLDAP', () => {
  const oddNames = [
    'a\\b',
    'trailing ',
    ' leading',
    '#hash',
    'a,b',
    'a+b',
    'a"b',
    'a;b<c>',
    'Müller',
    'weird(*)\\user',
    'x=y',
    '😀',
    'a\tb',
  ];
  let slapd: Slapd;
  let directory: Directory;
  let connection: Connection;

  beforeAll(async () => {
    slapd = await startSlapd();
    directory = createDirectory({ urls: [slapd.url] });
    connection = await directory.connect();
    await connection.bind(slapd.adminDn, slapd.adminPassword);
  });

  afterAll(async () => {
    directory?.close();
    await slapd?.stop();
  });

  test.each(oddNames)('the name %j is added, found, bound as, changed, renamed and deleted', async (uid) => {
    const dn = `uid=${escapeDnValue(uid)},ou=people,${base}`;
    await connection.add(dn, [
      { attribute: 'objectClass', values: ['inetOrgPerson'] },
      { attribute: 'cn', values: ['odd'] },
      { attribute: 'sn', values: ['odd'] },
      { attribute: 'userPassword', values: ['pw'] },
    ]);
    const [found, ...others] = await connection.search({ base, filter: `(uid=${escapeFilterValue(uid)})` });
    expect(others).toEqual([]);
    expect(found?.values('uid')).toEqual([uid]);
    await directory.verifyUser(found!.dn, 'pw');
    await directory.verifyUser(dn, 'pw');
    await connection.modify(found!.dn, [{ operation: 'replace', attribute: 'cn', values: ['changed'] }]);
    expect((await connection.search({ base: found!.dn, scope: 'base' }))[0]?.first('cn')).toBe('changed');
    expect(await connection.search({ base: dn, scope: 'base' })).toHaveLength(1);
    await connection.modifyDn(dn, { newRdn: `uid=${escapeDnValue(`${uid}2`)}` });
    await connection.delete(`uid=${escapeDnValue(`${uid}2`)},ou=people,${base}`);
    expect(await connection.search({ base, filter: '(cn=changed)' })).toEqual([]);
  });

  test('a password of any characters is sent as it is', async () => {
    const dn = `uid=secretive,ou=people,${base}`;
    for (const password of ['pässwörd', '密码😀', ' \\ "quoted" ', 'x'.repeat(300), 'nul\0inside']) {
      await connection.add(dn, [
        { attribute: 'objectClass', values: ['inetOrgPerson'] },
        ...['cn', 'sn'].map((attribute) => ({ attribute, values: ['s'] })),
        { attribute: 'userPassword', values: [password] },
      ]);
      await directory.verifyUser(dn, password);
      expect((await failure(directory.verifyUser(dn, `${password}x`))).code).toBe(49);
      await connection.delete(dn);
    }
  });

  test('escapes are decoded in every kind of filter', async () => {
    const dn = `uid=escapes,ou=people,${base}`;
    await connection.add(dn, [
      { attribute: 'objectClass', values: ['inetOrgPerson'] },
      { attribute: 'cn', values: ['a(*)\\b Müller'] },
      { attribute: 'sn', values: ['x'] },
    ]);
    for (const filter of [
      '(cn=a\\28\\2a\\29\\5cb M\\c3\\bcller)',
      '(cn=a\\28\\2a*M\\c3\\bc*r)',
      '(cn=*\\5cb*)',
      '(cn=*Mül*)',
      '(cn:caseExactMatch:=a\\28\\2a\\29\\5cb Müller)',
      '(&(uid=escapes)(!(cn=\\2a)))',
    ])
      expect((await connection.search({ base, filter })).map((entry) => entry.dn)).toEqual([dn]);
    await connection.delete(dn);
  });
});

describeWithSlapd('what ldapjs renders for a log', () => {
  test('requests, with their passwords, and answers are rendered by its client, and never here', async () => {
    const slapd = await startSlapd();
    cleanups.push(() => slapd.stop());
    const library = ldapjs as unknown as Record<'BindRequest' | 'SearchRequest' | 'LDAPResult' | 'SearchEntry', { prototype: object }>;
    const prototypes = [library.BindRequest, library.SearchRequest, library.LDAPResult, library.SearchEntry].map(
      ({ prototype }) => prototype,
    );
    let rendered = 0;
    for (const prototype of prototypes) {
      Object.defineProperty(prototype, 'pojo', { configurable: true, get: () => (rendered += 1) });
      cleanups.push(() => Reflect.deleteProperty(prototype, 'pojo'));
    }
    await open({ urls: [slapd.url] }).withServiceConnection({ dn: slapd.adminDn, password: slapd.adminPassword }, (connection) =>
      connection.search({ base, filter: '(uid=user1)' }),
    );
    expect(rendered).toBe(0);
    const client = ldapjs.createClient({ url: slapd.url });
    cleanups.push(() => client.destroy());
    await new Promise<void>((resolve, reject) =>
      client.bind(slapd.adminDn, slapd.adminPassword, (error) => (error ? reject(error) : resolve())),
    );
    expect(rendered).toBeGreaterThan(0);
  });
});

describeWithSlapd('connections that die, against OpenLDAP behind a proxy', () => {
  let slapd: Slapd;

  beforeAll(async () => {
    slapd = await startSlapd();
  });

  afterAll(() => slapd?.stop());

  async function behindProxy(settings: Partial<LdapSettings> = {}, options: Parameters<typeof createDirectory>[1] = {}) {
    const proxy = await startTcpProxy(slapd.port);
    cleanups.push(() => proxy.stop());
    return { proxy, directory: open({ urls: [`ldap://127.0.0.1:${proxy.port}`], ...settings }, options) };
  }

  test.each([true, false])('a bind on a connection that was cut (politely: %s) fails at once instead of never', async (politely) => {
    const { proxy, directory } = await behindProxy();
    const connection = await directory.connect();
    await connection.bind(slapd.adminDn, slapd.adminPassword);
    const died = new Promise<void>((resolve) => {
      const look = (): void => void (connection.alive ? setImmediate(look) : resolve());
      look();
    });
    proxy.cut(politely);
    await died;
    expect(await failure(connection.bind(slapd.adminDn, slapd.adminPassword))).toMatchObject({ code: 'CLOSED', outcomeUnknown: false });
  });

  test('a request under way when the connection is cut fails with an unknown outcome', async () => {
    const { proxy, directory } = await behindProxy();
    const connection = await directory.connect();
    await connection.bind(slapd.adminDn, slapd.adminPassword);
    proxy.stall();
    const work = failure(connection.modify(`uid=user1,ou=people,${base}`, [{ operation: 'replace', attribute: 'sn', values: ['1'] }]));
    proxy.cut();
    expect(await work).toMatchObject({ code: 'NETWORK', outcomeUnknown: true });
    expect(connection.alive).toBe(false);
  });

  test('a request without an answer ends at its deadline and takes the connection with it', async () => {
    const clock = manualClock();
    const { proxy, directory } = await behindProxy({ requestTimeoutSeconds: 20 }, { clock });
    const connection = await directory.connect();
    proxy.stall();
    const slow = failure(connection.search({ base }));
    const slower = failure(connection.search({ base, timeoutSeconds: 100 }));
    clock.advance(20_000);
    expect(await slow).toMatchObject({ code: 'TIMEOUT', outcomeUnknown: true, diagnosticMessage: 'no answer within 20 s' });
    expect(await slower).toMatchObject({ code: 'TIMEOUT', outcomeUnknown: true });
    expect(connection.alive).toBe(false);
  });

  test('an answer that comes late but in time is taken; one that comes after the deadline finds nobody', async () => {
    const clock = manualClock();
    const { proxy, directory } = await behindProxy({ requestTimeoutSeconds: 20 }, { clock });
    const connection = await directory.connect();
    proxy.hold();
    const patient = connection.search({ base, scope: 'base', attributes: ['dc'] });
    clock.advance(19_999);
    proxy.release();
    expect((await patient)[0]?.first('dc')).toBe('example');
    proxy.hold();
    const late = failure(connection.search({ base, scope: 'base' }));
    clock.advance(20_000);
    expect((await late).code).toBe('TIMEOUT');
    proxy.release();
    const next = await directory.connect();
    expect((await next.search({ base, scope: 'base', attributes: ['dc'] }))[0]?.first('dc')).toBe('example');
    next.close();
  });

  test('a signal ends a request and its connection; one that fired before sends nothing', async () => {
    const { proxy, directory } = await behindProxy();
    const connection = await directory.connect();
    expect(await failure(connection.search({ base, signal: AbortSignal.abort() }))).toMatchObject({
      code: 'ABORTED',
      outcomeUnknown: false,
    });
    expect(connection.alive).toBe(true);
    proxy.stall();
    const caller = new AbortController();
    const work = failure(connection.search({ base, signal: caller.signal }));
    caller.abort();
    expect(await work).toMatchObject({ code: 'ABORTED', outcomeUnknown: true });
    expect(connection.alive).toBe(false);
  });
});

describe('servers that cannot be reached or answer oddly', () => {
  test('a refused connection rejects; it does not end the process', async () => {
    const port = await closedPort();
    const error = await failure(open({ urls: [`ldap://127.0.0.1:${port}`] }).connect());
    expect(error.message).toBe(
      `1 error occurred:\n\t* error connecting to host "ldap://127.0.0.1:${port}": LDAP Result Code 200 "Network Error": dial tcp 127.0.0.1:${port}: connect: connection refused\n\n`,
    );
  });

  test('ldapjs alone ends the process on a refused connection when nobody listens: the fault is still there', async () => {
    const port = await closedPort();
    const source = `
      const { default: ldapjs } = await import('ldapjs');
      const client = ldapjs.createClient({ url: 'ldap://127.0.0.1:${port}', queueDisable: true });
      client.on('connectError', () => {});
      client.on('connect', () => {});`;
    const bare = await run(source);
    expect(bare).not.toBe(0);
    expect(await run(`${source} client.on('error', () => {});`)).toBe(0);
  });

  test('a connection that never comes about ends at its deadline, and lets go of its socket', async () => {
    let closed: () => void;
    const socketClosed = new Promise<void>((resolve) => (closed = resolve));
    const silent = createTcpServer((socket) =>
      socket
        .on('error', () => {})
        .on('close', () => closed())
        .resume(),
    );
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    cleanups.push(() => silent.close());
    const clock = manualClock();
    const accepted = new Promise((resolve) => silent.once('connection', resolve));
    const { port } = silent.address() as AddressInfo;
    const work = failure(open({ urls: [`ldaps://127.0.0.1:${port}`], connectionTimeoutSeconds: 7 }, { clock }).connect());
    await accepted;
    clock.advance(7_000);
    expect(await work).toMatchObject({ code: 'TIMEOUT', diagnosticMessage: `dial tcp 127.0.0.1:${port}: i/o timeout` });
    await socketClosed;
  });

  test('a signal ends a connection in the making, and lets go of its socket', async () => {
    let closed: () => void;
    const socketClosed = new Promise<void>((resolve) => (closed = resolve));
    const silent = createTcpServer((socket) =>
      socket
        .on('error', () => {})
        .on('close', () => closed())
        .resume(),
    );
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    cleanups.push(() => silent.close());
    const accepted = new Promise((resolve) => silent.once('connection', resolve));
    const caller = new AbortController();
    const { port } = silent.address() as AddressInfo;
    const work = failure(open({ urls: [`ldap://127.0.0.1:${port}`], starttls: true }).connect(caller.signal));
    await accepted;
    caller.abort();
    expect(await work).toMatchObject({ code: 'ABORTED' });
    await socketClosed;
  });

  test('an IPv6 address is reached', async () => {
    const server = createTcpServer((socket) => socket.on('error', () => {}));
    const listening = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(0, '::1', () => resolve(true));
    });
    if (!listening) return console.warn('SKIPPED: this machine has no IPv6 loopback');
    cleanups.push(() => server.close());
    const connection = await open({ urls: [`ldap://[::1]:${(server.address() as AddressInfo).port}`] }).connect();
    expect(connection.alive).toBe(true);
    connection.close();
  });

  test('an answer counts although the server hangs up, or goes on with nonsense, right behind it', async () => {
    for (const nonsense of ['', '\x30\x03\x04\x01x']) {
      const server = await serve((socket, chunk) => {
        socket.end(Buffer.concat([result(idOf(chunk), responseTag.bind, 0), Buffer.from(nonsense, 'latin1')]));
      });
      const connection = await open({ urls: [server.url] }).connect();
      await connection.bind('cn=a', 'secret');
      expect(connection.boundAs).toBe('cn=a');
    }
  });

  test.each([
    ['the result of another operation', (id: number) => result(id, responseTag.done, 0), 'the result of another operation'],
    [
      'an empty result code',
      (id: number) => ber(0x30, ber(0x02, [id]), ber(responseTag.bind, ber(0x0a, []), ber(0x04, ''), ber(0x04, ''))),
      'no valid result code',
    ],
    [
      'a result code of more than four bytes',
      (id: number) => ber(0x30, ber(0x02, [id]), ber(responseTag.bind, ber(0x0a, [1, 0, 0, 0, 0]), ber(0x04, ''), ber(0x04, ''))),
      'no valid result code',
    ],
    [
      'an id of more than four bytes',
      (id: number) => ber(0x30, ber(0x02, [1, 0, 0, 0, id]), ber(responseTag.bind, ber(0x0a, [0]), ber(0x04, ''), ber(0x04, ''))),
      'no valid id',
    ],
  ])('%s is no success', async (_title, answer, reason) => {
    const server = await serve((socket, chunk) => socket.write(answer(idOf(chunk))));
    const connection = await open({ urls: [server.url] }).connect();
    const error = await failure(connection.bind('cn=a', 'wrong'));
    expect(error).toMatchObject({ code: 'NETWORK', diagnosticMessage: expect.stringContaining(reason) });
    expect(connection.alive).toBe(false);
  });

  test("Active Directory's reason for refusing a bind arrives", async () => {
    const reason = '80090308: LdapErr: DSID-0C0903A9, comment: AcceptSecurityContext error, data 52e, v1db1';
    const server = ldapjs.createServer();
    server.bind('dc=corp', (_request: unknown, response: { status: number; diagnosticMessage: string; end(status: number): void }) => {
      response.diagnosticMessage = reason;
      response.end(49);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    cleanups.push(() => new Promise<void>((resolve) => server.close(() => resolve())));
    const { port } = (server as unknown as { address(): AddressInfo }).address();
    const directory = open({ urls: [`ldap://127.0.0.1:${port}`] });
    const error = await failure(directory.verifyUser('cn=bob,dc=corp', 'wrong'));
    directory.close();
    expect(error).toMatchObject({ code: 49, diagnosticMessage: reason });
    expect(error.message).toBe(`LDAP Result Code 49 "Invalid Credentials": ${reason}`);
  });

  test.each([4096, 113, 81])('result code %i, which ldapjs does not know, is an error and not a crash', async (code) => {
    const server = await serve((socket, chunk) => socket.write(result(idOf(chunk), responseTag.bind, code, 'odd')));
    const connection = await open({ urls: [server.url] }).connect();
    expect(await failure(connection.bind('cn=a', 'b'))).toMatchObject({ code, diagnosticMessage: 'odd' });
    expect(connection.alive).toBe(true);
  });

  test('a refused "who am I" is an error, though ldapjs would make it a success', async () => {
    const server = await serve((socket, chunk) =>
      socket.write(result(idOf(chunk), responseTag.extended, 2, 'unsupported extended operation')),
    );
    const connection = await open({ urls: [server.url] }).connect();
    expect(await failure(connection.whoAmI())).toMatchObject({ code: 2 });
  });

  test('names that ldapjs cannot parse, or would spell again, come back as the server wrote them', async () => {
    const entry = (id: number, dn: string): Buffer =>
      ber(0x30, ber(2, [id]), ber(responseTag.entry, ber(4, dn), ber(0x30, ber(0x30, ber(4, 'cn'), ber(0x31, ber(4, 'x'))))));
    const names = ['<GUID=1234>', 'føø=bar', 'no name at all', 'cn=one+cn=two,dc=x', 'CN=Ü\\2C\\ ,dc=x'];
    const server = await serve((socket, chunk) => {
      const id = idOf(chunk);
      socket.write(Buffer.concat([...names.map((dn) => entry(id, dn)), result(id, responseTag.done, 0)]));
    });
    const connection = await open({ urls: [server.url] }).connect();
    expect((await connection.search({ base: '' })).map(({ dn }) => dn)).toEqual(names);
  });

  test('search references and unsolicited messages are passed over', async () => {
    const server = await serve((socket, chunk) => {
      const id = idOf(chunk);
      const notice = result(0, responseTag.extended, 52, 'shutting down soon');
      const reference = ber(0x30, ber(2, [id]), ber(responseTag.reference, ber(4, 'ldap://elsewhere/dc=x')));
      socket.write(Buffer.concat([notice, reference, result(id, responseTag.done, 0)]));
    });
    const connection = await open({ urls: [server.url] }).connect();
    expect(await connection.search({ base: '' })).toEqual([]);
  });

  test.each([
    ['a list view', '2.16.840.1.113730.3.4.10', ber(0x30, ber(2, [1]), ber(2, [1]), ber(0x0a, [0]))],
    ['a changed entry', '2.16.840.1.113730.3.4.7', ber(0x30, ber(0x0a, [1]))],
    ['an expiring password', '2.16.840.1.113730.3.4.5', Buffer.from('86400')],
    ['pages nobody asked for', '1.2.840.113556.1.4.319', Buffer.from('garbage')],
  ])('the control of %s, which nobody asked for, does not cost the connection', async (_what, oid, value) => {
    const controls = ber(0xa0, ber(0x30, ber(4, oid), ber(4, value)));
    const entry = (id: number): Buffer => ber(0x30, ber(2, [id]), ber(responseTag.entry, ber(4, 'cn=a'), ber(0x30)), controls);
    const done = (id: number): Buffer => ber(0x30, ber(2, [id]), ber(responseTag.done, ber(0x0a, [0]), ber(4, ''), ber(4, '')), controls);
    const server = await serve((socket, chunk) => socket.write(Buffer.concat([entry(idOf(chunk)), done(idOf(chunk))])));
    const connection = await open({ urls: [server.url] }).connect();
    expect((await connection.search({ base: '' })).map(({ dn }) => dn)).toEqual(['cn=a']);
    expect(connection.alive).toBe(true);
  });

  test('pages whose control cannot be read end the search with an error instead of half of the entries', async () => {
    const controls = ber(0xa0, ber(0x30, ber(4, '1.2.840.113556.1.4.319'), ber(4, 'garbage')));
    const server = await serve((socket, chunk) =>
      socket.write(ber(0x30, ber(2, [idOf(chunk)]), ber(responseTag.done, ber(0x0a, [0]), ber(4, ''), ber(4, '')), controls)),
    );
    const connection = await open({ urls: [server.url] }).connect();
    expect(await failure(connection.search({ base: '', pageSize: 10 }))).toMatchObject({ code: 'NETWORK', outcomeUnknown: true });
    expect(connection.alive).toBe(false);
  });

  test('lengths of four bytes, as Active Directory writes them, are read', async () => {
    const long = (tag: number, ...content: Buffer[]): Buffer => {
      const body = Buffer.concat(content);
      const header = Buffer.from([tag, 0x84, 0, 0, 0, 0]);
      header.writeUInt32BE(body.length, 2);
      return Buffer.concat([header, body]);
    };
    const server = await serve((socket, chunk) => {
      const id = ber(2, [idOf(chunk)]);
      const guid = long(0x30, ber(4, 'objectGUID'), long(0x31, long(4, Buffer.from([0xff, 0, 0xfe]))));
      const entry = long(0x30, id, long(responseTag.entry, ber(4, 'CN=a'), long(0x30, guid)));
      socket.write(Buffer.concat([entry, long(0x30, id, long(responseTag.done, ber(0x0a, [0]), ber(4, ''), ber(4, '')))]));
    });
    const connection = await open({ urls: [server.url] }).connect();
    const [entry] = await connection.search({ base: '' });
    expect([entry?.dn, entry?.buffers('objectguid')]).toEqual(['CN=a', [Buffer.from([0xff, 0, 0xfe])]]);
  });

  test('a referral is an error with all its URLs, and the connection lives on', async () => {
    const referral = ber(0xa3, ber(4, 'ldap://one.example.org/dc=x'), ber(4, 'ldap://two.example.org/dc=x'));
    const server = await serve((socket, chunk) => socket.write(result(idOf(chunk), responseTag.bind, 10, '', referral)));
    const connection = await open({ urls: [server.url] }).connect();
    const urls = ['ldap://one.example.org/dc=x', 'ldap://two.example.org/dc=x'];
    expect(await failure(connection.bind('cn=a', 'b'))).toMatchObject({ code: 10, referrals: urls });
    expect((await failure(connection.bind('cn=a', 'b'))).message).toContain(urls.join(', '));
  });

  test.each([
    ['no LDAP at all', Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n')],
    ['a broken message', ber(0x30, ber(2, [1]), ber(0x61, [0x0a, 0x7f, 0x00]))],
    ['an entry where a result belongs', ber(0x30, ber(2, [1]), ber(responseTag.entry, ber(4, 'cn=a'), ber(0x30)))],
  ])('%s ends the connection with an error', async (_what, bytes) => {
    const server = await serve((socket) => socket.end(bytes));
    const connection = await open({ urls: [server.url] }).connect();
    expect(await failure(connection.bind('cn=a', 'b'))).toMatchObject({ code: 'NETWORK', outcomeUnknown: true });
    expect(connection.alive).toBe(false);
  });

  test('no error shows the password', async () => {
    const server = await serve((socket, chunk) => socket.write(result(idOf(chunk), responseTag.bind, 49, 'no')));
    const error = await failure(open({ urls: [server.url] }).verifyUser('cn=a', 'hunter2-hunter2'));
    expect(`${error.stack} ${JSON.stringify(error)}`).not.toContain('hunter2');
  });
});

async function closedPort(): Promise<number> {
  const server = createTcpServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function run(source: string): Promise<number | null> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, ['--input-type=module', '-e', source], {
      cwd: new URL('..', import.meta.url).pathname,
      stdio: 'ignore',
      env: { ...process.env, NODE_OPTIONS: '' },
    });
    child.once('exit', (code) => resolve(code));
  });
}
