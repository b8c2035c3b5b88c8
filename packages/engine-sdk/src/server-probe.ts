import { connect, type Socket } from 'node:net';
import { connect as connectTls, type ConnectionOptions, type TLSSocket } from 'node:tls';
import type { Clock } from './clock.ts';
import { withDeadline } from './deadline.ts';
import type { EngineError } from './errors.ts';
import type { StepTrace } from './step-trace.ts';

const CONNECT_MILLIS = 5_000;

/** What is known of the steps of `probeServer`. */
export interface ProbeFacts {
  /** The server, as it is configured. */
  readonly url?: string;
  /** Of TLS: `TLSv1.3`. */
  readonly protocol?: string;
}

/** A server that speaks HTTP or HTTPS, and what to say where it cannot be reached. */
export interface ServerProbe {
  /** `http` or `https`. */
  readonly url: string;
  /** Whom to trust, for `https`. */
  readonly tls?: ConnectionOptions | undefined;
  readonly clock: Clock;
  readonly trace: Pick<StepTrace<'connect' | 'tls', ProbeFacts>, 'start' | 'passed' | 'failed'>;
  readonly signal: AbortSignal;
  /** For the report, in one line. */
  reasonOf(error: unknown): string;
  /** What the probe throws. */
  failed(reason: string): EngineError;
}

/** Opens one connection and, for `https`, encrypts it: the first two steps of a `config/test`. @throws what `failed` makes */
export async function probeServer({ url, tls = {}, clock, trace, signal, reasonOf, failed }: ServerProbe): Promise<void> {
  const { protocol, hostname, port } = new URL(url);
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const secure = protocol === 'https:';
  let since = trace.start();
  let step: 'connect' | 'tls' = 'connect';
  let socket: Socket | undefined;
  try {
    await withDeadline({ clock, millis: CONNECT_MILLIS, parent: signal }, async () => {
      socket = connect({ host, port: Number(port || (secure ? 443 : 80)) });
      await ready(socket, 'connect');
      trace.passed('connect', since, { url });
      if (!secure) return;
      [step, since] = ['tls', trace.start()];
      // An address is no name that a server could choose its certificate by.
      const servername = /^[\d.]+$|:/.test(host) ? '' : host;
      const encrypted: TLSSocket = connectTls({ servername, ...tls, socket, host });
      await ready(encrypted, 'secureConnect');
      trace.passed('tls', since, { url, protocol: encrypted.getProtocol() ?? '' });
    });
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    const reason = reasonOf(error);
    throw trace.failed(step, since, { url }, reason, failed(reason));
  } finally {
    socket?.destroy();
  }
}

function ready(socket: Socket, event: string): Promise<void> {
  return new Promise((resolve, reject) => void socket.once(event, resolve).on('error', reject));
}
