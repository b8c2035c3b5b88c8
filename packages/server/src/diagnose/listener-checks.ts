import { X509Certificate } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { formatAddress } from '../config/address.ts';
import type { Configuration, Listener, TlsChoice } from '../config/configuration.ts';
import { readTlsFiles } from '../listeners/tls.ts';
import { Findings, reasonOf, type Finding } from './finding.ts';

const DAY = 86_400_000;
/** Days before its end in which a certificate should be renewed. */
const SOON = 30;

/** Whether each listener could open, and whether clients could trust it. */
export async function checkListeners({ listeners }: Configuration, now: Date): Promise<Finding[]> {
  const all: Finding[] = [];
  for (const listener of listeners) all.push(...(await checkListener(listener, now)));
  return all;
}

async function checkListener(listener: Listener, now: Date): Promise<Finding[]> {
  const where = listener.type === 'unix' ? listener.path : formatAddress(listener.host, listener.port);
  const found = new Findings(`listener ${listener.type} ${where}`);
  if (listener.type === 'unix') {
    found.skipped('a socket is looked at when the server starts');
    return found.all;
  }
  const { host, port, tls } = listener;
  const refused = await tryToListen(host, port);
  if (refused === undefined) found.ok('the address is free');
  else if (refused === 'EADDRINUSE') found.warning('the address is in use', 'Stop what listens there, unless it is this server');
  else found.failure(`the server could not listen there: ${refused}`, 'Correct the address, or give the user the right to it');
  if (tls) checkTls(tls, now, found);
  else if (host !== '127.0.0.1' && host !== '::1' && host !== 'localhost')
    found.warning(
      'tokens and secrets pass unencrypted',
      'Configure tls_cert_file and tls_key_file, unless a proxy on this machine has them',
    );
  return found.all;
}

function tryToListen(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error) => resolve(reasonOf(error)));
    server.listen({ port, ...(host === '' ? {} : { host }) }, () => server.close(() => resolve(undefined)));
  });
}

function checkTls(choice: TlsChoice, now: Date, found: Findings): void {
  try {
    readTlsFiles(choice);
  } catch (error) {
    found.failure((error as Error).message, 'Correct the files');
    return;
  }
  if ((statSync(choice.keyFile).mode & 0o007) !== 0)
    found.warning(`every user can read tls_key_file ${choice.keyFile}`, `chmod 600 ${choice.keyFile}`);
  const [leaf, ...above] = certificatesIn(readFileSync(choice.certFile, 'utf8'));
  checkTimes(leaf!, now, found);
  for (const one of above) checkTimes(one, now, found);
  let below = leaf!;
  for (const issuer of above) {
    if (!below.checkIssued(issuer) || !below.verify(issuer.publicKey))
      found.failure(
        `in tls_cert_file, the certificate of ${named(issuer)} follows that of ${named(below)}, which it has not signed`,
        'Put the certificate of the server first, and behind each one that of its issuer',
      );
    below = issuer;
  }
  const selfSigned = below.checkIssued(below);
  if (above.length === 0 && !selfSigned)
    found.warning(
      `tls_cert_file has no certificate of its issuer, ${oneLine(leaf!.issuer)}`,
      'Append the intermediate certificates, unless the issuer is a root that clients know',
    );
  if (leaf!.subjectAltName === undefined)
    found.warning(
      'the certificate names no host as a subject alternative name',
      'Clients compare those names only: issue another certificate',
    );
  else found.ok(`the certificate is for ${leaf!.subjectAltName}`);
}

function checkTimes(certificate: X509Certificate, now: Date, found: Findings): void {
  const [from, to] = [new Date(certificate.validFrom), new Date(certificate.validTo)];
  const days = Math.floor((to.getTime() - now.getTime()) / DAY);
  const who = `the certificate of ${named(certificate)}`;
  if (from > now) found.failure(`${who} is not valid before ${from.toISOString()}`, 'Wait, correct the clock, or issue another one');
  else if (to <= now) found.failure(`${who} ended at ${to.toISOString()}`, 'Renew it');
  else if (days < SOON) found.warning(`${who} ends in ${days} days, at ${to.toISOString()}`, 'Renew it, and send SIGHUP to the server');
  else found.ok(`${who} is valid until ${to.toISOString()}`);
}

function certificatesIn(text: string): X509Certificate[] {
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[^]*?-----END CERTIFICATE-----/g) ?? [];
  return blocks.map((block) => new X509Certificate(block));
}

function named(certificate: X509Certificate): string {
  return oneLine(certificate.subject || certificate.subjectAltName || 'an unnamed subject');
}

function oneLine(name: string): string {
  return name.replaceAll('\n', ', ');
}
