import { systemClock, waitAtMost, type EngineHost, type ManagedAccount } from '@strongroom/engine-sdk';
import type { Connections } from './connections.ts';
import { recordsIn } from './records.ts';

/** The mounts of this process whose connections log in somewhere. */
const mounts = new Set<ConnectionUsers>();

/** How long a mount may take to tell, in milliseconds. */
const PATIENCE = 2_000;

/** The users that the connections of a mount log in as. Several may log in as one; but whoever changes its password must be one alone. */
export class ConnectionUsers {
  readonly #host: EngineHost;
  readonly #connections: Connections;
  #silent = false;

  constructor(host: EngineHost, connections: Connections) {
    this.#host = host;
    this.#connections = connections;
    mounts.add(this);
  }

  /** The mount is closed. */
  forget(): void {
    mounts.delete(this);
  }

  /** The connections of all mounts that log in as this account, in words, but for one: `the connection "pg" of db/`. */
  static async of(account: ManagedAccount, but?: { readonly mount: string; readonly connection: string }): Promise<string[]> {
    return (await Promise.all([...mounts].map(async (mount) => mount.#answer(account, but)))).flat();
  }

  /** A mount whose store does not answer holds up no other one, and is not asked again before it does. */
  async #answer(account: ManagedAccount, but: { readonly mount: string; readonly connection: string } | undefined): Promise<string[]> {
    if (this.#silent) return [];
    const asked = this.#of(account, but).catch(() => []);
    const answer = await waitAtMost(systemClock, PATIENCE, asked);
    if (answer !== undefined) return answer;
    this.#silent = true;
    void asked.then(() => (this.#silent = false));
    return [];
  }

  async #of(account: ManagedAccount, but: { readonly mount: string; readonly connection: string } | undefined): Promise<string[]> {
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
