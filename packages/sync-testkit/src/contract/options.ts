import type { SyncDestinationPlugin } from '@strongroom/sync-sdk';
import type { Static, TObject } from 'typebox';
import type { SyncContractCase } from './cases.ts';

/** Jest's, Vitest's or node:test's own functions. */
export interface Runner {
  describe(name: string, body: () => void): unknown;
  test(name: string, body: () => Promise<void>): unknown;
}

/** A case that does not apply, and why. The reason is printed with every run. */
export interface Skip {
  readonly test: SyncContractCase;
  readonly reason: string;
}

/** A secret as the provider holds it. */
export interface OutsideSecret {
  readonly value: string;
  /** Tags or labels, where the provider has them. */
  readonly tags?: Readonly<Record<string, string>>;
}

/**
 * The provider, seen and changed from outside the plugin: as its console would. Names are the plugin's remote names. The kit works with names
 * that begin with `kit` after normalisation, and leaves others alone.
 */
export interface Outside {
  /** Undefined for what is not there, or is soft-deleted. */
  read(name: string): Promise<OutsideSecret | undefined>;
  /** Somebody else creates or changes a secret. Leaves tags that are there alone, and sets none. */
  write(name: string, value: string): Promise<void>;
  /** Somebody else deletes a secret for good, so that its name is free. */
  remove(name: string): Promise<void>;
  /** Somebody else deletes a secret, which can then be brought back. Absent where the provider knows no such thing. */
  softDelete?(name: string): Promise<void>;
  /** How many requests have reached the provider. Needed to see that nothing is tried twice. */
  requests?(): number | Promise<number>;
  /**
   * The next requests (until `heal`) are answered so: `throttled` with a pause of 7 seconds unless `asksForNoPause`, `failing` with a
   * 5xx or its like, `hanging` never.
   */
  fail?(how: 'throttled' | 'failing' | 'hanging'): Promise<void> | void;
  heal?(): Promise<void> | void;
  /** Its protocol has nothing by which it could name the seconds of a pause. */
  readonly asksForNoPause?: true;
}

/** The plugin under test, and the provider from both sides. */
export interface SyncContractOptions<C extends TObject, A extends TObject = TObject> {
  readonly plugin: SyncDestinationPlugin<C, A>;
  /** Good settings of a connection, as stored; a function if they are known only once the server runs. Called for every case. */
  readonly config: Static<C> | (() => Static<C> | Promise<Static<C>>);
  /** The shared account that the connection names. */
  readonly account?: Static<A>;
  readonly outside: Outside;
  /** The same settings with credentials that the provider refuses. */
  wrongCredentials?(good: Static<C>): Static<C> | Promise<Static<C>>;
  /** The same settings, but at an address where nothing listens (`http://127.0.0.1:1`, say). */
  unreachable?(good: Static<C>): Static<C> | Promise<Static<C>>;
  /** The same settings with something wrong that `check` sees. */
  malformed?(good: Static<C>): Static<C> | Promise<Static<C>>;
  /** Certificates (PEM) that the plugin's connections trust besides the usual ones: for a server of the tests' own. */
  readonly ca?: string;
  /** How many secrets the case of `list` makes: more than one page. Default 25. */
  readonly listed?: number;
  readonly skip?: readonly Skip[];
}
