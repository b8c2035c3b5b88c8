import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from 'pg';
import { destroy, queryOf } from './connections.ts';
import type { Connections } from './connections.ts';
import type { Schema } from './schema.ts';

const LIMIT_MS = 5_000;
const SLOWEST_RETRY_MS = 5_000;
/** How long a notification to oneself may take at the start. */
const PROBE_MS = 2_000;

/**
 * Listens on a connection of its own, so that notifications are read at once and not within a second. Nothing depends on it: a pooler, or a
 * dead link that looks alive, only makes them slower.
 */
export class Listener {
  readonly #connections: Connections;
  readonly #schema: Schema;
  readonly #origin: string;
  readonly #notified: () => void;
  #client: Client | undefined;
  #timer: NodeJS.Timeout | undefined;
  #probed: (() => void) | undefined;
  #closed = false;

  constructor(connections: Connections, schema: Schema, origin: string, notified: () => void) {
    this.#connections = connections;
    this.#schema = schema;
    this.#origin = origin;
    this.#notified = notified;
  }

  /** @throws what pg throws, when the server cannot be reached. */
  async start(): Promise<void> {
    const client = await this.#connections.single({ purpose: 'listener', limitMs: LIMIT_MS });
    client.on('error', () => this.#lost(client));
    client.on('end', () => this.#lost(client));
    client.on('notification', ({ payload }) => this.#heard(payload ?? ''));
    try {
      await client.query(`LISTEN "${this.#schema.channel}"`);
    } catch (error) {
      destroy(client);
      throw error;
    }
    if (this.#closed) return destroy(client);
    this.#client = client;
    this.#pingLater(client);
    this.#notified();
  }

  /** Whether a notification by another connection arrives here: behind a pooler that shares sessions it does not. */
  async works(): Promise<boolean> {
    const waiting = new AbortController();
    const arrived = new Promise<boolean>((resolve) => (this.#probed = () => resolve(true)));
    await this.#connections.read('SELECT pg_notify($1, $2)', [this.#schema.channel, this.#origin]);
    const late = delay(PROBE_MS, false, { signal: waiting.signal }).catch(() => false);
    const works = await Promise.race([arrived, late]);
    waiting.abort();
    return works;
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    const client = this.#client;
    this.#client = undefined;
    if (client) destroy(client);
  }

  #heard(payload: string): void {
    const [origin] = payload.split(' ');
    if (origin === this.#origin) this.#probed?.();
    else this.#notified();
  }

  #pingLater(client: Client): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      queryOf(client)('SELECT 1').then(
        () => this.#client === client && this.#pingLater(client),
        () => this.#lost(client),
      );
    }, LIMIT_MS).unref();
  }

  #lost(client: Client): void {
    if (this.#closed || this.#client !== client) return;
    this.#client = undefined;
    destroy(client);
    this.#retry(100);
  }

  #retry(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      if (!this.#closed) this.start().catch(() => this.#retry(Math.min(ms * 2, SLOWEST_RETRY_MS)));
    }, ms).unref();
  }
}
