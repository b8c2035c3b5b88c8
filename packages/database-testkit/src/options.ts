import type { Credential, DatabasePlugin } from '@strongroom/database-sdk';
import type { Static, TObject } from 'typebox';
import type { ContractCase } from './cases.ts';

/** Jest's, Vitest's or node:test's own functions. */
export interface Runner {
  describe(name: string, body: () => void): unknown;
  test(name: string, body: () => Promise<void>): unknown;
}

/** A case that does not apply, and why. The reason is printed with every run. */
export interface Skip {
  readonly test: ContractCase;
  readonly reason: string;
}

/** The plugin under test, and the way to its database. */
export interface ContractOptions<C extends TObject> {
  readonly plugin: DatabasePlugin<C>;
  /** Good settings of a connection; a function if they are known only once the server runs. Called for every case. */
  readonly config: Static<C> | (() => Static<C> | Promise<Static<C>>);
  /** The same settings with a wrong root password. By default `password` is replaced. */
  wrongConfig?(good: Static<C>): Static<C>;
  /** Logs in to the database as the user; rejects if the database refuses. `secret` is what `credential` handed out, or the password. */
  login(username: string, secret: string): Promise<unknown>;
  /** Statements that create a user who can log in, expiring at `{{expiration}}` where the database knows expiry. */
  readonly creation: readonly string[];
  /** Statements of which the last fails. By default `creation` and a line of nonsense. */
  readonly failing?: readonly string[];
  /** Creation statements that take half a minute or more. Needed for the case of an aborted signal. */
  readonly slow?: readonly string[];
  /** Restarts the server; resolved once it answers again. Needed for the case of a dropped server. */
  restart?(): Promise<void>;
  /** Makes a new credential. By default a random password. */
  credential?(username: string): Promise<{ credential: Credential; secret: string }>;
  readonly skip?: readonly Skip[];
}
