import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { Client } from 'pg';
import { Conflict, EVERYTHING, StorageFailure, storageDriverContract } from '@strongroom/storage-sdk';
import type { StorageDriver } from '@strongroom/storage-sdk';
import { postgresqlStorage } from '../src/index.ts';
import { startPostgresql } from './postgresql-server.ts';
import type { PostgresqlServer } from './postgresql-server.ts';

let server: PostgresqlServer;
let tables = 0;

beforeAll(async () => {
  server = await startPostgresql();
}, 120_000);

afterAll(() => server.stop(), 60_000);

async function store() {
  const table = `store_${tables++}`;
  const drivers: StorageDriver[] = [];
  let paused = false;
  const opened = async (first = false): Promise<StorageDriver> => {
    const reading = { paused: () => first && paused };
    const driver = await postgresqlStorage({ connectionUrl: server.url, table, poolSize: 6, reading });
    drivers.push(driver);
    return driver;
  };
  /** As if the process of the first driver had been stopped for two days. */
  const missing = async (work: () => Promise<void>): Promise<void> => {
    paused = true;
    await work();
    await sql(`UPDATE "${table}_announced" SET at = now() - interval '2 days'`);
    // Whoever opens the store removes what is older than a day.
    await (await opened()).close();
    paused = false;
  };
  return { table, opened, missing, cleanup: async () => void (await Promise.all(drivers.map((each) => each.close()))) };
}

async function sql(text: string): Promise<void> {
  const admin = new Client({ connectionString: server.url });
  await admin.connect();
  await admin.query(text);
  await admin.end();
}

async function endSessions(): Promise<void> {
  await sql('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()');
}

async function failureOf(work: Promise<unknown>): Promise<StorageFailure> {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(StorageFailure);
  return error as StorageFailure;
}

const put = (key: string, text = key) => ({ key, value: Buffer.from(text) });

storageDriverContract(
  { describe, test },
  {
    name: 'postgresql',
    async open() {
      const { opened, missing, cleanup } = await store();
      const driver = await opened(true);
      return {
        driver,
        other: () => opened(),
        missing,
        cleanup,
        async reopen() {
          await driver.close();
          return opened();
        },
      };
    },
  },
);

describe('several nodes on one table', () => {
  test('may start at once on an empty database', async () => {
    const { opened, cleanup } = await store();
    const nodes = await Promise.all(Array.from({ length: 6 }, () => opened()));
    await Promise.all(nodes.map((node, i) => node.commit({ put: [put(`node/${i}`)] })));
    expect(await nodes[0]?.range({ prefix: 'node/' })).toHaveLength(6);
    await cleanup();
  });

  test('never both go by the absence of what the other writes', async () => {
    const { opened, cleanup } = await store();
    const [one, two] = [await opened(), await opened()];
    for (let i = 0; i < 40; i++) {
      const [a, b] = [`a/${i}`, `b/${i}`];
      const results = await Promise.allSettled([
        one.commit({ expect: [{ key: a, version: undefined }], put: [put(b)] }),
        two.commit({ expect: [{ key: b, version: undefined }], put: [put(a)] }),
      ]);
      // One comes first, and then the other's expectation does not hold.
      const refused = results.filter((result) => result.status === 'rejected');
      expect(refused).toHaveLength(1);
      expect(refused[0]?.reason).toBeInstanceOf(Conflict);
      expect((await one.get(a)) === undefined).toBe((await one.get(b)) !== undefined);
    }
    await cleanup();
  });

  test('never both go by the old version of what the other changes', async () => {
    const { opened, cleanup } = await store();
    const [one, two] = [await opened(), await opened()];
    for (let i = 0; i < 40; i++) {
      const [a, b] = [`a/${i}`, `b/${i}`];
      await one.commit({ put: [put(a), put(b)] });
      const [va, vb] = [(await one.get(a))?.version, (await one.get(b))?.version];
      const results = await Promise.allSettled([
        one.commit({ expect: [{ key: a, version: va }], put: [put(b, 'changed')] }),
        two.commit({ expect: [{ key: b, version: vb }], delete: [a] }),
      ]);
      expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    }
    await cleanup();
  });

  test('leave no trace of keys whose absence was expected and that were not put', async () => {
    const { opened, cleanup } = await store();
    const driver = await opened();
    await Promise.all(
      Array.from({ length: 20 }, (_, i) => driver.commit({ expect: [{ key: 'ghost', version: undefined }], put: [put(`k/${i}`)] })),
    );
    expect(await driver.get('ghost')).toBeUndefined();
    expect(await driver.range({ prefix: 'k/' })).toHaveLength(20);
    await cleanup();
  });
});

describe('a server that goes away', () => {
  test('is a plain failure that names PostgreSQL and no password; the driver works again once the server is back', async () => {
    const { opened, cleanup } = await store();
    const [one, two] = [await opened(), await opened()];
    const heard: string[] = [];
    let hear: () => void = () => undefined;
    two.changes((changed) => {
      heard.push(...(changed === EVERYTHING ? ['everything'] : changed));
      hear();
    });
    await one.commit({ put: [put('kept')] });
    await server.pause();
    for (const failure of [
      await failureOf(one.get('kept')),
      await failureOf(one.commit({ put: [put('lost')] })),
      await failureOf(one.range({})),
    ]) {
      expect(failure.message).toMatch(/^storage postgresql: PostgreSQL cannot be reached/);
      expect(failure.message).not.toContain(server.password);
    }
    await server.restart();
    const notified = new Promise<void>((resolve) => (hear = resolve));
    await one.commit({ put: [put('back')], notify: ['policy'] });
    expect((await one.range({})).map(({ key }) => key)).toEqual(['back', 'kept']);
    await notified;
    expect(new Set(heard)).toEqual(new Set(['policy']));
    await cleanup();
  }, 60_000);

  test('does not show in the next call when only the idle connections were cut', async () => {
    const { opened, cleanup } = await store();
    const driver = await opened();
    await driver.commit({ put: [put('a')] });
    await endSessions();
    await driver.commit({ put: [put('b')] });
    expect(await driver.get('b')).toBeDefined();
    await cleanup();
  });

  test('where PostgreSQL becomes read-only, reads go on, and a write says what has to change', async () => {
    const { opened, cleanup } = await store();
    const driver = await opened();
    await driver.commit({ put: [put('a')] });
    await sql('ALTER DATABASE postgres SET default_transaction_read_only = on');
    await endSessions();
    try {
      for (let i = 0; i < 2; i++) {
        expect((await failureOf(driver.commit({ put: [put('b')] }))).reason).toBe(
          'PostgreSQL takes no writes, and this needs one: it is a standby, or default_transaction_read_only is on',
        );
        expect(await driver.get('a')).toBeDefined();
      }
    } finally {
      await sql('BEGIN READ WRITE; ALTER DATABASE postgres RESET default_transaction_read_only; COMMIT');
      await endSessions();
    }
    await driver.commit({ put: [put('b')] });
    expect(await driver.get('b')).toBeDefined();
    await cleanup();
  });

  test('a pooler that has no server is quoted', async () => {
    // What pgbouncer sends.
    await using pooler = await listening((socket) => {
      const fields = 'SFATAL\0C08P01\0Mserver login has been failing, connect failed\0\0';
      const message = Buffer.alloc(5 + fields.length, fields, 'latin1');
      message.write('E', 0, 'latin1');
      message.writeUInt32BE(4 + fields.length, 1);
      message.write(fields, 5, 'latin1');
      socket.once('data', () => socket.end(message)).on('error', () => undefined);
    });
    const url = `postgresql://admin:s3cret@127.0.0.1:${pooler.port}/postgres`;
    expect((await failureOf(postgresqlStorage({ connectionUrl: url }))).reason).toBe(
      'PostgreSQL cannot be reached: server login has been failing, connect failed',
    );
  });
});

/** A server on a free port of loopback. */
async function listening(serve: (socket: Socket) => void): Promise<{ readonly port: number } & AsyncDisposable> {
  const sockets = new Set<Socket>();
  const other = createServer((socket) => {
    sockets.add(socket);
    serve(socket);
  });
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  return {
    port: (other.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => other.close(resolve));
    },
  };
}

describe('opening', () => {
  test('says plainly what is wrong, without the password', async () => {
    const wrong = server.url.replace(/:[^:@/]+@/, ':wr0ng-passw0rd@');
    expect((await failureOf(postgresqlStorage({ connectionUrl: wrong }))).message).toMatch(
      /^storage postgresql: PostgreSQL refuses the user name or password: password authentication failed for user "\w+"$/,
    );
    const nowhere = server.url.replace(/\/postgres$/, '/nowhere');
    expect((await failureOf(postgresqlStorage({ connectionUrl: nowhere }))).reason).toBe('PostgreSQL: database "nowhere" does not exist');
    const closed = 'postgresql://admin:s3cret@127.0.0.1:1/postgres';
    expect((await failureOf(postgresqlStorage({ connectionUrl: closed }))).message).toBe(
      'storage postgresql: PostgreSQL cannot be reached: ECONNREFUSED 127.0.0.1:1; nothing listens there: start PostgreSQL, or correct the host or the port of the connection URL',
    );
    const unknown = 'postgresql://admin:s3cret@nohost.invalid/postgres';
    expect((await failureOf(postgresqlStorage({ connectionUrl: unknown }))).reason).toMatch(
      /^PostgreSQL cannot be reached: (ENOTFOUND nohost\.invalid; the name has no address: correct the host|EAI_AGAIN nohost\.invalid; the DNS does not answer)/,
    );
    expect((await failureOf(postgresqlStorage({ connectionUrl: 's3cret' }))).reason).toMatch(
      /^the connection URL is not a URL: write postgresql:/,
    );
    const without = server.url.replace(/:[^:@/]+@/, '@');
    expect((await failureOf(postgresqlStorage({ connectionUrl: without }))).reason).toBe(
      'PostgreSQL asks for a password, and the connection URL has none',
    );
    for (const [file, name, reason] of [
      ['/nowhere/root.crt', 'the file /nowhere/root.crt', 'ENOENT'],
      ['/', 'the file /', 'it is a folder'],
      ['/nowhere;password=s3cret', 'the file [redacted]', 'ENOENT'],
    ] as const) {
      expect((await failureOf(postgresqlStorage({ connectionUrl: `${server.url}?sslmode=require&sslrootcert=${file}` }))).reason).toBe(
        `${name}, which sslrootcert of the connection URL names, cannot be read: ${reason}`,
      );
    }
    for (const [folder, name] of [
      ['/nowhere', '/nowhere/.s.PGSQL.5432'],
      ['/nowhere;password=s3cret', '[redacted]'],
    ]) {
      expect((await failureOf(postgresqlStorage({ connectionUrl: `postgresql://admin@/x?host=${folder}` }))).reason).toBe(
        `PostgreSQL cannot be reached: ENOENT ${name}; there is no such socket: start PostgreSQL, or correct the folder or the port in the connection URL`,
      );
    }
    const warned = jest.spyOn(process, 'emitWarning');
    for (const mode of ['require', 'verify-full']) {
      expect((await failureOf(postgresqlStorage({ connectionUrl: `${server.url}?sslmode=${mode}` }))).reason).toBe(
        'PostgreSQL does not offer TLS, which sslmode of the connection URL asks for',
      );
    }
    expect(warned).not.toHaveBeenCalled();
    warned.mockRestore();
    expect((await failureOf(postgresqlStorage({ connectionUrl: server.url, table: 'x"; DROP TABLE y' }))).reason).toMatch(
      /^the table name/,
    );
  });

  test.each([
    ['/x;password=s3cret', 'PostgreSQL does not have the database', 'database'],
    [`/${'x'.repeat(60)};s3cret`, 'PostgreSQL does not have the database', 'database'],
    ['/postgres?user=nobody;password=s3cret', 'PostgreSQL refuses the user name or password', 'user'],
    ['/postgres?user=nobody%3As3cret', 'PostgreSQL refuses the user name or password', 'user'],
    ['/postgres?options=-c%20work_mem=s3cret!', 'PostgreSQL refuses the connection with the error 22023', 'options'],
  ])('shows nothing of a password that a wrong separator has put into %s', async (rest, reason, part) => {
    const connectionUrl = server.url.replace(/\/postgres$/, rest);
    const failure = await failureOf(postgresqlStorage({ connectionUrl }));
    expect(failure.reason).toBe(
      `${reason}; its message is not shown, because it may quote a password: there are characters other than letters, digits, "_", "." and "-" in the ${part} of the connection URL`,
    );
  });

  test.each(['a@b', 'a+b', 'a/b', 'a:b', 'a?b', 'a;b', 'a&b', 'a=b', 'a b%40', 'ü#,$'])(
    'opens a database with the name %s',
    async (name) => {
      await sql(`CREATE DATABASE "${name}"`);
      const encoded = encodeURIComponent(name);
      for (const connectionUrl of [server.url.replace(/\/postgres$/, `/${encoded}`), `${server.url}?dbname=${encoded}`]) {
        const driver = await postgresqlStorage({ connectionUrl });
        await driver.commit({ put: [put('key')] });
        await driver.close();
      }
      await sql(`DROP DATABASE "${name}"`);
    },
  );

  const closing =
    'what answers closes the connection; see the log of PostgreSQL, and whether host and port of the connection URL are its own';
  test.each([
    ['answers nothing', '', () => undefined, 'it does not answer in time'],
    ['closes each connection', '', (socket: Socket) => void socket.end(), closing],
    [
      'answers in another protocol',
      '&sslmode=require',
      (socket: Socket) => void socket.end('HTTP/1.1 400\r\n'),
      'what answers is not PostgreSQL',
    ],
    [
      'has no TLS behind its promise',
      '&sslmode=require',
      (socket: Socket) => void socket.once('data', () => socket.end('no TLS')).write('S'),
      'what answers does not speak TLS',
    ],
  ])('says so where what listens %s', async (_what, parameter, answer, reason) => {
    await using other = await listening((socket) => {
      socket.on('error', () => undefined).once('data', () => answer(socket));
    });
    const url = `postgresql://admin:s3cret@127.0.0.1:${other.port}/x?connect_timeout=1${parameter}`;
    expect((await failureOf(postgresqlStorage({ connectionUrl: url }))).reason).toBe(`PostgreSQL cannot be reached: ${reason}`);
  });

  test('refuses a database of another encoding, whose text would not sort or hold every key', async () => {
    const admin = new Client({ connectionString: server.url });
    await admin.connect();
    await admin.query("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0");
    await admin.end();
    const url = server.url.replace(/\/postgres$/, '/latin');
    expect((await failureOf(postgresqlStorage({ connectionUrl: url }))).reason).toMatch(/UTF8, not LATIN1/);
  });
});
