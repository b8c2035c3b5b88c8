import dns from 'node:dns';
import http from 'node:http';
import https from 'node:https';
import net, { type LookupFunction } from 'node:net';
import type { Duplex } from 'node:stream';
import type tls from 'node:tls';
import type { Dispatcher } from 'undici';
import { AddressRefused, SessionClosed } from './errors.ts';
import { NetworkPolicy, type NetworkRules } from './network-rules.ts';

/** An address that a host name resolved to and that may be reached. */
export interface ResolvedAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

/**
 * The way out of a session. It refuses special-purpose addresses (loopback, private, link-local, …) and ports other than 80 and 443, unless
 * the destination allows them. What counts is the address that is really connected to: names are resolved here and every connection is
 * checked, so that neither DNS nor a redirect leads around it. A refusal is AddressRefused, or has it as a `cause` where a library wraps it:
 * see `addressRefusal`. Choose the form that the provider's SDK takes.
 */
export interface NetworkGuard {
  /** For `undici` and `fetch`. Loads undici at the first call; later ones give the same dispatcher. */
  dispatcher(): Promise<Dispatcher>;
  /** For SDKs on node's http and https. They keep connections alive. */
  readonly httpAgent: http.Agent;
  readonly httpsAgent: https.Agent;
  /** For what makes its sockets itself but takes a `lookup`, as `net.connect` does. Literal addresses pass it by: call `check` as well. */
  readonly lookup: LookupFunction;
  /** Throws AddressRefused for a port, or a literal address, that is not allowed. Names are not resolved. */
  check(host: string, port: number): void;
  /** Resolves and checks: for gRPC, whose channel is then opened to the addresses. @throws AddressRefused if no address is allowed. */
  resolve(host: string, port: number): Promise<readonly ResolvedAddress[]>;
  /** How many connections were made: none, and nobody has been reached. Those that `lookup` and `resolve` serve are not known here. */
  readonly connections: number;
  /** Ends its connections. The host calls it after the session's `close`. */
  close(): Promise<void>;
}

/** Replacements for what the guard asks of the system. */
export interface NetworkGuardOptions {
  /** Certificates (PEM) trusted besides the usual ones, for tests with a server of their own. */
  readonly ca?: string;
  /** How names are resolved; `dns.lookup` by default. */
  readonly lookup?: typeof dns.lookup;
}

/** The way to the network for one destination, within the rules. @throws ConfigurationInvalid for malformed rules, naming the field of the destination */
export function createNetworkGuard(rules: NetworkRules, options: NetworkGuardOptions = {}): NetworkGuard {
  const policy = new NetworkPolicy(rules);
  const resolveName = options.lookup ?? dns.lookup;

  const check = (host: string, port: number): void => {
    policy.checkPort(host, port);
    const literal = host.replace(/^\[(.*)\]$/, '$1');
    if (net.isIP(literal) !== 0) policy.checkAddress(literal, literal);
  };

  const lookup: LookupFunction = (hostname, wanted, callback) => {
    resolveName(hostname, { ...wanted, all: true } as dns.LookupAllOptions, (error, found) => {
      if (error) return callback(error, wanted.all ? [] : '');
      const allowed = found.filter(({ address }) => policy.allows(address));
      const [first] = allowed;
      if (first === undefined) return callback(refusal(hostname, found), wanted.all ? [] : '');
      if (wanted.all) callback(null, allowed);
      else callback(null, first.address, first.family);
    });
  };

  function refusal(hostname: string, found: readonly dns.LookupAddress[]): AddressRefused {
    try {
      for (const { address } of found) policy.checkAddress(hostname, address);
    } catch (error) {
      return error as AddressRefused;
    }
    return new AddressRefused(`${hostname} has no address`);
  }

  /** Undefined, or what is wrong with the far end of a connected socket. */
  function wrongEnd(socket: net.Socket, host: string): Error | undefined {
    try {
      policy.checkAddress(host, socket.remoteAddress ?? '');
      return undefined;
    } catch (error) {
      return error as Error;
    }
  }

  const guarded: Guard = (connect) => (connection, callback) => {
    const { host = 'localhost', port } = connection as net.TcpNetConnectOpts;
    try {
      if ('path' in connection && typeof connection.path === 'string' && port === undefined) {
        throw new AddressRefused('a socket of the file system is not allowed');
      }
      check(host, Number(port));
    } catch (error) {
      // Through the callback: a socket that fails before anybody listens to it ends the process.
      callback?.(error as Error, undefined as never);
      return undefined;
    }
    const socket = connect({ ...connection, lookup } as net.TcpNetConnectOpts);
    socket.once('connect', () => {
      const wrong = wrongEnd(socket, host);
      if (wrong) socket.destroy(wrong);
      else connections += 1;
    });
    return socket;
  };

  const secure: tls.ConnectionOptions = options.ca === undefined ? {} : { ca: options.ca };
  const httpAgent = new GuardedHttpAgent({ keepAlive: true }, guarded);
  const httpsAgent = new GuardedHttpsAgent({ keepAlive: true, ...secure }, guarded);
  let opened: Promise<Dispatcher> | undefined;
  let closed = false;
  let connections = 0;

  return {
    get connections() {
      return connections;
    },
    async dispatcher() {
      if (closed) throw new SessionClosed();
      opened ??= import('./guarded-dispatcher.ts').then(({ guardedDispatcher }) =>
        guardedDispatcher({ check, lookup, wrongEnd, tls: secure, connected: () => (connections += 1) }),
      );
      return opened;
    },
    httpAgent,
    httpsAgent,
    lookup,
    check,
    async resolve(host, port) {
      check(host, port);
      const literal = host.replace(/^\[(.*)\]$/, '$1');
      const family = net.isIP(literal);
      if (family !== 0) return [{ address: literal, family: family as 4 | 6 }];
      return await new Promise((resolve, reject) =>
        lookup(host, { all: true }, (error, addresses) => (error ? reject(error) : resolve(addresses as readonly ResolvedAddress[]))),
      );
    },
    async close() {
      closed = true;
      httpAgent.destroy();
      httpsAgent.destroy();
      await (await opened)?.destroy();
    },
  };
}

/** As agents of Node want it: a socket, or an error passed to the callback. */
type OnSocket = (error: Error | null, socket: Duplex) => void;
type Connect = (options: net.NetConnectOpts, callback: OnSocket | undefined) => net.Socket | undefined;
type Guard = (connect: (options: net.NetConnectOpts) => net.Socket) => Connect;

class GuardedHttpAgent extends http.Agent {
  readonly #connect: Connect;

  constructor(options: http.AgentOptions, guard: Guard) {
    super(options);
    this.#connect = guard((connection) => super.createConnection(connection) as net.Socket);
  }

  override createConnection(connection: http.ClientRequestArgs, callback?: OnSocket): net.Socket | undefined {
    return this.#connect(connection as net.NetConnectOpts, callback);
  }
}

class GuardedHttpsAgent extends https.Agent {
  readonly #connect: Connect;

  constructor(options: https.AgentOptions, guard: Guard) {
    super(options);
    this.#connect = guard((connection) => super.createConnection(connection) as net.Socket);
  }

  override createConnection(connection: https.RequestOptions, callback?: OnSocket): net.Socket | undefined {
    return this.#connect(connection as net.NetConnectOpts, callback);
  }
}

/** The refusal of the guard inside what a library made of it, if that is what it was. */
export function addressRefusal(error: unknown): AddressRefused | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 8; depth += 1) {
    if ('code' in at && at.code === 'address_refused') return at as AddressRefused;
    const inner: unknown = at instanceof AggregateError ? at.errors.map(addressRefusal).find(Boolean) : undefined;
    if (inner) return inner as AddressRefused;
    at = at.cause;
  }
  return undefined;
}
