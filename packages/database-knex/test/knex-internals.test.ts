import { expect, test } from '@jest/globals';
import knex from 'knex';

/**
 * The pool stands on parts of knex that its documentation does not name. When knex changes them, this test fails before operators notice, and says
 * what to do. `storage-postgresql` marks the connections of its own pool by the same property.
 */
const WHAT_TO_DO = {
  hooks:
    "KnexPool (src/knex-pool.ts) replaces the client's acquireRawConnection, validateConnection and destroyRawConnection. Where knex has other names for them, " +
    'rename them there; where it has none any more, build the pool on tarn itself, which is what knex uses.',
  disposed:
    'Connections with __knex__disposed must not be used again: storage-postgresql (src/connections.ts) sets it for connections whose transaction has an unknown ' +
    'outcome. Where knex has another mark, set that; where it has none, have validateConnection look into a set of our own, as KnexPool does.',
};

interface RawConnection {
  readonly number: number;
  __knex__disposed?: unknown;
}

interface Client {
  acquireRawConnection(): Promise<RawConnection>;
  destroyRawConnection(connection: RawConnection): Promise<void>;
  validateConnection(connection: RawConnection): boolean;
  acquireConnection(): Promise<RawConnection>;
  releaseConnection(connection: RawConnection): Promise<void>;
  readonly pool?: { numFree(): number; numPendingAcquires(): number };
}

const quiet = (): void => undefined;

function open() {
  const pool = knex({
    client: 'pg',
    connection: {},
    log: { warn: quiet, error: quiet, debug: quiet, deprecate: quiet },
    pool: { min: 0, max: 2 },
  });
  const client = pool.client as Client;
  const calls: string[] = [];
  let made = 0;
  client.acquireRawConnection = async () => {
    calls.push(`make ${++made}`);
    return { number: made };
  };
  client.destroyRawConnection = async ({ number }) => void calls.push(`destroy ${number}`);
  return { pool, client, calls };
}

test('knex asks the hooks of its client for connections, whether they are valid, and to destroy them', async () => {
  const { pool, client, calls } = open();
  const invalid = new Set<number>();
  client.validateConnection = ({ number }) => !invalid.has(number);
  const use = async (): Promise<number> => {
    const connection = await client.acquireConnection();
    await client.releaseConnection(connection);
    return connection.number;
  };
  const numbers = [await use(), await use()];
  const counted = { free: client.pool?.numFree(), waiting: client.pool?.numPendingAcquires() };
  invalid.add(1);
  numbers.push(await use());
  await pool.destroy();
  expect({ numbers, counted, calls: calls.sort(), hint: WHAT_TO_DO.hooks }).toEqual({
    numbers: [1, 1, 2],
    counted: { free: 1, waiting: 0 },
    calls: ['destroy 1', 'destroy 2', 'make 1', 'make 2'],
    hint: WHAT_TO_DO.hooks,
  });
});

test('knex gives a connection with __knex__disposed to nobody', async () => {
  const { pool, client } = open();
  client.validateConnection = () => true;
  const marked = await client.acquireConnection();
  marked.__knex__disposed = 'the outcome is unknown';
  await client.releaseConnection(marked);
  const next = await client.acquireConnection();
  await client.releaseConnection(next);
  await pool.destroy();
  expect({ numbers: [marked.number, next.number], hint: WHAT_TO_DO.disposed }).toEqual({ numbers: [1, 2], hint: WHAT_TO_DO.disposed });
});
