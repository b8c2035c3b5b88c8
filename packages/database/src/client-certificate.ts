import { createHash, createPrivateKey, generateKeyPair, randomBytes, sign, type KeyObject, X509Certificate } from 'node:crypto';
import { promisify } from 'node:util';
import { AsnConvert, OctetString } from '@peculiar/asn1-schema';
import {
  AlgorithmIdentifier,
  AttributeTypeAndValue,
  AttributeValue,
  AuthorityKeyIdentifier,
  BasicConstraints,
  Certificate,
  ExtendedKeyUsage,
  Extension,
  Extensions,
  id_ce_authorityKeyIdentifier,
  id_ce_basicConstraints,
  id_ce_extKeyUsage,
  id_ce_keyUsage,
  id_ce_subjectKeyIdentifier,
  id_kp_clientAuth,
  KeyIdentifier,
  KeyUsage,
  KeyUsageFlags,
  Name,
  RelativeDistinguishedName,
  SubjectKeyIdentifier,
  SubjectPublicKeyInfo,
  TBSCertificate,
  Validity,
  Version,
} from '@peculiar/asn1-x509';
import { InvalidRequest } from '@strongroom/engine-sdk';
import { subjectOf } from './certificate-subject.ts';

export interface CertificateOrder {
  /** `credential_config` of the role, checked. */
  readonly config: Readonly<Record<string, string>>;
  readonly commonName: string;
  readonly now: Date;
  readonly expiresAt: Date;
}

export interface IssuedCertificate {
  /** RFC 4514: `CN=…`. */
  readonly subject: string;
  /** PEM. */
  readonly certificate: string;
  /** PEM, PKCS #8. */
  readonly privateKey: string;
}

const newKeyPair = promisify(generateKeyPair);
const CURVES: Readonly<Record<string, string>> = { '224': 'P-224', '256': 'P-256', '384': 'P-384', '521': 'P-521' };
const RSA_SIGNATURES: Readonly<Record<string, string>> = {
  '256': '1.2.840.113549.1.1.11',
  '384': '1.2.840.113549.1.1.12',
  '512': '1.2.840.113549.1.1.13',
};
const EC_SIGNATURES: Readonly<Record<string, string>> = {
  '256': '1.2.840.10045.4.3.2',
  '384': '1.2.840.10045.4.3.3',
  '512': '1.2.840.10045.4.3.4',
};
const ED25519 = '1.3.101.112';
const COMMON_NAME = '2.5.4.3';
/** RSA signatures name their parameters, and say that there are none. */
const DER_NULL = Uint8Array.of(0x05, 0x00).buffer;
/** Clocks differ: the certificate is good from a little before now. Milliseconds. */
const BACKDATED = 30_000;
/** The upper bound of a common name (RFC 5280, ub-common-name). */
const LONGEST_COMMON_NAME = 64;

/** A client certificate and its key, signed by the authority of the role. @throws InvalidRequest */
export async function issueCertificate({ config, commonName, now, expiresAt }: CertificateOrder): Promise<IssuedCertificate> {
  if (commonName === '' || commonName.length > LONGEST_COMMON_NAME) {
    throw new InvalidRequest(
      `the common name of a certificate has 1 to ${LONGEST_COMMON_NAME} characters; this one has ${commonName.length}`,
    );
  }
  const authority = new X509Certificate(config['ca_cert']!);
  const signer = createPrivateKey(config['ca_private_key']!);
  if (new Date(authority.validTo) < expiresAt) {
    throw new InvalidRequest(`ca_cert ends on ${new Date(authority.validTo).toISOString()}, before the certificate that it should sign`);
  }
  const { privateKey, publicKey } = await keyPair(config['key_type']!, config['key_bits'] ?? '');
  const hash = config['signature_bits'] || '256';
  const algorithm = signatureAlgorithm(signer, hash);
  const spki = publicKey.export({ type: 'spki', format: 'der' });
  const { subject: issuer, keyId: issuerKeyId } = readAuthority(authority.raw);
  const body = new TBSCertificate({
    version: Version.v3,
    serialNumber: arrayBuffer(serialNumber()),
    signature: algorithm,
    issuer,
    validity: new Validity({ notBefore: new Date(now.getTime() - BACKDATED), notAfter: expiresAt }),
    subject: named(commonName),
    subjectPublicKeyInfo: AsnConvert.parse(spki, SubjectPublicKeyInfo),
    extensions: new Extensions([
      extension(id_ce_basicConstraints, true, new BasicConstraints()),
      extension(id_ce_keyUsage, true, new KeyUsage(KeyUsageFlags.digitalSignature | KeyUsageFlags.keyEncipherment)),
      extension(id_ce_extKeyUsage, false, new ExtendedKeyUsage([id_kp_clientAuth])),
      extension(id_ce_subjectKeyIdentifier, false, new SubjectKeyIdentifier(createHash('sha1').update(spki).digest())),
      ...(issuerKeyId ? [extension(id_ce_authorityKeyIdentifier, false, new AuthorityKeyIdentifier({ keyIdentifier: issuerKeyId }))] : []),
    ]),
  });
  const signature = sign(signer.asymmetricKeyType === 'ed25519' ? null : `sha${hash}`, Buffer.from(AsnConvert.serialize(body)), signer);
  const certificate = AsnConvert.serialize(
    new Certificate({ tbsCertificate: body, signatureAlgorithm: algorithm, signatureValue: arrayBuffer(signature) }),
  );
  return {
    subject: subjectOf(commonName),
    certificate: pem('CERTIFICATE', Buffer.from(certificate)),
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  };
}

async function keyPair(type: string, bits: string): Promise<{ privateKey: KeyObject; publicKey: KeyObject }> {
  if (type === 'rsa') return newKeyPair('rsa', { modulusLength: Number(bits || 2048) });
  if (type === 'ec') return newKeyPair('ec', { namedCurve: CURVES[bits || '256']! });
  return newKeyPair('ed25519');
}

function signatureAlgorithm(signer: KeyObject, hash: string): AlgorithmIdentifier {
  switch (signer.asymmetricKeyType) {
    case 'rsa':
      return new AlgorithmIdentifier({ algorithm: RSA_SIGNATURES[hash]!, parameters: DER_NULL });
    case 'ec':
      return new AlgorithmIdentifier({ algorithm: EC_SIGNATURES[hash]! });
    case 'ed25519':
      return new AlgorithmIdentifier({ algorithm: ED25519 });
    default:
      throw new InvalidRequest('ca_private_key must be an rsa, ec or ed25519 key');
  }
}

function extension(extnID: string, critical: boolean, value: object): Extension {
  return new Extension({ extnID, critical, extnValue: new OctetString(AsnConvert.serialize(value)) });
}

function named(commonName: string): Name {
  const value = new AttributeValue({ utf8String: commonName });
  return new Name([new RelativeDistinguishedName([new AttributeTypeAndValue({ type: COMMON_NAME, value })])]);
}

/** The subject of an authority's certificate and its subject key identifier. */
function readAuthority(certificate: Buffer): { subject: Name; keyId: KeyIdentifier | undefined } {
  const { subject, extensions } = AsnConvert.parse(certificate, Certificate).tbsCertificate;
  const found = extensions?.find(({ extnID }) => extnID === id_ce_subjectKeyIdentifier);
  return { subject, keyId: found && new KeyIdentifier(AsnConvert.parse(found.extnValue.buffer, SubjectKeyIdentifier).buffer) };
}

/** Positive, and without a zero in front. */
function serialNumber(): Buffer {
  const bytes = randomBytes(16);
  bytes[0] = (bytes[0]! & 0x7f) | 0x40;
  return bytes;
}

function arrayBuffer(bytes: Uint8Array): ArrayBuffer {
  return new Uint8Array(bytes).buffer;
}

function pem(label: string, der: Buffer): string {
  return `-----BEGIN ${label}-----\n${der.toString('base64').replace(/.{64}(?!$)/g, '$&\n')}\n-----END ${label}-----\n`;
}
