import type { MongoClient } from 'mongodb';
import type { PoolStatus } from '@strongroom/database-sdk';

/** Counts a client's connections by the events of its pools. */
export class PoolWatch {
  readonly #client: MongoClient;
  readonly #open = new Set<string>();
  readonly #busy = new Set<string>();
  #waiting = 0;

  constructor(client: MongoClient) {
    this.#client = client;
    const key = ({ address, connectionId }: { address: string; connectionId: number | '<monitor>' }): string =>
      `${address} ${connectionId}`;
    client.on('connectionReady', (event) => void this.#open.add(key(event)));
    client.on('connectionClosed', (event) => {
      this.#open.delete(key(event));
      this.#busy.delete(key(event));
    });
    client.on('connectionCheckOutStarted', () => void this.#waiting++);
    client.on('connectionCheckOutFailed', () => void this.#waiting--);
    client.on('connectionCheckedOut', (event) => {
      this.#waiting--;
      this.#busy.add(key(event));
    });
    client.on('connectionCheckedIn', (event) => void this.#busy.delete(key(event)));
  }

  status(): PoolStatus {
    const open = this.#open.size;
    return { open, idle: open - this.#busy.size, waiting: this.#waiting, limit: this.#client.options.maxPoolSize };
  }
}
