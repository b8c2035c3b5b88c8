import { constants, createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { SecureContextOptions, TlsOptions } from 'node:tls';
import type { TlsChoice } from '../config/configuration.ts';
import { TlsFilesInvalid } from '../failures.ts';

/** Reads and checks certificate and key. @throws TlsFilesInvalid naming the file, never what is in it */
export function readTlsFiles(choice: TlsChoice): SecureContextOptions {
  const cert = read('tls_cert_file', choice.certFile);
  const key = read('tls_key_file', choice.keyFile);
  const ca = choice.clientCaFile === undefined ? undefined : read('tls_client_ca_file', choice.clientCaFile);
  const certificate = certificateIn('tls_cert_file', choice.certFile, cert);
  if (ca !== undefined) certificateIn('tls_client_ca_file', choice.clientCaFile!, ca);
  let fits: boolean;
  try {
    fits = certificate.checkPrivateKey(createPrivateKey(key));
  } catch {
    throw new TlsFilesInvalid(`tls_key_file ${choice.keyFile} holds no usable private key in PEM`);
  }
  if (!fits) throw new TlsFilesInvalid(`tls_key_file ${choice.keyFile} is not the key of the certificate in ${choice.certFile}`);
  return {
    cert,
    key,
    ...(ca === undefined ? {} : { ca }),
    minVersion: choice.minVersion,
    maxVersion: choice.maxVersion,
    // A resumed session has the client's certificate, but not the path above it.
    ...(choice.clientCerts === 'off' ? {} : { secureOptions: constants.SSL_OP_NO_TICKET }),
    ...(choice.ciphers === undefined ? {} : { ciphers: choice.ciphers }),
  };
}

/** What node's servers take. */
export function tlsOptions(choice: TlsChoice): TlsOptions {
  return {
    ...readTlsFiles(choice),
    requestCert: choice.clientCerts !== 'off',
    rejectUnauthorized: choice.clientCerts === 'verified',
  };
}

function certificateIn(option: string, file: string, text: string): X509Certificate {
  try {
    return new X509Certificate(text);
  } catch {
    throw new TlsFilesInvalid(`${option} ${file} holds no certificate in PEM`);
  }
}

function read(option: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new TlsFilesInvalid(`${option} ${file} cannot be read: ${(error as NodeJS.ErrnoException).code ?? 'unknown error'}`);
  }
}
