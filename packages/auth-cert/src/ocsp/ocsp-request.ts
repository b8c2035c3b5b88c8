import { createHash } from 'node:crypto';
import { CertID, id_pkix_ocsp_nonce, OCSPRequest, Request, TBSRequest } from '@peculiar/asn1-ocsp';
import { AsnConvert, OctetString } from '@peculiar/asn1-schema';
import { AlgorithmIdentifier, Extension } from '@peculiar/asn1-x509';
import type { Certificate } from '../x509/certificate.ts';

/** A question about one certificate. */
export interface OcspQuestion {
  readonly certificate: Certificate;
  readonly issuer: Certificate;
  /** DER of what the response repeats about the certificate, as hex. */
  readonly certId: string;
  /** DER of the nonce, as hex. */
  readonly nonce: string;
  /** The request, in DER. */
  readonly request: Buffer;
}

const SHA1 = '1.3.14.3.2.26';
const DER_NULL = Uint8Array.of(0x05, 0x00).buffer;

/** Asks about a certificate (RFC 6960). The SHA-1 in it names the issuer, as all responders know it, and proves nothing. */
export function ocspQuestion(certificate: Certificate, issuer: Certificate, nonce: Uint8Array): OcspQuestion {
  const certId = new CertID({
    hashAlgorithm: new AlgorithmIdentifier({ algorithm: SHA1, parameters: DER_NULL }),
    issuerNameHash: sha1(Buffer.from(issuer.subjectId, 'hex')),
    issuerKeyHash: sha1(issuer.keyBits),
    serialNumber: integer(certificate.serial),
  });
  const value = AsnConvert.serialize(new OctetString(new Uint8Array(nonce).buffer));
  const request = new OCSPRequest({
    tbsRequest: new TBSRequest({
      requestList: [new Request({ reqCert: certId })],
      requestExtensions: [new Extension({ extnID: id_pkix_ocsp_nonce, extnValue: new OctetString(value) })],
    }),
  });
  return {
    certificate,
    issuer,
    certId: certIdText(certId),
    nonce: Buffer.from(value).toString('hex'),
    request: Buffer.from(AsnConvert.serialize(request)),
  };
}

/** What a CertID says, for comparison: responders may leave the parameters of the hash out. */
export function certIdText({ hashAlgorithm, issuerNameHash, issuerKeyHash, serialNumber }: CertID): string {
  const hex = (bytes: ArrayBuffer): string => Buffer.from(bytes).toString('hex');
  return [
    hashAlgorithm.algorithm,
    hex(issuerNameHash.buffer),
    hex(issuerKeyHash.buffer),
    hex(serialNumber).replace(/^(00)+(?=..)/, ''),
  ].join(' ');
}

function sha1(bytes: Uint8Array): OctetString {
  return new OctetString(new Uint8Array(createHash('sha1').update(bytes).digest()).buffer);
}

function integer(value: bigint): ArrayBuffer {
  const hex = value.toString(16);
  const even = hex.length % 2 === 0 ? hex : `0${hex}`;
  return new Uint8Array(Buffer.from(/^[89a-f]/.test(even) ? `00${even}` : even, 'hex')).buffer;
}
