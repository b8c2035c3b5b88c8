import { Unavailable, type Circuit, type Clock } from '@strongroom/engine-sdk';
import { ApiServer, type ApiServerAddress } from './api-server.ts';

/** An open API server, and who uses it. */
interface Opened {
  readonly key: string;
  readonly api: ApiServer;
  users: number;
}

/**
 * The API server of a mount. Its connections stay open until a call comes with another address; calls that are under way then end on the old ones, and the
 * circuit breaker starts again.
 */
export class ApiServers {
  readonly #clock: Clock;
  readonly #circuit: Circuit;
  readonly #opened = new Set<Opened>();
  #present: Opened | undefined;
  #closed = false;

  constructor(circuit: Circuit, clock: Clock) {
    circuit.configure({ threshold: 5, pause: 2_000, longestPause: 15_000 });
    this.#circuit = circuit;
    this.#clock = clock;
  }

  /** @throws Unavailable once the mount is closed, and what the work throws */
  async use<T>(address: ApiServerAddress, work: (api: ApiServer) => Promise<T>): Promise<T> {
    if (this.#closed) throw new Unavailable('the mount is closed');
    const opened = this.#open(address);
    opened.users += 1;
    try {
      return await work(opened.api);
    } finally {
      opened.users -= 1;
      this.#closeIfDone(opened);
    }
  }

  /** Ends everything, also what is under way. */
  close(): void {
    this.#closed = true;
    this.#present = undefined;
    for (const { api } of this.#opened) api.close();
    this.#opened.clear();
  }

  #open(address: ApiServerAddress): Opened {
    const key = JSON.stringify([address.url, address.ca]);
    const present = this.#present;
    if (present?.key === key) return present;
    const opened: Opened = { key, api: new ApiServer(address, { clock: this.#clock, circuit: this.#circuit }), users: 0 };
    this.#opened.add(opened);
    this.#present = opened;
    if (present) {
      this.#circuit.reset();
      this.#closeIfDone(present);
    }
    return opened;
  }

  #closeIfDone(opened: Opened): void {
    if (opened === this.#present || opened.users > 0 || !this.#opened.delete(opened)) return;
    opened.api.close();
  }
}
