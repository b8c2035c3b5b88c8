import type { Socket } from 'node:net';
import type { DetailedPeerCertificate, TLSSocket } from 'node:tls';

/** Longer paths are cut: no verifier accepts them. */
const LONGEST_PATH = 16;
const NONE: readonly Uint8Array[] = [];
const found = new WeakMap<Socket, readonly Uint8Array[]>();

/**
 * The certificates that the other end of a TLS connection has shown, in DER, its own first, then what it sent of the path above it. Empty without TLS or
 * without a certificate. Whether anybody trusts them is not decided here. Read once for each connection.
 */
export function shownCertificates(socket: Socket): readonly Uint8Array[] {
  if (!('getPeerCertificate' in socket)) return NONE;
  let path = found.get(socket);
  if (!path) {
    path = pathOf(socket as TLSSocket);
    found.set(socket, path);
  }
  return path;
}

function pathOf(socket: TLSSocket): readonly Uint8Array[] {
  const path: Uint8Array[] = [];
  let next: Partial<DetailedPeerCertificate> | null | undefined = socket.getPeerCertificate(true);
  while (next?.raw && path.length < LONGEST_PATH) {
    path.push(next.raw);
    // A certificate that signed itself is its own issuer.
    next = next.issuerCertificate === next ? undefined : next.issuerCertificate;
  }
  return path;
}
