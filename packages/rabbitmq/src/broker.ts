import { foreignText, Unavailable, withDeadline, type Circuit, type Clock, type EnginePool } from '@strongroom/engine-sdk';
import type { Outcome } from '@strongroom/rotation';
import { BrokerFailed } from './broker-failed.ts';
import { isRecord, reasonIn, reasonOf, requireNames } from './broker-answer.ts';
import type { ManagementPool, PoolTls } from './management-pool.ts';

/** Connections to one broker, and calls that wait for one. More are refused. */
const LIMITS = { connections: 16, queued: 256 } as const;
/** How long a call may take, with its wait for a connection. */
const CALL_MILLIS = 10_000;
/** Bytes of an answer: the names of about half a million users. */
const LONGEST_ANSWER = 32 * 1024 * 1024;

/** Where the management API is, and who manages the users there. */
export interface BrokerAddress {
  /** With a path where the API is below one. */
  readonly uri: string;
  readonly tls: PoolTls | undefined;
  readonly login: BrokerLogin;
}

export interface BrokerLogin {
  readonly username: string;
  readonly password: string;
}

export interface BrokerParts {
  readonly clock: Clock;
  /** All calls of the mount share it. */
  readonly circuit: Pick<Circuit, 'call' | 'isBackground'>;
}

/** What a user may do in a virtual host: regular expressions. */
export interface VhostPermission {
  readonly configure: string;
  readonly write: string;
  readonly read: string;
}

/** The routing keys that a user may publish and consume with on a topic exchange: regular expressions. */
export interface TopicPermission {
  readonly write: string;
  readonly read: string;
}

/** Whether RabbitMQ takes a password. `unprovable`: it refuses the login for a reason that says nothing of the password. */
export type LoginResult = {
  readonly result: 'accepted' | 'refused' | 'unprovable';
  readonly tags: readonly string[];
  readonly reason: string;
};

/** A change of the broker, as it is sent. */
export interface BrokerChange {
  readonly method: 'PUT' | 'DELETE';
  readonly path: string;
  readonly body?: Readonly<Record<string, string>>;
  /** For messages: `to create the user "x"`. */
  readonly what: string;
}

interface Call {
  readonly method: 'GET' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly body?: Readonly<Record<string, string>>;
  readonly what: string;
  /** In place of the managing user's. */
  readonly login?: BrokerLogin;
}

interface Answer {
  readonly status: number;
  /** Undefined if it is not JSON. */
  readonly body: unknown;
  /** What RabbitMQ says of a failure. */
  readonly reason: string;
}

/** The management API of one RabbitMQ. All its calls share one pool of connections, one queue and one circuit breaker. */
export class Broker {
  readonly #address: BrokerAddress;
  readonly #parts: BrokerParts;
  #pool: Promise<ManagementPool> | undefined;
  #opened: ManagementPool | undefined;
  #underWay = 0;
  /** Works that go on, each of several calls. */
  #lent = 0;
  #isRetired = false;

  constructor(address: BrokerAddress, parts: BrokerParts) {
    this.#address = address;
    this.#parts = parts;
  }

  /** Tries a login; default the managing user's. @throws BrokerFailed, Unavailable, and the reason of the signal */
  async login(signal: AbortSignal, login: BrokerLogin = this.#address.login): Promise<LoginResult> {
    const what = `to log in as ${quoted(login.username)}`;
    return this.#call({ method: 'GET', path: '/api/whoami', what, login }, signal, ({ status, body, reason }) => {
      if (status === 200 && isRecord(body)) return { result: 'accepted', tags: tagsOf(body['tags']), reason: '' };
      if (status !== 401) throw unexpected(what, status, reason);
      if (reason === 'Login failed') return { result: 'refused', tags: [], reason };
      // These come after the password was checked: the user may use queues, but not the management API, or not from here.
      const known = /^(?:Not \w+ user|User can only log in via localhost)$/.test(reason);
      return { result: known ? 'accepted' : 'unprovable', tags: [], reason };
    });
  }

  /** The tags of a user; undefined where there is no such user. @throws as `login` */
  async tagsOf(username: string, signal: AbortSignal): Promise<readonly string[] | undefined> {
    const what = `to look up the user ${quoted(username)}`;
    return this.#call({ method: 'GET', path: userPath(username), what }, signal, (answer) => {
      if (isMissing(answer)) return undefined;
      const { status, body, reason } = answer;
      if (status !== 200 || !isRecord(body)) throw this.#refusal(what, status, reason);
      return tagsOf(body['tags']);
    });
  }

  /** Whether there is a virtual host. @throws as `login` */
  async hasVhost(vhost: string, signal: AbortSignal): Promise<boolean> {
    const what = `to look up the virtual host ${quoted(vhost)}`;
    const path = `/api/vhosts/${encodeURIComponent(vhost)}`;
    return this.#call({ method: 'GET', path, what }, signal, (answer) => {
      if (answer.status !== 200 && !isMissing(answer)) throw this.#refusal(what, answer.status, answer.reason);
      return answer.status === 200;
    });
  }

  /** The names of all users. @throws as `login` */
  async usernames(signal: AbortSignal): Promise<readonly string[]> {
    const what = 'to list the users';
    return this.#call({ method: 'GET', path: '/api/users?columns=name', what }, signal, ({ status, body, reason }) => {
      if (status !== 200) throw this.#refusal(what, status, reason);
      return requireNames(body, what);
    });
  }

  /** Makes a change. A deletion of what is not there is done. @throws as `login` */
  async change(change: BrokerChange, signal: AbortSignal): Promise<void> {
    await this.#call(change, signal, (answer) => {
      const { status, reason } = answer;
      if (status === 201 || status === 204) return;
      if (change.method === 'DELETE' && isMissing(answer)) return;
      throw this.#refusal(change.what, status, reason);
    });
  }

  /** The state of the pool, for metrics; none before the first call. */
  pool(target: string): readonly EnginePool[] {
    if (!this.#opened) return [];
    const { open } = this.#opened;
    const { connections: limit } = LIMITS;
    return [{ target, open, idle: Math.max(0, open - this.#underWay), waiting: Math.max(0, this.#underWay - limit), limit }];
  }

  /** Stays open for the work until that is done. */
  async lend<T>(work: (broker: Broker) => Promise<T>): Promise<T> {
    this.#lent += 1;
    try {
      return await work(this);
    } finally {
      this.#lent -= 1;
      this.#closeIfDone();
    }
  }

  /** Closes once the works that have it are done. */
  retire(): void {
    this.#isRetired = true;
    this.#closeIfDone();
  }

  #closeIfDone(): void {
    if (this.#isRetired && this.#lent === 0) this.close();
  }

  /** Ends what is under way. */
  close(): void {
    void this.#pool?.then((pool) => pool.close());
  }

  #refusal(what: string, status: number, reason: string): BrokerFailed {
    if (status !== 401 && status !== 403) return unexpected(what, status, reason);
    const { username } = this.#address.login;
    return new BrokerFailed(`RabbitMQ does not allow the user ${quoted(username)} ${what}: ${reason}`, 'refused', { answered: true });
  }

  async #call<T>(call: Call, signal: AbortSignal, read: (answer: Answer) => T): Promise<T> {
    const { circuit } = this.#parts;
    return circuit.call(signal, async () => {
      // Of background work the core lets little through at a time.
      if (this.#underWay >= LIMITS.connections + LIMITS.queued && !circuit.isBackground(signal)) {
        throw new Unavailable(`${LIMITS.queued} calls are waiting for RabbitMQ already; try again`, { headers: { 'Retry-After': '1' } });
      }
      this.#underWay += 1;
      try {
        const { status, text } = await this.#send(call, signal);
        const body = parsed(text);
        const reason = status < 300 ? '' : foreignText(reasonIn(body), this.#secrets(call));
        if (status >= 500 || status === 429) {
          throw new BrokerFailed(`RabbitMQ failed ${call.what}: status ${status}: ${reason}`, lostOutcome(call));
        }
        return read({ status, body, reason });
      } finally {
        this.#underWay -= 1;
      }
    });
  }

  async #send(call: Call, parent: AbortSignal): Promise<{ readonly status: number; readonly text: string }> {
    const { method, body, what, login = this.#address.login } = call;
    const late = new BrokerFailed(`RabbitMQ did not answer within ${CALL_MILLIS / 1_000} s ${what}`, lostOutcome(call));
    const request = {
      method,
      path: new URL(this.#address.uri).pathname.replace(/\/+$/, '') + call.path,
      authorization: `Basic ${Buffer.from(`${login.username}:${login.password}`).toString('base64')}`,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    };
    const deadline = { clock: this.#parts.clock, millis: CALL_MILLIS, parent, passed: () => late };
    try {
      return await withDeadline(deadline, async (signal) => (await this.#open()).request({ ...request, signal }));
    } catch (error) {
      if (parent.aborted) throw parent.reason;
      if (error === late) throw late;
      const { text, unsent } = reasonOf(error);
      const reason = foreignText(text, this.#secrets(call));
      throw new BrokerFailed(`RabbitMQ cannot be reached ${what}: ${reason}`, unsent ? 'unsent' : lostOutcome(call), { cause: error });
    }
  }

  #secrets({ body, login }: Call): Readonly<Record<string, string | undefined>> {
    return { password: this.#address.login.password, 'tried password': login?.password, 'new password': body?.['password'] };
  }

  async #open(): Promise<ManagementPool> {
    const { uri, tls } = this.#address;
    this.#pool ??= import('./management-pool.ts').then((library) => {
      const { connections } = LIMITS;
      this.#opened = new library.ManagementPool(new URL(uri).origin, { connections, longestAnswer: LONGEST_ANSWER, tls });
      return this.#opened;
    });
    return this.#pool;
  }
}

/** Creates a user, or changes its password and tags. Its permissions stay. */
export function putUser(username: string, password: string, tags: string): BrokerChange {
  return { method: 'PUT', path: userPath(username), body: { password, tags }, what: `to write the user ${quoted(username)}` };
}

export function deleteUser(username: string): BrokerChange {
  return { method: 'DELETE', path: userPath(username), what: `to delete the user ${quoted(username)}` };
}

export function putPermission(vhost: string, username: string, { configure, write, read }: VhostPermission): BrokerChange {
  const path = `/api/permissions/${encodeURIComponent(vhost)}/${encodeURIComponent(username)}`;
  return { method: 'PUT', path, body: { configure, write, read }, what: `to set permissions on the virtual host ${quoted(vhost)}` };
}

export function putTopicPermission(vhost: string, username: string, exchange: string, { write, read }: TopicPermission): BrokerChange {
  const path = `/api/topic-permissions/${encodeURIComponent(vhost)}/${encodeURIComponent(username)}`;
  const what = `to set topic permissions on the exchange ${quoted(exchange)} of the virtual host ${quoted(vhost)}`;
  return { method: 'PUT', path, body: { exchange, write, read }, what };
}

function userPath(username: string): string {
  return `/api/users/${encodeURIComponent(username)}`;
}

/** Whether a call whose answer is lost has changed something: a read has not. */
function lostOutcome({ method }: Call): Outcome {
  return method === 'GET' ? 'unsent' : 'unknown';
}

/** Only in RabbitMQ's own words: whatever else answers 404, such as a proxy, says nothing of the user. */
function isMissing({ status, body }: Answer): boolean {
  return status === 404 && isRecord(body) && body['error'] === 'Object Not Found';
}

/** A list since 3.9, and text before. */
function tagsOf(tags: unknown): string[] {
  const all: unknown[] = Array.isArray(tags) ? tags : String(tags ?? '').split(',');
  return all.map((tag) => String(tag).trim()).filter((tag) => tag !== '');
}

function unexpected(what: string, status: number, reason: string): BrokerFailed {
  return new BrokerFailed(`RabbitMQ refused ${what}: status ${status}: ${reason}`, 'refused', { answered: true });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const quoted = (text: string): string => JSON.stringify(text);
