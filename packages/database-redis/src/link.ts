import { createClient, ErrorReply } from 'redis';
import {
  abortable,
  ConnectionLost,
  type PoolStatus,
  redact,
  SessionClosed,
  driverErrorText,
  type LoginFailure,
} from '@strongroom/database-sdk';
import type { RedisSettings } from './settings.ts';

const CONNECT_TIMEOUT_MS = 10_000;
/** How long commands of others may take on a connection that is given up. */
const GRACE_MS = 2_000;

const quiet = (): void => undefined;

type Client = ReturnType<typeof makeClient>;

interface Connection {
  readonly dialing: Promise<Client>;
  /** Once it is made. */
  client: Client | undefined;
}

/** One connection, which takes any number of commands at a time. Made before the first command, and again after it was lost. */
export class RedisLink {
  readonly #settings: RedisSettings;
  readonly #alive = new Set<Client>();
  #current: Connection | undefined;
  #underWay = 0;
  #closing: Promise<void> | undefined;

  constructor(settings: RedisSettings) {
    this.#settings = settings;
  }

  /** Rejects with what the server answered, with ConnectionLost, or with the reason of `signal`. */
  async send(signal: AbortSignal, command: readonly string[]): Promise<unknown> {
    this.#requireOpen();
    signal.throwIfAborted();
    const client = await abortable(signal, this.#connection());
    this.#underWay++;
    try {
      return await abortable(signal, client.sendCommand([...command]), () => this.#giveUp(client));
    } finally {
      this.#underWay--;
    }
  }

  /** Makes a connection and logs in; it is kept if there is no other. Rejects with ConnectionLost or with the reason of `signal`. */
  async login(signal: AbortSignal): Promise<void> {
    this.#requireOpen();
    signal.throwIfAborted();
    const dialing = this.#dial();
    if (!this.#current) {
      await abortable(signal, this.#keep(dialing).dialing);
      return;
    }
    const hangUp = (): void => void dialing.then((client) => this.#end(client, true), quiet);
    await abortable(signal, dialing).finally(hangUp);
  }

  pool(): PoolStatus {
    const open = this.#current?.client ? 1 : 0;
    return { open, idle: this.#underWay > 0 ? 0 : open, waiting: 0, limit: 1 };
  }

  /** Waits for commands under way, but not for a server that does not answer. */
  close(): Promise<void> {
    this.#closing ??= Promise.all([...this.#alive].map((client) => this.#end(client, false))).then(quiet);
    return this.#closing;
  }

  #requireOpen(): void {
    if (this.#closing) throw new SessionClosed();
  }

  #connection(): Promise<Client> {
    return (this.#current ?? this.#keep(this.#dial())).dialing;
  }

  /** For all commands from now on, until it is lost. */
  #keep(dialing: Promise<Client>): Connection {
    const kept: Connection = { dialing, client: undefined };
    this.#current = kept;
    const forget = (): void => {
      if (this.#current === kept) this.#current = undefined;
    };
    dialing.then((client) => {
      kept.client = client.on('terminated', forget).on('end', forget);
    }, forget);
    return kept;
  }

  async #dial(): Promise<Client> {
    const { host, port, username, tls, secrets } = this.#settings;
    const client = makeClient(this.#settings);
    this.#alive.add(client);
    client.on('terminated', () => this.#alive.delete(client));
    const limit = AbortSignal.timeout(CONNECT_TIMEOUT_MS);
    try {
      await abortable(limit, client.connect(), () => client.destroy());
    } catch (error) {
      this.#alive.delete(client);
      this.#requireOpen();
      const reason = limit.aborted ? `no answer${tls ? ' to TLS' : ''} within ${CONNECT_TIMEOUT_MS / 1000} s` : driverErrorText(error);
      throw new ConnectionLost(redact(`failed to connect to ${host}:${port} as ${username ?? 'default'}: ${reason}`, secrets), {
        login: limit.aborted ? 'unreachable' : loginFailure(error),
      });
    }
    if (this.#closing) {
      await this.#end(client, true);
      throw new SessionClosed();
    }
    return client;
  }

  /** A command was abandoned, perhaps because the server hangs: nobody else shall wait behind it. */
  #giveUp(client: Client): void {
    if (this.#current?.client === client) this.#current = undefined;
    void this.#end(client, false);
  }

  async #end(client: Client, atOnce: boolean): Promise<void> {
    this.#alive.delete(client);
    if (atOnce || !client.isReady) return client.destroy();
    const cut = setTimeout(() => client.destroy(), GRACE_MS).unref();
    await client.close().catch(quiet);
    clearTimeout(cut);
  }
}

/** The server's answer to a login is WRONGPASS, also for a user that is off; LOADING and its like are none. */
function loginFailure(error: unknown): LoginFailure {
  if (!(error instanceof ErrorReply)) return 'unreachable';
  return /^(?:WRONGPASS|NOAUTH)\b/.test(error.message) ? 'credential' : 'unreachable';
}

function makeClient({ host, port, tls, username, password }: RedisSettings) {
  const socket = { host, port, connectTimeout: CONNECT_TIMEOUT_MS, reconnectStrategy: false as const };
  const client = createClient({
    RESP: 2,
    disableOfflineQueue: true,
    disableClientInfo: true,
    socket: tls ? { ...socket, ...tls, tls: true } : socket,
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
  });
  client.on('error', quiet);
  return client;
}
