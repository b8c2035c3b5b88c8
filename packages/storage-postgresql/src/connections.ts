import knex from 'knex';
import type { Knex } from 'knex';
import { Client } from 'pg';
import type { ClientConfig, QueryResult, QueryResultRow } from 'pg';
import { StorageFailure } from '@strongroom/storage-sdk';
import { asFailure, isAnswer, NAME } from './failure.ts';

export type Query = <Row extends QueryResultRow>(text: string, values?: readonly unknown[]) => Promise<QueryResult<Row>>;

const CONNECT_MS = 10_000;
const QUERY_MS = 60_000;
const silent = (): void => undefined;

/** The pool. A connection that fails is thrown away, so that the next use gets a new one. */
export class Connections {
  readonly #knex: Knex;
  readonly #config: ClientConfig;
  readonly #secrets: readonly string[];

  /** @throws StorageFailure when the connection URL is none. */
  constructor(connectionUrl: string, poolSize: number) {
    this.#secrets = secretsOf(connectionUrl);
    this.#config = {
      connectionString: connectionUrl,
      connectionTimeoutMillis: CONNECT_MS,
      query_timeout: QUERY_MS,
      keepAlive: true,
      application_name: 'strongroom',
    };
    this.#knex = knex({
      client: 'pg',
      connection: this.#config as Knex.StaticConnectionConfig,
      pool: { min: 0, max: poolSize },
      acquireConnectionTimeout: CONNECT_MS,
      log: { warn: silent, error: silent, debug: silent, deprecate: silent },
    });
  }

  failure(error: unknown): StorageFailure {
    return asFailure(error, this.#secrets);
  }

  /** Runs `work` on one connection. What it throws is passed on as it is. */
  async use<T>(work: (query: Query) => Promise<T>): Promise<T> {
    const client = this.#knex.client as Knex.Client;
    const connection = (await client.acquireConnection()) as Client & { __knex__disposed?: unknown };
    try {
      return await work((text, values) => connection.query(text, values ? [...values] : undefined));
    } catch (error) {
      // After an error in a transaction, or without an answer, nobody knows the connection's state.
      if (!isAnswer(error)) connection.__knex__disposed = error;
      throw error;
    } finally {
      await client.releaseConnection(connection);
    }
  }

  /** A read, once more when its connection turns out to be dead: a pool keeps connections that the server has closed. @throws StorageFailure */
  async read<Row extends QueryResultRow>(text: string, values: readonly unknown[]): Promise<Row[]> {
    const once = async (): Promise<Row[]> => (await this.use((query) => query<Row>(text, values))).rows;
    try {
      return await once().catch((error: unknown) => {
        if (isAnswer(error)) throw error;
        return once();
      });
    } catch (error) {
      throw this.failure(error);
    }
  }

  /** A connection beside the pool, not yet connected. */
  single(): Client {
    return new Client(this.#config);
  }

  async close(): Promise<void> {
    await this.#knex.destroy();
  }
}

function secretsOf(connectionUrl: string): string[] {
  let url: URL;
  try {
    url = new URL(connectionUrl);
  } catch {
    throw new StorageFailure(NAME, 'the connection URL is not a URL');
  }
  if (!/^postgres(ql)?:$/.test(url.protocol)) throw new StorageFailure(NAME, 'the connection URL does not begin with postgresql://');
  return [connectionUrl, url.password, decodeURIComponent(url.password), url.searchParams.get('password') ?? ''];
}
