import { connect, isIP } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import type { DirectoryClock } from './clock.ts';
import type { Established } from './connection.ts';
import { LdapError } from './error.ts';
import { LdapjsConnection } from './ldapjs-connection.ts';
import { createClient, keepServerNames, shut } from './ldapjs-library.ts';
import type { LibraryClient } from './ldapjs-library.ts';
import { startTls } from './ldapjs-start-tls.ts';
import { networkError } from './network-error.ts';
import type { DialSettings, LdapUrl } from './settings.ts';

/** Connects to one server, with TLS as the settings want it. Rejects with `LdapError`; nothing stays open then. */
export async function dial(url: LdapUrl, settings: DialSettings, clock: DirectoryClock, signal?: AbortSignal): Promise<LdapjsConnection> {
  keepServerNames();
  const secure = url.secure || settings.starttls;
  const tls = secure ? tlsOptions(url, settings) : undefined;
  const socket = new AbortController();
  const began = clock.millis();
  return new Promise((resolve, reject) => {
    let settled = false;
    let client: LibraryClient | undefined;
    let connectedMillis: number | undefined;
    const finish = (error?: LdapError): void => {
      if (settled) return;
      settled = true;
      cancelDeadline();
      signal?.removeEventListener('abort', onAbort);
      client?.removeListener('connectError', onFailure);
      if (error === undefined && client !== undefined) {
        const made = { url: url.text, established: established(client), requestMillis: settings.requestMillis };
        resolve(new LdapjsConnection(client, socket, made, clock));
        client.removeListener('error', onFailure);
        return;
      }
      if (client === undefined) socket.abort();
      else shut(client, socket);
      reject(failed(error));
    };
    const established = ({ _socket }: LibraryClient): Established => {
      const dialMillis = connectedMillis ?? clock.millis() - began;
      if (tls === undefined) return { dialMillis };
      return { dialMillis, tls: { millis: clock.millis() - began - dialMillis, protocol: _socket?.getProtocol?.() ?? '' } };
    };
    const failed = (error: LdapError | undefined): LdapError | undefined =>
      error && connectedMillis !== undefined ? new LdapError(error.code, { ...error, connectedMillis }) : error;
    const onFailure = (error: Error): void => finish(networkError(error, url));
    const onAbort = (): void =>
      finish(new LdapError('ABORTED', { url: url.text, diagnosticMessage: 'the caller gave up while connecting' }));
    const cancelDeadline = clock.after(settings.connectMillis, () =>
      finish(new LdapError('TIMEOUT', { url: url.text, diagnosticMessage: `dial tcp ${address(url)}: i/o timeout` })),
    );
    const onClose = (): void => onFailure(new Error('the server closed the connection'));
    const connected = (): void => {
      connectedMillis = clock.millis() - began;
    };
    /** The library hands `target` to net.connect or tls.connect as it is. */
    const attach = (target: object): void => {
      const made = createClient({
        url: `${url.secure ? 'ldaps' : 'ldap'}://placeholder`,
        queueDisable: true,
        reconnect: false,
        tlsOptions: tls,
      });
      client = made;
      made.urls = [{ href: url.text, hostname: undefined, port: { ...target, signal: socket.signal }, secure: url.secure }];
      made.on('error', onFailure);
      made.on('connectError', onFailure);
      made.once('connect', () => {
        if (settled) return shut(made, socket);
        made._socket?.setNoDelay?.(true);
        made._socket?.setKeepAlive?.(true, 30_000);
        if (url.secure || tls === undefined) return finish();
        connected();
        startTls(made, tls, url).then(() => finish(), finish);
      });
      made.once('close', onClose);
    };
    // Options instead of a port reach IPv6 addresses, which the library cannot connect to otherwise, and their signal lets go of a socket
    // that is still connecting, which its destroy() forgets.
    const to = { host: url.host, port: url.port };
    if (url.secure) {
      const plain = connect({ ...to, signal: socket.signal });
      plain.on('error', onFailure).once('close', onClose);
      plain.once('connect', () => {
        connected();
        plain.setNoDelay(true).setKeepAlive(true, 30_000);
        if (!settled) attach({ socket: plain });
      });
    } else attach(to);
    if (signal?.aborted) onAbort();
    else signal?.addEventListener('abort', onAbort, { once: true });
  });
}

function tlsOptions(url: LdapUrl, settings: DialSettings): ConnectionOptions {
  let secureContext;
  try {
    secureContext = settings.secureContext();
  } catch (error) {
    throw new LdapError('TLS', { url: url.text, diagnosticMessage: `the TLS settings cannot be used: ${(error as Error).message}` });
  }
  return { secureContext, rejectUnauthorized: !settings.insecureTls, host: url.host, ...(isIP(url.host) ? {} : { servername: url.host }) };
}

function address(url: LdapUrl): string {
  return `${url.host.includes(':') ? `[${url.host}]` : url.host}:${url.port}`;
}
