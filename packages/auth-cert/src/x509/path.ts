import {
  anyExtendedKeyUsage,
  id_ce_authorityKeyIdentifier,
  id_ce_basicConstraints,
  id_ce_certificatePolicies,
  id_ce_extKeyUsage,
  id_ce_keyUsage,
  id_ce_nameConstraints,
  id_ce_subjectAltName,
  id_ce_subjectKeyIdentifier,
  id_kp_clientAuth,
  KeyUsageFlags,
} from '@peculiar/asn1-x509';
import type { Certificate } from './certificate.ts';
import { constraintAgainst } from './name-constraints.ts';

/** From the caller's certificate up to one that is trusted. Each is signed by the next. */
export type CertificatePath = readonly [Certificate, ...Certificate[]];

/** Why a path is not good, and which of its checks failed. */
export interface PathFault {
  readonly check: 'validity' | 'usage' | 'path';
  readonly reason: string;
}

/** No real path is longer. */
const LONGEST = 10;
/** Signatures that one search verifies at most: certificates that sign each other in many ways cost no more. */
const MOST_SIGNATURES = 64;

/** Critical extensions that the checks here honour. Any other critical one makes a certificate unusable. */
const HONOURED: ReadonlySet<string> = new Set([
  id_ce_authorityKeyIdentifier,
  id_ce_basicConstraints,
  // No policy is asked for, so any will do.
  id_ce_certificatePolicies,
  id_ce_extKeyUsage,
  id_ce_keyUsage,
  id_ce_nameConstraints,
  id_ce_subjectAltName,
  id_ce_subjectKeyIdentifier,
]);

/** Every path from a certificate to one of the anchors, by names and signatures; `intermediates` are what the caller sent. Nothing else is checked. */
export function* pathsTo(
  anchors: readonly Certificate[],
  leaf: Certificate,
  intermediates: readonly Certificate[],
): Generator<CertificatePath> {
  let signatures = 0;
  const signs = (issuer: Certificate, below: Certificate): boolean => {
    if (!below.namesAsIssuer(issuer) || signatures >= MOST_SIGNATURES) return false;
    signatures += 1;
    return below.isSignedBy(issuer);
  };
  function* above(path: CertificatePath): Generator<CertificatePath> {
    const last = path.at(-1)!;
    const isNew = (one: Certificate): boolean => !path.some((other) => other.equals(one));
    for (const anchor of anchors) if (isNew(anchor) && signs(anchor, last)) yield [...path, anchor];
    if (path.length >= LONGEST) return;
    for (const next of intermediates) {
      if (isNew(next) && !anchors.some((anchor) => anchor.equals(next)) && signs(next, last)) yield* above([...path, next]);
    }
  }
  yield* above([leaf]);
}

/** What is wrong with a path of a client (RFC 5280, section 6.1, for any policy); undefined if nothing is. The anchor is checked like the others. */
export function faultOf(path: CertificatePath, now: number): PathFault | undefined {
  return validityFault(path, now) ?? usageFault(path) ?? authorityFault(path);
}

/** Whether a certificate is good on its own at this time. */
export function validityFault(certificates: readonly Certificate[], now: number): PathFault | undefined {
  for (const [index, { notBefore, notAfter }] of certificates.entries()) {
    const which = index === 0 ? 'the certificate' : 'a CA above the certificate';
    if (now < notBefore) return { check: 'validity', reason: `${which} is not valid before ${new Date(notBefore).toISOString()}` };
    if (now > notAfter) return { check: 'validity', reason: `${which} has expired on ${new Date(notAfter).toISOString()}` };
  }
  return undefined;
}

/** Whether the extended key usage allows client authentication; a certificate without the extension allows everything. */
export function isForClients({ extendedKeyUsage }: Certificate): boolean {
  return extendedKeyUsage === undefined || extendedKeyUsage.some((oid) => oid === id_kp_clientAuth || oid === anyExtendedKeyUsage);
}

function usageFault(path: CertificatePath): PathFault | undefined {
  const [{ keyUsage }] = path;
  // What signs a handshake of TLS.
  if (keyUsage !== undefined && (keyUsage & (KeyUsageFlags.digitalSignature | KeyUsageFlags.keyAgreement)) === 0) {
    return { check: 'usage', reason: 'the key usage of the certificate has neither digitalSignature nor keyAgreement' };
  }
  const foreign = path.findIndex((one) => !isForClients(one));
  if (foreign < 0) return undefined;
  const which = foreign === 0 ? 'the certificate' : 'a CA above the certificate';
  return { check: 'usage', reason: `the extended key usage of ${which} does not have clientAuth` };
}

function authorityFault(path: CertificatePath): PathFault | undefined {
  const fault = (reason: string): PathFault => ({ check: 'path', reason });
  for (const one of path) {
    const unknown = [...one.extensions.values()].find(({ oid, critical }) => critical && !HONOURED.has(oid));
    if (unknown)
      return fault(`the critical extension ${unknown.oid} of ${one === path[0] ? 'the certificate' : 'a CA above it'} is not known`);
  }
  /** CAs between the one that is looked at and the certificate, without those that only renew their own key. */
  let between = 0;
  for (const [index, authority] of path.entries()) {
    if (index === 0) continue;
    if (!authority.isAuthority || authority.version < 3) return fault('a certificate in the path is not a CA');
    if (authority.keyUsage !== undefined && (authority.keyUsage & KeyUsageFlags.keyCertSign) === 0) {
      return fault('a CA in the path is not allowed to sign certificates');
    }
    const most = authority.basicConstraints!.pathLenConstraint;
    if (most !== undefined && between > most) return fault(`a CA in the path allows ${most} CAs below it, but there are ${between}`);
    for (const [position, below] of path.slice(0, index).entries()) {
      if (position > 0 && isSelfIssued(below)) continue;
      const reason = constraintAgainst(authority, below);
      if (reason !== undefined) return fault(reason);
    }
    if (!isSelfIssued(authority)) between += 1;
  }
  return undefined;
}

function isSelfIssued({ subjectId, issuerId }: Certificate): boolean {
  return subjectId === issuerId;
}
