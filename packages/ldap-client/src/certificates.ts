import { BadRequest } from '@strongroom/engine-sdk';
import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';

const block = /-----BEGIN CERTIFICATE-----[^]+?-----END CERTIFICATE-----/g;

/** An empty text is fine: the system's CAs are trusted then. @throws BadRequest */
export function checkServerCertificate(pem: string): void {
  if (pem === '') return;
  const blocks = pem.match(block);
  if (!blocks) throw new BadRequest('failed to parse server tls cert: failed to decode PEM block in the certificate');
  for (const one of blocks) {
    if (!parsed(one))
      throw new BadRequest('failed to parse server tls cert: a PEM block in the certificate does not hold an X.509 certificate');
  }
}

/** @throws BadRequest unless both are empty, or are a certificate and its key. */
export function checkClientCertificate(certificate: string, key: string): void {
  if (certificate === '' && key === '') return;
  if (certificate === '' || key === '') throw new BadRequest('both client_tls_cert and client_tls_key must be set');
  const refuse = (what: string): never => {
    throw new BadRequest(`failed to parse client X509 key pair: ${what}`);
  };
  const leaf = parsed(certificate.match(block)?.[0] ?? '') ?? refuse('client_tls_cert holds no certificate in PEM form');
  let secret: KeyObject;
  try {
    secret = createPrivateKey(key);
  } catch {
    return refuse('client_tls_key holds no unencrypted private key in PEM form');
  }
  if (!leaf.checkPrivateKey(secret)) refuse('the private key does not match the certificate');
}

function parsed(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem);
  } catch {
    return undefined;
  }
}
