import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type DatabaseLog, postgresqlDialect } from '@strongroom/database-sdk';
import { type SqlDriver, SqlSession } from '../src/index.ts';

interface Client {
  readonly id: number;
}

class Refused extends Error {
  readonly state = '42601';
}

/** A driver that records its calls, and whose next steps a test decides. */
class DriverDouble implements SqlDriver<Client> {
  readonly client = 'pg';
  readonly sent: string[] = [];
  readonly ended: number[] = [];
  readonly destroyed: number[] = [];
  dialling: (() => Promise<Client>) | undefined;
  running: ((statements: readonly string[]) => Promise<void>) | undefined;
  #count = 0;
  readonly #cut = new Map<Client, (error: Error) => void>();

  async dial(): Promise<Client> {
    return this.dialling ? await this.dialling() : { id: ++this.#count };
  }

  async run(client: Client, statements: readonly string[]): Promise<void> {
    this.sent.push(...statements);
    if (this.running) await Promise.race([this.running(statements), new Promise<never>((_, reject) => this.#cut.set(client, reject))]);
  }

  onEnd(): void {}

  async end({ id }: Client): Promise<void> {
    this.ended.push(id);
  }

  destroy(client: Client): void {
    if (!this.destroyed.includes(client.id)) this.destroyed.push(client.id);
    this.#cut.get(client)?.(new Error('cut'));
  }

  refusal(error: unknown): string | undefined {
    return error instanceof Refused ? error.state : undefined;
  }
}

const signal = () => new AbortController().signal;
const none = { commands: [] };
const credential = { type: 'password', password: 'new-password-1' } as const;
const expiresAt = new Date('2031-02-03T04:05:06Z');
const never = () => new Promise<never>(() => undefined);

describe('SqlSession', () => {
  let driver: DriverDouble;
  let logged: string[];
  let session: SqlSession<Client>;
  afterEach(async () => session.close());
  beforeEach(async () => {
    driver = new DriverDouble();
    logged = [];
    const log = (message: string, fields?: unknown): void => void logged.push(`${message} ${JSON.stringify(fields)}`);
    session = await SqlSession.open<Client>({
      rules: {
        name: 'double-database-plugin',
        dialect: postgresqlDialect,
        defaults: {
          updateUser: [`ALTER USER "{{username}}" PASSWORD '{{password}}'`],
          renewUser: [`ALTER USER "{{name}}" VALID UNTIL '{{expiration}}'`],
          deleteUser: ['DROP USER IF EXISTS "{{name}}"'],
        },
      },
      driver,
      pool: {},
      secrets: { password: 'root-password-1' },
      log: { debug: log, info: log, warn: log, error: log } satisfies DatabaseLog,
    });
  });
  const create = (commands: string[], undo: string[] = [], wanted: AbortSignal = signal()) =>
    session.createUser({
      username: `o'u"`,
      credential,
      expiresAt,
      statements: { commands },
      rollback: { commands: undo },
      signal: wanted,
    });

  test('sends the statements of the role, escaped for where they stand, and its own where there are none', async () => {
    await create([`CREATE USER "{{name}}" PASSWORD '{{password}}' VALID UNTIL '{{expiration}}'; GRANT a TO "{{name}}"`]);
    await session.updateUser({ username: 'u', credential, statements: none, signal: signal() });
    await session.updateUser({ username: 'u', credential, statements: { commands: [`SET u '{{password}}'`] }, signal: signal() });
    await session.renewUser({ username: 'u', expiresAt, statements: none, signal: signal() });
    await session.deleteUser({ username: `o'u"`, statements: none, signal: signal() });
    await session.deleteUser({ username: 'u', statements: { commands: ['REMOVE {{name}}'] }, signal: signal() });
    await session.verify(signal());
    expect(driver.sent).toEqual([
      `CREATE USER "o'u""" PASSWORD 'new-password-1' VALID UNTIL '2031-02-03T04:05:06.000Z'`,
      `GRANT a TO "o'u"""`,
      `ALTER USER "u" PASSWORD 'new-password-1'`,
      `SET u 'new-password-1'`,
      `ALTER USER "u" VALID UNTIL '2031-02-03T04:05:06.000Z'`,
      `DROP USER IF EXISTS "o'u"""`,
      'REMOVE u',
      'SELECT 1',
    ]);
    expect(driver.destroyed).toEqual([]);
  });

  test('refuses a creation without statements and a credential that is no password, before anything is sent', async () => {
    await expect(create([' ; '])).rejects.toMatchObject({ code: 'statement_invalid', message: 'empty creation statements' });
    const key = { type: 'rsa_private_key', publicKey: 'PEM' } as const;
    await expect(session.updateUser({ username: 'u', credential: key, statements: none, signal: signal() })).rejects.toMatchObject({
      code: 'credential_unsupported',
      message: 'double-database-plugin does not support credential_type "rsa_private_key"',
    });
    expect(driver.sent).toEqual([]);
  });

  test('tells a refusal from a lost connection and from a fault of the plugin, shows no secret, and keeps no connection that failed', async () => {
    const failing = async (error: unknown): Promise<unknown> => {
      driver.running = () => Promise.reject(error);
      return create(['X']).catch((thrown: unknown) => thrown);
    };
    expect(await failing(new Refused('near new-password-1'))).toMatchObject({
      code: 'statement_failed',
      serverCode: '42601',
      message: 'failed to execute query: near [new password]',
    });
    expect(await failing(new Error('reset by root-password-1'))).toMatchObject({
      code: 'connection_lost',
      message: 'connection to the database was lost: reset by [password]',
    });
    const gathered = new AggregateError([Object.assign(new Error(''), { code: 'ECONNREFUSED' }), new Error('no route')], '');
    expect(await failing(gathered)).toMatchObject({
      code: 'connection_lost',
      message: 'connection to the database was lost: ECONNREFUSED; no route',
    });
    const fault = new TypeError('x is not a function');
    expect(await failing(fault)).toBe(fault);
    expect(driver.destroyed).toEqual([1, 2, 3, 4]);
  });

  test('a verification that fails says so, whatever failed', async () => {
    driver.dialling = () => Promise.reject(new Error('no login for root-password-1'));
    await expect(session.verify(signal())).rejects.toMatchObject({
      code: 'verification_failed',
      message: 'error verifying connection: no login for [password]',
    });
  });

  test('a call whose signal is aborted rejects at once; its connection is not given to anybody else', async () => {
    const reason = new Error('too late');
    await expect(create(['X'], [], AbortSignal.abort(reason))).rejects.toBe(reason);
    expect(driver.sent).toEqual([]);
    const controller = new AbortController();
    driver.running = async () => {
      controller.abort(reason);
      await never();
    };
    await expect(create(['X'], [], controller.signal)).rejects.toBe(reason);
    expect(driver.destroyed).toEqual([1]);
  });

  test('a connection that comes too late is returned', async () => {
    const controller = new AbortController();
    let arrive!: (client: Client) => void;
    driver.dialling = () => new Promise<Client>((resolve) => (arrive = resolve));
    const creating = create(['X'], [], controller.signal);
    await new Promise((resolve) => setImmediate(resolve));
    controller.abort(new Error('too late'));
    await expect(creating).rejects.toThrow('too late');
    arrive({ id: 7 });
    await new Promise((resolve) => setImmediate(resolve));
    expect(session.pool()).toMatchObject({ open: 1, idle: 1 });
    expect(driver.destroyed).toEqual([]);
  });

  describe('undo', () => {
    test('runs before a failed creation rejects', async () => {
      driver.running = async ([first]) => {
        if (first === 'X') throw new Refused('no');
      };
      await expect(create(['X'], ['UNDO "{{name}}"'])).rejects.toThrow('failed to execute query: no');
      expect(driver.sent).toEqual(['X', `UNDO "o'u"""`]);
    });

    test('is logged when it fails, without the password, and the first failure counts', async () => {
      driver.running = ([first]) => Promise.reject(new Refused(first === 'X' ? 'first' : 'second new-password-1'));
      await expect(create(['X'], ['UNDO'])).rejects.toThrow('first');
      expect(logged).toEqual(['rollback statements failed {"error":"failed to execute query: second [new password]"}']);
    });

    test('keeps nobody waiting who has given up, but close waits for it', async () => {
      const controller = new AbortController();
      let undone!: () => void;
      driver.running = async ([first]) => {
        if (first !== 'X') return new Promise<void>((resolve) => (undone = resolve));
        controller.abort(new Error('too late'));
        return never();
      };
      await expect(create(['X'], ['UNDO'], controller.signal)).rejects.toThrow('too late');
      await new Promise((resolve) => setImmediate(resolve));
      const closing = session.close();
      await new Promise((resolve) => setImmediate(resolve));
      expect(driver.ended).toEqual([]);
      undone();
      await closing;
      expect(driver.ended).toEqual([2]);
    });
  });

  test('close ends the connections once, and every later call rejects', async () => {
    await session.verify(signal());
    await session.close();
    await session.close();
    expect(driver.ended).toEqual([1]);
    for (const call of [
      session.verify(signal()),
      create(['X'], ['UNDO']),
      session.updateUser({ username: 'u', credential, statements: none, signal: signal() }),
      session.renewUser({ username: 'u', expiresAt, statements: none, signal: signal() }),
      session.deleteUser({ username: 'u', statements: none, signal: signal() }),
    ])
      await expect(call).rejects.toMatchObject({ code: 'session_closed' });
    expect(driver.sent).toEqual(['SELECT 1']);
  });
});
