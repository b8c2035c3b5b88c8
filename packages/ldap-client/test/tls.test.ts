import { createServer as createTlsServer } from 'node:tls';
import { createServer as createTcpServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { createDirectory, LdapError } from '../src/index.ts';
import type { Directory, LdapSettings } from '../src/index.ts';
import { manualClock } from './manual-clock.ts';
import { idOf, responseTag, result, startRawServer } from './raw-server.ts';
import { createTestCa, describeWithSlapd, type Slapd, startSlapd } from '@strongroom/lab';

const base = 'dc=example,dc=org';
const user = `uid=user1,ou=people,${base}`;
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

describeWithSlapd('TLS to OpenLDAP', () => {
  let slapd: Slapd;
  let transports: { urls: string[]; starttls: boolean }[];

  beforeAll(async () => {
    slapd = await startSlapd();
    transports = [
      { urls: [slapd.ldapsUrl], starttls: false },
      { urls: [slapd.url], starttls: true },
    ];
  });

  afterAll(() => slapd?.stop());

  test('with the right CA, ldaps and StartTLS both work, by address and by name', async () => {
    for (const { urls, starttls } of transports)
      for (const url of [urls[0]!, urls[0]!.replace('127.0.0.1', 'localhost')]) {
        const directory = open({ urls: [url], starttls, certificate: slapd.ca.certificate });
        await directory.verifyUser(user, 'pw1');
        expect((await failure(directory.verifyUser(user, 'wrong'))).code).toBe(49);
        const people = await directory.withServiceConnection({ dn: user, password: 'pw1' }, (lent) =>
          lent.search({ base, filter: '(objectClass=inetOrgPerson)', pageSize: 50 }),
        );
        expect(people).toHaveLength(220);
      }
  });

  test('StartTLS really encrypts: a server that demands it answers', async () => {
    const strict = await startSlapd({ globalConfig: 'security ssf=128' });
    cleanups.push(() => strict.stop());
    expect((await failure(open({ urls: [strict.url] }).verifyUser(user, 'pw1'))).code).toBe(13);
    await open({ urls: [strict.url], starttls: true, certificate: strict.ca.certificate }).verifyUser(user, 'pw1');
  });

  test('another CA, or none, is refused', async () => {
    for (const transport of transports)
      for (const certificate of [createTestCa().certificate, '']) {
        const error = await failure(open({ ...transport, certificate }).connect());
        expect(error.code).toBe('TLS');
      }
  });

  test('insecureTls accepts any certificate', async () => {
    for (const transport of transports) await open({ ...transport, insecureTls: true }).verifyUser(user, 'pw1');
  });

  test('the version bounds hold', async () => {
    for (const transport of transports) {
      const settings = { ...transport, certificate: slapd.ca.certificate };
      await open({ ...settings, tlsMinVersion: 'tls13', tlsMaxVersion: 'tls13' }).verifyUser(user, 'pw1');
    }
    const modern = await startSlapd({ globalConfig: 'TLSCipherSuite NORMAL:-VERS-ALL:+VERS-TLS1.3' });
    cleanups.push(() => modern.stop());
    const settings = { urls: [modern.ldapsUrl], certificate: modern.ca.certificate };
    expect((await failure(open(settings).connect())).answered).toBe(false);
    await open({ ...settings, tlsMaxVersion: 'tls13' }).verifyUser(user, 'pw1');
  });

  test('a client certificate is shown when the server demands one', async () => {
    const demanding = await startSlapd({ globalConfig: 'TLSVerifyClient demand' });
    cleanups.push(() => demanding.stop());
    const { cert, key } = demanding.ca.issue('client');
    for (const transport of [
      { urls: [demanding.ldapsUrl], starttls: false },
      { urls: [demanding.url], starttls: true },
    ]) {
      const settings = { ...transport, certificate: demanding.ca.certificate };
      await open({ ...settings, clientTlsCert: cert, clientTlsKey: key }).verifyUser(user, 'pw1');
      expect((await failure(open(settings).verifyUser(user, 'pw1'))).answered).toBe(false);
    }
  });

  test('a malformed certificate is an error of ours, not of the server', async () => {
    const error = await failure(open({ urls: [slapd.ldapsUrl], certificate: 'not PEM', clientTlsCert: 'x', clientTlsKey: 'y' }).connect());
    expect(error.code).toBe('TLS');
    expect(error.message).toContain('the TLS settings cannot be used');
  });

  test('an encrypted connection that is closed leaves no socket behind', async () => {
    for (const transport of transports) {
      const connection = await open({ ...transport, certificate: slapd.ca.certificate }).connect();
      const socketsOf = (): number => process.getActiveResourcesInfo().filter((kind) => /TCPSocket|TLS/.test(kind)).length;
      const before = socketsOf();
      connection.close();
      for (let turn = 0; turn < 50 && socketsOf() >= before; turn++) await new Promise((resolve) => setImmediate(resolve));
      expect(socketsOf()).toBeLessThan(before);
    }
  });
});

describe('TLS against servers that misbehave', () => {
  const ca = createTestCa();

  test('an answer counts although the server closes TLS in the same packet', async () => {
    const { cert, key } = ca.issue('here', ['IP:127.0.0.1']);
    const server = createTlsServer({ cert, key }, (socket) => {
      socket
        .on('error', () => {})
        .on('data', (chunk: Buffer) => {
          socket.cork();
          socket.end(result(idOf(chunk), responseTag.bind, 0));
          // What is sent, and the end of it, wait for the client together.
          setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20));
        });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    cleanups.push(() => server.close());
    const { port } = server.address() as AddressInfo;
    const connection = await open({ urls: [`ldaps://127.0.0.1:${port}`], certificate: ca.certificate }).connect();
    await connection.bind('cn=a', 'secret');
    expect(connection.boundAs).toBe('cn=a');
  });

  test('a certificate for another host is refused, StartTLS included', async () => {
    const { cert, key } = ca.issue('elsewhere', ['DNS:elsewhere.example.org']);
    const server = createTlsServer({ cert, key }, (socket) => socket.on('error', () => {}));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    cleanups.push(() => server.close());
    server.on('tlsClientError', () => {});
    const { port } = server.address() as AddressInfo;
    const error = await failure(open({ urls: [`ldaps://127.0.0.1:${port}`], certificate: ca.certificate }).connect());
    expect(error).toMatchObject({ code: 'TLS', diagnosticMessage: expect.stringContaining('does not match') });

    const relay = await startRawServer((socket, chunk, number) => {
      if (number > 1) return;
      socket.write(result(idOf(chunk), responseTag.extended, 0));
      socket.removeAllListeners('data');
      server.emit('connection', socket);
    });
    cleanups.push(() => relay.stop());
    const upgraded = await failure(open({ urls: [relay.url], starttls: true, certificate: ca.certificate }).connect());
    expect(upgraded).toMatchObject({ code: 'TLS', diagnosticMessage: expect.stringContaining('does not match') });
  });

  test("a refused StartTLS is the server's error; nothing goes on in clear", async () => {
    let requests = 0;
    const server = await startRawServer((socket, chunk) => {
      requests++;
      socket.write(result(idOf(chunk), responseTag.extended, 4096, 'not today'));
    });
    cleanups.push(() => server.stop());
    const error = await failure(open({ urls: [server.url], starttls: true }).verifyUser(user, 'pw1'));
    expect(error).toMatchObject({ code: 4096, diagnosticMessage: 'not today' });
    expect(requests).toBe(1);
  });

  test('bytes sent in clear behind the answer to StartTLS end the connection', async () => {
    const { cert, key } = ca.issue('localhost', ['IP:127.0.0.1']);
    const server = createTlsServer({ cert, key }, (socket) => socket.on('error', () => {}));
    server.on('tlsClientError', () => {});
    const injected = Buffer.from('30840000008002010261', 'hex');
    const relay = await startRawServer((socket, chunk, number) => {
      if (number > 1) return;
      socket.write(Buffer.concat([result(idOf(chunk), responseTag.extended, 0), injected]));
      socket.removeAllListeners('data');
      server.emit('connection', socket);
    });
    cleanups.push(() => relay.stop());
    const error = await failure(open({ urls: [relay.url], starttls: true, certificate: ca.certificate }).connect());
    expect(error).toMatchObject({ code: 'TLS', diagnosticMessage: 'tls: the server sent data in clear after agreeing to StartTLS' });
  });

  test('a failed dial tells whether the connection stood before TLS failed, a good one how long each took', async () => {
    const clock = manualClock();
    let greeted!: () => void;
    const greeting = new Promise<void>((resolve) => (greeted = resolve));
    const server = await startRawServer(() => greeted());
    const secure = server.url.replace('ldap:', 'ldaps:');
    const work = failure(open({ urls: [secure], connectionTimeoutSeconds: 5 }, { clock }).connect());
    await greeting;
    clock.advance(5_000);
    expect(await work).toMatchObject({ code: 'TIMEOUT', connectedMillis: 0 });
    await server.stop();
    expect(await failure(open({ urls: [server.url] }).connect())).toMatchObject({ code: 'NETWORK', connectedMillis: undefined });
  });

  test.each([
    ['hangs up at once', (socket: Socket) => socket.resetAndDestroy()],
    ['hangs up in the handshake', (socket: Socket) => socket.once('data', () => socket.resetAndDestroy())],
    ['ends the stream in the handshake', (socket: Socket) => socket.once('data', () => socket.end())],
  ])('ldaps to a server that %s is a failed dial, and leaves no socket behind', async (_what, misbehave) => {
    const { port, left } = await serveSockets(misbehave);
    expect(await failure(open({ urls: [`ldaps://127.0.0.1:${port}`] }).connect())).toMatchObject({
      code: 'NETWORK',
      outcomeUnknown: false,
    });
    await left;
  });

  test.each([
    ['instead of an answer to StartTLS', (socket: Socket) => socket.once('data', () => socket.resetAndDestroy())],
    [
      'after it has agreed to StartTLS',
      (socket: Socket) =>
        socket.once('data', (request) => {
          socket.write(result(idOf(request), responseTag.extended, 0));
          socket.once('data', () => socket.resetAndDestroy());
        }),
    ],
  ])('a server that hangs up %s is a failed dial, and leaves no socket behind', async (_when, misbehave) => {
    const { port, left } = await serveSockets(misbehave);
    const directory = open({ urls: [`ldap://127.0.0.1:${port}`], starttls: true });
    expect(await failure(directory.connect())).toMatchObject({ code: 'NETWORK', outcomeUnknown: false });
    await left;
  });

  test.each([
    ['does not answer StartTLS', 1],
    ['agrees to StartTLS and then says nothing', 2],
  ])('a server that %s costs the connection timeout', async (_what, silentAt) => {
    const clock = manualClock();
    let silent!: () => void;
    const waiting = new Promise<void>((resolve) => (silent = resolve));
    const server = await startRawServer((socket, chunk, number) => {
      if (number === silentAt) silent();
      else socket.write(result(idOf(chunk), responseTag.extended, 0));
    });
    cleanups.push(() => server.stop());
    const work = failure(open({ urls: [server.url], starttls: true, connectionTimeoutSeconds: 5 }, { clock }).connect());
    await waiting;
    clock.advance(5_000);
    expect((await work).code).toBe('TIMEOUT');
  });

  test('a server that speaks no TLS is distinguished from one that cannot be reached', async () => {
    const server = await startRawServer((socket) => socket.end('plain text'));
    cleanups.push(() => server.stop());
    const error = await failure(open({ urls: [server.url.replace('ldap:', 'ldaps:')] }).connect());
    expect(error.code).toBe('TLS');
  });
});

/** A server whose connections the test controls; `left` resolves when the first of them is closed. */
async function serveSockets(play: (socket: Socket) => unknown): Promise<{ port: number; left: Promise<void> }> {
  let closed!: () => void;
  const left = new Promise<void>((resolve) => (closed = resolve));
  const server = createTcpServer((socket) => {
    socket.on('error', () => {}).on('close', () => closed());
    play(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanups.push(() => server.close());
  return { port: (server.address() as AddressInfo).port, left };
}
