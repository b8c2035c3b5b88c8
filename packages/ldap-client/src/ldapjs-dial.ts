import { isIP } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import type { DirectoryClock } from './clock.ts';
import { LdapError } from './error.ts';
import { LdapjsConnection } from './ldapjs-connection.ts';
import { createClient, keepServerNames, shut } from './ldapjs-library.ts';
import { startTls } from './ldapjs-start-tls.ts';
import { networkError } from './network-error.ts';
import type { DialSettings, LdapUrl } from './settings.ts';

/** Connects to one server, with TLS as the settings want it. Rejects with `LdapError`; nothing stays open then. */
export async function dial(url: LdapUrl, settings: DialSettings, clock: DirectoryClock, signal?: AbortSignal): Promise<LdapjsConnection> {
  keepServerNames();
  const secure = url.secure || settings.starttls;
  const tls = secure ? tlsOptions(url, settings) : undefined;
  const socket = new AbortController();
  return new Promise((resolve, reject) => {
    let settled = false;
    const client = createClient({
      url: `${url.secure ? 'ldaps' : 'ldap'}://placeholder`,
      queueDisable: true,
      reconnect: false,
      tlsOptions: tls,
    });
    const finish = (error?: LdapError): void => {
      if (settled) return;
      settled = true;
      cancelDeadline();
      signal?.removeEventListener('abort', onAbort);
      client.removeListener('connectError', onFailure);
      if (error === undefined) {
        resolve(new LdapjsConnection(client, socket, url.text, settings.requestMillis, clock));
        client.removeListener('error', onFailure);
        return;
      }
      shut(client, socket);
      reject(error);
    };
    const onFailure = (error: Error): void => finish(networkError(error, url));
    const onAbort = (): void =>
      finish(new LdapError('ABORTED', { url: url.text, diagnosticMessage: 'the caller gave up while connecting' }));
    const cancelDeadline = clock.after(settings.connectMillis, () =>
      finish(new LdapError('TIMEOUT', { url: url.text, diagnosticMessage: `dial tcp ${address(url)}: i/o timeout` })),
    );
    // The library hands these to net.connect or tls.connect as they are. An options object reaches IPv6 addresses, which it cannot
    // connect to otherwise, and lets go of a socket that is still connecting, which its destroy() forgets.
    client.urls = [
      { href: url.text, hostname: undefined, port: { host: url.host, port: url.port, signal: socket.signal }, secure: url.secure },
    ];
    client.on('error', onFailure);
    client.on('connectError', onFailure);
    client.once('connect', () => {
      if (settled) return shut(client, socket);
      client._socket?.setNoDelay?.(true);
      client._socket?.setKeepAlive?.(true, 30_000);
      if (url.secure || tls === undefined) return finish();
      startTls(client, tls, url).then(() => finish(), finish);
    });
    client.once('close', () => onFailure(new Error('the server closed the connection')));
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
