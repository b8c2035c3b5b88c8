import { createHash, createPrivateKey } from 'node:crypto';
import { AsnConvert, OctetString } from '@peculiar/asn1-schema';
import {
  BasicOCSPResponse,
  CertStatus,
  type CertID,
  id_pkix_ocsp_basic,
  id_pkix_ocsp_nonce,
  KeyHash,
  OCSPRequest,
  OCSPResponse,
  OCSPResponseStatus,
  ResponderID,
  ResponseBytes,
  ResponseData,
  RevokedInfo,
  SingleResponse,
} from '@peculiar/asn1-ocsp';
import {
  AuthorityKeyIdentifier,
  Certificate,
  CertificateList,
  CRLNumber,
  type Extension,
  id_ce_authorityKeyIdentifier,
  id_ce_cRLNumber,
  id_ce_subjectKeyIdentifier,
  KeyIdentifier,
  RevokedCertificate,
  SubjectKeyIdentifier,
  TBSCertList,
  Time,
  Version,
} from '@peculiar/asn1-x509';
import { arrayBuffer, bodyOf, extension, integerBytes, signedBy, type MadeCertificate } from './certificate-maker.ts';

/** A list of revoked certificates to make. */
export interface RevocationOrder {
  readonly revoked: readonly (MadeCertificate | bigint)[];
  readonly thisUpdate: Date;
  readonly nextUpdate?: Date;
  readonly number?: number;
  /** Whose key signs, in place of the issuer's. */
  readonly signedWith?: MadeCertificate;
  readonly extensions?: readonly { readonly oid: string; readonly critical?: boolean; readonly value: Uint8Array }[];
}

/** A revocation list of a CA, in DER. */
export function makeRevocationList(issuer: MadeCertificate, order: RevocationOrder): Buffer {
  const key = createPrivateKey((order.signedWith ?? issuer).key);
  const { subject, extensions } = bodyOf(issuer);
  const keyId = extensions?.find(({ extnID }) => extnID === id_ce_subjectKeyIdentifier);
  const body = new TBSCertList({
    version: Version.v2,
    signature: signedBy(key, new ArrayBuffer(0)).algorithm,
    issuer: subject,
    thisUpdate: new Time(order.thisUpdate),
    ...(order.nextUpdate ? { nextUpdate: new Time(order.nextUpdate) } : {}),
    ...(order.revoked.length === 0
      ? {}
      : {
          revokedCertificates: order.revoked.map(
            (one) =>
              new RevokedCertificate({
                userCertificate: integerBytes(typeof one === 'bigint' ? one : one.serial),
                revocationDate: new Time(order.thisUpdate),
              }),
          ),
        }),
    crlExtensions: [
      ...(keyId
        ? [
            extension(
              id_ce_authorityKeyIdentifier,
              false,
              new AuthorityKeyIdentifier({
                keyIdentifier: new KeyIdentifier(AsnConvert.parse(keyId.extnValue.buffer, SubjectKeyIdentifier).buffer),
              }),
            ),
          ]
        : []),
      extension(id_ce_cRLNumber, false, new CRLNumber(order.number ?? 1)),
      ...(order.extensions ?? []).map(({ oid, critical = false, value }) => extension(oid, critical, value)),
    ],
  });
  const { algorithm, signature } = signedBy(key, AsnConvert.serialize(body));
  return Buffer.from(AsnConvert.serialize(new CertificateList({ tbsCertList: body, signatureAlgorithm: algorithm, signature })));
}

/** What an OCSP responder says of a certificate, and how it signs. */
export interface OcspAnswer {
  readonly status: 'good' | 'revoked' | 'unknown';
  readonly thisUpdate: Date;
  readonly nextUpdate?: Date;
  /** Who signs: the CA by default, or a responder whose certificate comes with the response. */
  readonly responder?: MadeCertificate;
  /** The response does not repeat the nonce of the request, or has another one. */
  readonly nonce?: 'left out' | 'another';
  /** The response speaks of this certificate in place of the one in the request. */
  readonly about?: bigint;
  /** One byte of the signature is wrong. */
  readonly forged?: boolean;
}

/** An OCSP request as a responder reads it. */
export interface ReadOcspRequest {
  readonly serial: bigint;
  readonly certId: CertID;
  readonly nonce: Extension | undefined;
}

/** Reads a request about one certificate. @throws TypeError for one that does not name the issuer as its CertID says */
export function readOcspRequest(der: Uint8Array, issuer: MadeCertificate): ReadOcspRequest {
  const { tbsRequest } = AsnConvert.parse(der, OCSPRequest);
  const certId = tbsRequest.requestList[0]!.reqCert;
  const { subject, subjectPublicKeyInfo } = bodyOf(issuer);
  const hash = certId.hashAlgorithm.algorithm === '1.3.14.3.2.26' ? 'sha1' : 'sha256';
  const digest = (bytes: ArrayBuffer): Buffer => createHash(hash).update(new Uint8Array(bytes)).digest();
  const same = (one: OctetString, bytes: ArrayBuffer): boolean => digest(bytes).equals(new Uint8Array(one.buffer));
  if (!same(certId.issuerNameHash, AsnConvert.serialize(subject)) || !same(certId.issuerKeyHash, subjectPublicKeyInfo.subjectPublicKey)) {
    throw new TypeError('the request is about a certificate of another CA');
  }
  return {
    certId,
    serial: BigInt(`0x${Buffer.from(certId.serialNumber).toString('hex')}`),
    nonce: tbsRequest.requestExtensions?.find(({ extnID }) => extnID === id_pkix_ocsp_nonce),
  };
}

/** The response of a responder of `issuer`, in DER. */
export function makeOcspResponse(issuer: MadeCertificate, request: ReadOcspRequest, answer: OcspAnswer): Buffer {
  const signer = answer.responder ?? issuer;
  const key = createPrivateKey(signer.key);
  const certID = request.certId;
  if (answer.about !== undefined) certID.serialNumber = integerBytes(answer.about);
  const other = extension(id_pkix_ocsp_nonce, false, new OctetString(arrayBuffer(Buffer.alloc(16, 1))));
  const nonce = answer.nonce === 'left out' ? undefined : answer.nonce === 'another' ? other : request.nonce;
  const status =
    answer.status === 'good'
      ? { good: null }
      : answer.status === 'unknown'
        ? { unknown: null }
        : { revoked: new RevokedInfo({ revocationTime: answer.thisUpdate }) };
  const { subjectPublicKey } = bodyOf(signer).subjectPublicKeyInfo;
  const body = new ResponseData({
    responderID: new ResponderID({
      byKey: new KeyHash(arrayBuffer(createHash('sha1').update(new Uint8Array(subjectPublicKey)).digest())),
    }),
    producedAt: answer.thisUpdate,
    responses: [
      new SingleResponse({
        certID,
        certStatus: new CertStatus(status),
        thisUpdate: answer.thisUpdate,
        ...(answer.nextUpdate ? { nextUpdate: answer.nextUpdate } : {}),
      }),
    ],
    ...(nonce ? { responseExtensions: [nonce] } : {}),
  });
  const { algorithm, signature } = signedBy(key, AsnConvert.serialize(body));
  const bits = new Uint8Array(signature);
  if (answer.forged) bits[bits.length - 1]! ^= 1;
  const basic = new BasicOCSPResponse({
    tbsResponseData: body,
    signatureAlgorithm: algorithm,
    signature: arrayBuffer(bits),
    ...(answer.responder ? { certs: [AsnConvert.parse(answer.responder.der, Certificate)] } : {}),
  });
  return Buffer.from(
    AsnConvert.serialize(
      new OCSPResponse({
        responseStatus: OCSPResponseStatus.successful,
        responseBytes: new ResponseBytes({ responseType: id_pkix_ocsp_basic, response: new OctetString(AsnConvert.serialize(basic)) }),
      }),
    ),
  );
}

/** A refusal of a responder. */
export function ocspRefusal(status: 'malformedRequest' | 'tryLater' | 'unauthorized'): Buffer {
  return Buffer.from(AsnConvert.serialize(new OCSPResponse({ responseStatus: OCSPResponseStatus[status] })));
}
