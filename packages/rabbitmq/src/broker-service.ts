import { randomUUID } from 'node:crypto';
import {
  InvalidRequest,
  requireSecretsAgain,
  TooManyRequests,
  WatchedCircuit,
  type EngineHost,
  type EnginePool,
  type Transaction,
} from '@strongroom/engine-sdk';
import { holderIn, otherManager, requireSettledRotation, requireSudoForPasswords } from '@strongroom/rotation';
import { Broker } from './broker.ts';
import { BrokerFailed, textOf } from './broker-failed.ts';
import { addressOf, changesRoot, keptSecrets, mergeConnection, secretMoves, type Connection, type SentConnection } from './connection.ts';
import { CONNECTION, recordsIn, type Records } from './records.ts';

/** How the registry of managed accounts and refusals call the rotation of the managing user's password; never changed. */
export const ROOT_MANAGER = 'the root credential';

/** A write of the connection. */
export interface ConnectionWrite {
  readonly sent: SentConnection;
  readonly supplied: ReadonlySet<string>;
  /** The caller may have stored secrets sent elsewhere. */
  readonly sudo: boolean;
  /** Log in before anything is stored. */
  readonly verify: boolean;
  readonly signal: AbortSignal;
}

/** The rotation of the managing user's password, as far as the connection depends on it. */
export interface BrokerRoot {
  /** Finds out which password is taken while that is open, as far as that can be told now. */
  settle(connection: Connection): Promise<Connection>;
  /** Stores a connection over the one before. */
  store(tx: Transaction, next: Connection, before: Connection | undefined): Promise<void>;
}

/** The connection of a mount: one broker until its next write. */
export class BrokerService {
  /** What leases, intents and jobs of the mount have as their target. */
  readonly target: string;
  readonly circuit: WatchedCircuit;
  readonly #host: EngineHost;
  #open: { readonly edition: string; readonly broker: Broker } | undefined;
  /** Rotates the password of the managing user; set where that is made. */
  root: BrokerRoot | undefined;

  constructor(host: EngineHost) {
    this.#host = host;
    this.target = `the RabbitMQ of ${host.mount.accessor}`;
    this.circuit = new WatchedCircuit(host.circuit(this.target), host.clock, textOf);
  }

  async read(): Promise<Connection | undefined> {
    return recordsIn(this.#host.storage).connection.get(CONNECTION);
  }

  /** @throws InvalidRequest where there is none. */
  async require(): Promise<Connection> {
    const connection = await this.read();
    if (!connection) throw new InvalidRequest('RabbitMQ is not configured yet: write config/connection first');
    return connection;
  }

  /**
   * Stores the connection. @throws BadRequest for what cannot be stored, and for another address without the password, or where passwords of
   * static roles are stored; InvalidRequest for a login that
   * RabbitMQ refuses; BrokerFailed; TooManyRequests for another user or password while the password is being rotated.
   */
  async write({ sent, supplied, sudo, verify, signal }: ConnectionWrite): Promise<Connection> {
    const edition = randomUUID();
    if (verify) {
      const stored = await this.read();
      const next = mergeConnection(stored, sent, edition);
      if (stored) await requireNoMoves(recordsIn(this.#host.storage), { before: stored, next, supplied, sudo });
      await this.verify(next, signal);
    }
    const written = await this.#host.storage.transaction(async (tx) => {
      const records = recordsIn(tx);
      const before = await records.connection.get(CONNECTION);
      const next = mergeConnection(before, sent, edition);
      if (before) {
        await requireNoMoves(records, { before, next, supplied, sudo });
        const changed = changesRoot(before, next);
        if (changed) this.#requireQuiet(before, `${changed} cannot be changed`);
      }
      const claimed = before?.root?.managed_account;
      if (claimed && !next.root && (await otherManager(tx, claimed, ROOT_MANAGER)) === undefined) await tx.release(claimed, ROOT_MANAGER);
      await this.root!.store(tx, next, before);
      return next;
    });
    // What was wrong may be mended.
    await this.#host.retry(this.target);
    return written;
  }

  /** Logs in as the managing user. @throws InvalidRequest where it may not manage users, BrokerFailed */
  async verify(connection: Connection, signal: AbortSignal): Promise<void> {
    const { username } = connection;
    const broker = this.apart(connection);
    try {
      const { result, tags, reason } = await broker.login(signal);
      const user = JSON.stringify(username);
      const refused = (why: string): InvalidRequest => new InvalidRequest(`failed to validate the connection: ${why}`);
      if (result === 'refused') throw refused(`RabbitMQ answers 401 Unauthorized to username ${user} and password (${reason})`);
      if (!tags.includes('administrator')) {
        throw refused(`the user ${user} needs the tag administrator to manage others${reason === '' ? '' : ` (${reason})`}`);
      }
    } catch (error) {
      if (!(error instanceof BrokerFailed)) throw error;
      const { outcome, answered, cause } = error;
      throw new BrokerFailed(`failed to validate the connection: ${error.message}`, outcome, { answered, cause });
    } finally {
      broker.close();
    }
  }

  /** Lends the broker of the present connection. @throws InvalidRequest where there is none. */
  async use<T>(work: (broker: Broker, connection: Connection) => Promise<T>): Promise<T> {
    const stored = await this.require();
    return this.useAsIs(await this.settled(stored), work);
  }

  /** The connection with the password that is taken, as far as that can be told now. */
  async settled(connection: Connection): Promise<Connection> {
    return connection.root?.pending && this.root ? this.root.settle(connection) : connection;
  }

  /** As `use`, for a connection whose password may be in doubt. */
  async useAsIs<T>(connection: Connection, work: (broker: Broker, connection: Connection) => Promise<T>): Promise<T> {
    // A rotation changes the password without a write.
    const edition = `${connection.edition} ${connection.root?.last_rotation ?? 0}`;
    if (this.#open?.edition !== edition) {
      this.#open?.broker.retire();
      this.#open = { edition, broker: this.#broker(connection) };
    }
    return this.#open.broker.lend(async (broker) => work(broker, connection));
  }

  /** A broker for a connection that need not be stored; whoever asks for it closes it. Its failures are not those of the mount's. */
  apart(connection: Connection): Broker {
    const circuit = { call: async <T>(_signal: AbortSignal, work: () => Promise<T>): Promise<T> => work(), isBackground: () => true };
    return new Broker(addressOf(connection), { clock: this.#host.clock, circuit });
  }

  pools(): readonly EnginePool[] {
    return this.#open?.broker.pool(this.target) ?? [];
  }

  close(): void {
    this.#open?.broker.close();
    this.#open = undefined;
  }

  #broker(connection: Connection): Broker {
    return new Broker(addressOf(connection), { clock: this.#host.clock, circuit: this.circuit });
  }

  #requireQuiet({ root }: Connection, refused: string): void {
    if (root?.pending === undefined || root.pending.until <= this.#host.clock.millis()) return;
    throw new TooManyRequests(`${refused} while the password is being rotated; try again`, { headers: { 'Retry-After': '1' } });
  }
}

interface MoveOfSecrets {
  readonly before: Connection;
  readonly next: Connection;
  readonly supplied: ReadonlySet<string>;
  readonly sudo: boolean;
}

/** Stored secrets stay at their address. @throws BadRequest */
async function requireNoMoves(records: Records, { before, next, supplied, sudo }: MoveOfSecrets): Promise<void> {
  const changed = secretMoves(before, next);
  requireSecretsAgain({ changed, kept: keptSecrets(before, supplied), sudo });
  requireSettledRotation({ changed, open: next.root?.pending !== undefined, secret: 'password', sudo });
  const holder = async (): Promise<string | undefined> => {
    const role = await holderIn(records.staticRoles);
    return role === undefined ? undefined : `static role "${role}"`;
  };
  await requireSudoForPasswords({ changed, holder, sudo });
}
