import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { isDatabaseError } from '@strongroom/database-sdk';
import { type ConnectionDriver, type KnexPool, openKnexPool, poolSettings, retire } from '../src/index.ts';

/** A connection whose statements end when the test says so. */
class Connection extends EventEmitter {
  readonly number: number;
  fate: 'open' | 'ended' | 'destroyed' = 'open';
  inTransaction = false;
  constructor(number: number) {
    super();
    this.number = number;
  }
}

const LOST = new Error('the connection is lost');
const never = new AbortController().signal;

let made: Connection[];
let cancelled: number[];
let stop: Map<Connection, (error: Error) => void>;
let pool: KnexPool<Connection>;

const driver: ConnectionDriver<Connection> = {
  client: 'pg',
  dial: async () => {
    made.push(new Connection(made.length + 1));
    return made.at(-1)!;
  },
  onEnd: (connection, listener) => void connection.on('end', listener),
  end: async (connection) => void (connection.fate = 'ended'),
  destroy: (connection) => void (connection.fate = 'destroyed'),
  cancel: (connection) => {
    cancelled.push(connection.number);
    stop.get(connection)?.(new Error('cancelled'));
  },
  isLost: (error) => error === LOST,
  isClean: (connection) => !connection.inTransaction,
};

const numberOf = async (connection: Connection): Promise<number> => connection.number;
const working = (connection: Connection): Promise<never> => new Promise((_resolve, reject) => stop.set(connection, reject));
const open = async (limits: Parameters<typeof poolSettings>[0] = {}): Promise<void> => {
  pool = await openKnexPool(driver, poolSettings(limits));
};
const settled = async (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

beforeEach(async () => {
  [made, cancelled, stop] = [[], [], new Map<Connection, (error: Error) => void>()];
  await open();
});
afterEach(async () => pool.close());

describe('a pool kept by knex', () => {
  test('connects to nothing before it is used, and then uses what it has', async () => {
    expect(made).toHaveLength(0);
    expect(await pool.use(never, numberOf)).toBe(1);
    expect(await pool.use(never, numberOf)).toBe(1);
    expect(pool.status()).toEqual({ open: 1, idle: 1, waiting: 0, limit: 4 });
  });

  test('max_open_connections bounds it, and callers wait for their turn', async () => {
    await open({ max_open_connections: 1 });
    const first = pool.use(never, working);
    const second = pool.use(never, numberOf);
    await settled();
    expect(pool.status()).toEqual({ open: 1, idle: 0, waiting: 1, limit: 1 });
    stop.get(made[0]!)!(new Error('refused'));
    await expect(first).rejects.toThrow('refused');
    expect(await second).toBe(1);
  });

  test('max_idle_connections: what is idle beyond it is closed', async () => {
    await open({ max_open_connections: 2, max_idle_connections: 1 });
    const both = [pool.use(never, working), pool.use(never, working)];
    await settled();
    for (const connection of made) stop.get(connection)!(new Error('refused'));
    await Promise.allSettled(both);
    expect(made.map(({ fate }) => fate).sort()).toEqual(['destroyed', 'open']);
    expect(pool.status()).toMatchObject({ open: 1, idle: 1 });
  });

  test('max_connection_lifetime: an older connection is ended before its next use', async () => {
    await open({ max_connection_lifetime: '1s' });
    await pool.use(never, numberOf);
    Object.assign(made[0]!, { __knexLifetimeLimit: 1 });
    expect(await pool.use(never, numberOf)).toBe(2);
    expect(made[0]!.fate).toBe('ended');
  });

  test('max_connection_lifetime that is no duration is refused by name', () => {
    const refused = (): unknown => poolSettings({ max_connection_lifetime: 'soon' });
    expect(refused).toThrow('max_connection_lifetime must be a duration, such as "30m"');
  });

  test('a deadline rejects at once, has the statement cancelled and the connection thrown away', async () => {
    const deadline = new AbortController();
    const running = pool.use(deadline.signal, working);
    await settled();
    deadline.abort(new Error('too late'));
    await expect(running).rejects.toThrow('too late');
    expect(cancelled).toEqual([1]);
    await settled();
    expect(made[0]!.fate).toBe('destroyed');
    expect(await pool.use(never, numberOf)).toBe(2);
  });

  test('who gives up while waiting leaves the connection to others', async () => {
    await open({ max_open_connections: 1 });
    const first = pool.use(never, working);
    const deadline = new AbortController();
    const second = pool.use(deadline.signal, working);
    await settled();
    deadline.abort(new Error('too late'));
    await expect(second).rejects.toThrow('too late');
    stop.get(made[0]!)!(new Error('refused'));
    await expect(first).rejects.toThrow('refused');
    expect(await pool.use(never, numberOf)).toBe(1);
  });

  test('connections that failed, were closed by the server, are inside a transaction or were retired serve nobody else', async () => {
    const spoil: ((connection: Connection) => Promise<unknown>)[] = [
      async () => Promise.reject(LOST),
      async (connection) => connection.emit('end'),
      async (connection) => void (connection.inTransaction = true),
      async (connection) => retire(connection),
    ];
    for (const work of spoil) await pool.use(never, work).catch(() => undefined);
    expect(await pool.use(never, numberOf)).toBe(spoil.length + 1);
    expect(pool.status()).toMatchObject({ open: 1 });
  });

  test('an error that is the statement’s own keeps the connection', async () => {
    await expect(pool.use(never, async () => Promise.reject(new Error('syntax')))).rejects.toThrow('syntax');
    expect(await pool.use(never, numberOf)).toBe(1);
  });

  test('close ends what is idle, and later calls learn that the session is closed', async () => {
    await pool.use(never, numberOf);
    await pool.close();
    expect(made[0]!.fate).toBe('ended');
    const late = await pool.use(never, numberOf).catch((error: unknown) => error);
    expect(isDatabaseError(late, 'session_closed')).toBe(true);
  });
});
