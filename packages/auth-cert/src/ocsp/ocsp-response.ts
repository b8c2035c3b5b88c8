import { createHash } from 'node:crypto';
import {
  BasicOCSPResponse,
  id_kp_OCSPSigning,
  id_pkix_ocsp_basic,
  id_pkix_ocsp_nocheck,
  id_pkix_ocsp_nonce,
  OCSPResponse,
  OCSPResponseStatus,
  type ResponderID,
  type SingleResponse,
} from '@peculiar/asn1-ocsp';
import { AsnConvert } from '@peculiar/asn1-schema';
import {
  id_ce_authorityKeyIdentifier,
  id_ce_basicConstraints,
  id_ce_extKeyUsage,
  id_ce_keyUsage,
  id_ce_subjectAltName,
  id_ce_subjectKeyIdentifier,
  KeyUsageFlags,
} from '@peculiar/asn1-x509';
import { Certificate, CertificateUnreadable, idOf } from '../x509/certificate.ts';
import { DerWalker, TAG } from '../x509/der.ts';
import { isSignedBy } from '../x509/signature.ts';
import { certIdText, type OcspQuestion } from './ocsp-request.ts';

/** What a responder says of a certificate. */
export interface OcspStatus {
  readonly status: 'good' | 'revoked' | 'unknown';
  /** Milliseconds since the epoch until which it may be remembered; undefined if it may not. */
  readonly until: number | undefined;
}

/** A response that cannot be believed. The message says why. */
export class ResponseRefused extends Error {
  override readonly name = 'ResponseRefused';
}

/** Clocks differ. Milliseconds. */
const SKEW = 5 * 60_000;
/** A response that does not say when there is a newer one is believed for so long. Milliseconds. */
const WITHOUT_NEXT = 60 * 60_000;

const MOST_CERTIFICATES = 8;
const STATUSES: Readonly<Record<number, string>> = {
  [OCSPResponseStatus.malformedRequest]: 'malformedRequest',
  [OCSPResponseStatus.internalError]: 'internalError',
  [OCSPResponseStatus.tryLater]: 'tryLater',
  [OCSPResponseStatus.sigRequired]: 'sigRequired',
  [OCSPResponseStatus.unauthorized]: 'unauthorized',
};
/** Critical extensions of a responder's certificate that are understood. */
const HONOURED: ReadonlySet<string> = new Set([
  id_ce_authorityKeyIdentifier,
  id_ce_basicConstraints,
  id_ce_extKeyUsage,
  id_ce_keyUsage,
  id_ce_subjectAltName,
  id_ce_subjectKeyIdentifier,
  id_pkix_ocsp_nocheck,
]);

/**
 * Reads a response and verifies that it answers the question: signed by the issuer of the certificate, by a responder that this issuer has certified, or by
 * one of the further CAs (or a responder of theirs); about this certificate; with the nonce, if it has one; and fresh.
 * @throws ResponseRefused
 */
export function readOcspResponse(der: Buffer, question: OcspQuestion, furtherAuthorities: readonly Certificate[], now: number): OcspStatus {
  const { basic, certificates } = parsed(der);
  const { tbsResponseData: data } = basic;
  const authorities = [question.issuer, ...furtherAuthorities];
  const signer = signersOf(certificates, authorities, now).find((one) => isResponder(data.responderID, one));
  if (!signer) throw new ResponseRefused('no authorized responder has made it');
  const signed = { bytes: basic.tbsResponseDataRaw!, algorithm: basic.signatureAlgorithm, signature: basic.signature };
  if (!isSignedBy(signer.publicKey, signed)) throw new ResponseRefused('its signature is wrong');
  const nonce = data.responseExtensions?.find(({ extnID }) => extnID === id_pkix_ocsp_nonce);
  if (nonce && Buffer.from(nonce.extnValue.buffer).toString('hex') !== question.nonce)
    throw new ResponseRefused('it answers another request');
  const single = data.responses.find(({ certID }) => certIdText(certID) === question.certId);
  if (!single) throw new ResponseRefused('it is about another certificate');
  return fresh(single, now);
}

function parsed(der: Buffer): { basic: BasicOCSPResponse; certificates: Certificate[] } {
  try {
    const { responseStatus, responseBytes } = AsnConvert.parse(der, OCSPResponse);
    if (responseStatus !== OCSPResponseStatus.successful) {
      throw new ResponseRefused(`the responder refuses: ${STATUSES[responseStatus] ?? `status ${Number(responseStatus)}`}`);
    }
    if (responseBytes?.responseType !== id_pkix_ocsp_basic) throw new ResponseRefused('it is of a type that is not known');
    const bytes = Buffer.from(responseBytes.response.buffer);
    return { basic: AsnConvert.parse(bytes, BasicOCSPResponse), certificates: certificatesIn(bytes) };
  } catch (error) {
    if (error instanceof ResponseRefused) throw error;
    throw new ResponseRefused('it is not an OCSP response', { cause: error });
  }
}

/** Those that the responder sent along, as they are written: the signatures over them need every byte. */
function certificatesIn(basic: Buffer): Certificate[] {
  const walker = new DerWalker(basic);
  const tagged = [...walker.inside(walker.at(0))][3];
  const list = tagged?.tag === TAG.explicit0 ? walker.at(tagged.start, tagged.end) : undefined;
  const written = list ? [...walker.inside(list)].slice(0, MOST_CERTIFICATES) : [];
  return written.flatMap((element) => {
    try {
      return Certificate.read(walker.whole(element));
    } catch (error) {
      if (error instanceof CertificateUnreadable) return [];
      throw error;
    }
  });
}

/** Who may speak of certificates of these CAs (RFC 6960, 4.2.2.2): each CA itself, and responders that it has certified directly. */
function signersOf(sent: readonly Certificate[], authorities: readonly Certificate[], now: number): Certificate[] {
  return [...authorities, ...sent.filter((one) => authorities.some((authority) => isDelegate(one, authority, now)))];
}

function isDelegate(responder: Certificate, authority: Certificate, now: number): boolean {
  return (
    responder.extendedKeyUsage?.includes(id_kp_OCSPSigning) === true &&
    (responder.keyUsage === undefined || (responder.keyUsage & KeyUsageFlags.digitalSignature) !== 0) &&
    now >= responder.notBefore &&
    now <= responder.notAfter &&
    [...responder.extensions.values()].every(({ oid, critical }) => !critical || HONOURED.has(oid)) &&
    responder.namesAsIssuer(authority) &&
    responder.isSignedBy(authority)
  );
}

function isResponder({ byName, byKey }: ResponderID, certificate: Certificate): boolean {
  if (byName) return idOf(byName) === certificate.subjectId;
  return byKey !== undefined && createHash('sha1').update(certificate.keyBits).digest().equals(new Uint8Array(byKey.buffer));
}

function fresh({ certStatus, thisUpdate, nextUpdate }: SingleResponse, now: number): OcspStatus {
  const [from, next] = [thisUpdate.getTime(), nextUpdate?.getTime()];
  if (from > now + SKEW) throw new ResponseRefused('it is from the future');
  if ((next ?? from + WITHOUT_NEXT) < now - SKEW) throw new ResponseRefused('it is too old');
  const status = certStatus.revoked ? 'revoked' : certStatus.good === null ? 'good' : 'unknown';
  return { status, until: status === 'unknown' ? undefined : next };
}
