import type net from 'node:net';
import type tls from 'node:tls';
import { Agent, buildConnector, type Dispatcher } from 'undici';

const CONNECT_TIMEOUT_MS = 10_000;

/** What a guard has to say about connections, in the form that undici's connector takes it. */
export interface DispatcherRules {
  /** Throws for a port, or a literal address, that is not allowed. */
  check(host: string, port: number): void;
  readonly lookup: net.LookupFunction;
  /** Undefined, or what is wrong with the far end of a connected socket. */
  wrongEnd(socket: net.Socket, host: string): Error | undefined;
  readonly tls: tls.ConnectionOptions;
  /** A connection was made. */
  connected(): void;
}

/** In a module of its own: undici is loaded by those who use it. */
export function guardedDispatcher({ check, lookup, wrongEnd, tls: secure, connected }: DispatcherRules): Dispatcher {
  const connectUndici = buildConnector({ ...secure, lookup, timeout: CONNECT_TIMEOUT_MS } as buildConnector.BuildOptions);
  return new Agent({
    connect(target, callback) {
      try {
        check(target.hostname, Number(target.port) || (target.protocol === 'https:' ? 443 : 80));
      } catch (error) {
        return callback(error as Error, null);
      }
      connectUndici(target, (...[error, socket]: [Error | null, (net.Socket | tls.TLSSocket | null)?]) => {
        // undici leaves the socket out where it failed, whatever its types say.
        if (!socket) return callback(error ?? new Error('no connection'), null);
        const wrong = wrongEnd(socket, target.hostname);
        if (wrong === undefined) {
          connected();
          return callback(null, socket);
        }
        socket.destroy();
        callback(wrong, null);
      });
    },
  });
}
