import type { EngineHost, ManagedAccount } from '@strongroom/engine-sdk';
import { Neighbours } from '@strongroom/rotation';
import type { Connections } from './connections.ts';
import { recordsIn } from './records.ts';

interface Question {
  readonly account: ManagedAccount;
  readonly but: { readonly mount: string; readonly connection: string } | undefined;
}

/** The mounts of this process whose connections log in somewhere. */
const mounts = new Neighbours<Question>();

/** The users that the connections of a mount log in as. Several may log in as one; but whoever changes its password must be one alone. */
export class ConnectionUsers {
  readonly #host: EngineHost;
  readonly #connections: Connections;
  readonly #leave: () => void;

  constructor(host: EngineHost, connections: Connections) {
    this.#host = host;
    this.#connections = connections;
    this.#leave = mounts.join(async (question) => this.#of(question));
  }

  /** The mount is closed. */
  forget(): void {
    this.#leave();
  }

  /** The connections of all mounts that log in as this account, in words, but for one: `the connection "pg" of db/`. */
  static async of(account: ManagedAccount, but?: { readonly mount: string; readonly connection: string }): Promise<string[]> {
    return mounts.ask({ account, but });
  }

  async #of({ account, but }: Question): Promise<string[]> {
    const { path } = this.#host.mount;
    const found: string[] = [];
    for (const [name, record] of await recordsIn(this.#host.storage).connections.entries()) {
      if (but?.mount === path && but.connection === name) continue;
      const own = this.#connections.ownAccount({ name, record });
      if (own?.system === account.system && own.name === account.name) found.push(`the connection "${name}" of ${path}`);
    }
    return found;
  }
}

/** How a static role is called in refusals. */
export function staticRoleCalled(name: string): string {
  return `static role "${name}"`;
}

/** How the root credential of a connection is called in refusals. */
export function rootCalled(connection: string): string {
  return `the root credential of connection "${connection}"`;
}
