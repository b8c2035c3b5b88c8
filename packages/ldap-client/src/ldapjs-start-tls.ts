import { connect } from 'node:tls';
import type { ConnectionOptions } from 'node:tls';
import { LdapError } from './error.ts';
import { ExtendedRequest, ignore, isResult } from './ldapjs-library.ts';
import type { ExpectedCodes, LibraryClient } from './ldapjs-library.ts';
import { networkError } from './network-error.ts';
import type { LdapUrl } from './settings.ts';

const startTlsOid = '1.3.6.1.4.1.1466.20037';
/** Whatever code comes: the library's own error look-up throws outside any handler for codes that it does not know. */
const anyResult: ExpectedCodes = { indexOf: () => 0 };

/**
 * Upgrades a client's connection by RFC 4511 section 4.14. Rejects with `LdapError`; the caller then lets go of the client.
 * Bytes that came in clear after the server's answer would be read as if they had come encrypted: they end the upgrade.
 */
export function startTls(client: LibraryClient, options: ConnectionOptions, url: LdapUrl): Promise<void> {
  return new Promise((resolve, reject) => {
    client._send(new ExtendedRequest({ requestName: startTlsOid }), anyResult, null, (error, result) => {
      const plain = client._socket;
      if (error || plain === null || !isResult(result))
        return reject(networkError(error ?? new Error('the server closed the connection'), url));
      if (result.status !== 0)
        return reject(
          new LdapError(result.status, { url: url.text, diagnosticMessage: result.diagnosticMessage, matchedDn: result.matchedDN }),
        );
      plain.removeAllListeners('data');
      const secure = connect({ ...options, socket: plain });
      client._socket = secure;
      client.once('close', () => secure.on('error', ignore));
      secure.on('error', (failure: Error) => {
        reject(networkError(failure, url));
        client.emit('error', failure);
      });
      secure.once('secureConnect', () => {
        if ((client._tracker?.parser.buffer?.length ?? 0) > 0)
          return reject(
            new LdapError('TLS', { url: url.text, diagnosticMessage: 'tls: the server sent data in clear after agreeing to StartTLS' }),
          );
        secure.on('data', (data: Buffer) => client._tracker?.parser.write(data));
        resolve();
      });
    });
  });
}
