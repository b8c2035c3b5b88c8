import { connect, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { withDeadline, type StepTrace } from '@strongroom/engine-sdk';
import type { ApiServerAddress, ApiServerParts } from './api-server.ts';
import { ApiServerFailed, reasonOf } from './api-server-failed.ts';

const CONNECT_MILLIS = 5_000;

/** What is known of the steps of `probe`. */
export interface ProbeFacts {
  /** The API server. */
  readonly url?: string;
  /** Of TLS. */
  readonly protocol?: string;
}

/** Opens one connection and, for `https`, encrypts it: two steps of `config/test`. @throws ApiServerFailed */
export async function probe(
  { url, ca }: ApiServerAddress,
  clock: ApiServerParts['clock'],
  trace: Pick<StepTrace<'connect' | 'tls', ProbeFacts>, 'start' | 'passed' | 'failed'>,
  signal: AbortSignal,
): Promise<void> {
  const { protocol, hostname, port } = new URL(url);
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const secure = protocol === 'https:';
  let since = trace.start();
  let step: 'connect' | 'tls' = 'connect';
  const deadline = { clock, millis: CONNECT_MILLIS, parent: signal };
  let socket: Socket | undefined;
  try {
    await withDeadline(deadline, async () => {
      socket = connect({ host, port: Number(port || (secure ? 443 : 80)) });
      await ready(socket, 'connect');
      trace.passed('connect', since, { url });
      if (!secure) return;
      [step, since] = ['tls', trace.start()];
      const encrypted: TLSSocket = connectTls({
        socket,
        host,
        servername: /^[\d.]+$|:/.test(host) ? '' : host,
        ...(ca === undefined ? {} : { ca }),
      });
      await ready(encrypted, 'secureConnect');
      trace.passed('tls', since, { url, protocol: encrypted.getProtocol() ?? '' });
    });
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw trace.failed(step, since, { url }, reasonOf(error), new ApiServerFailed('cannot be reached', reasonOf(error)));
  } finally {
    socket?.destroy();
  }
}

function ready(socket: Socket, event: string): Promise<void> {
  return new Promise((resolve, reject) => void socket.once(event, resolve).on('error', reject));
}
