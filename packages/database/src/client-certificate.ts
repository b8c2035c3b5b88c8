import { createHash, createPrivateKey, generateKeyPair, randomBytes, sign, type KeyObject, X509Certificate } from 'node:crypto';
import { promisify } from 'node:util';
import { InvalidRequest } from '@strongroom/engine-sdk';
import { subjectOf } from './certificate-subject.ts';
import { bitString, boolean, explicit, integer, objectId, octetString, readDer, sequence, set, tagged, time, utf8String } from './der.ts';

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
const OID = {
  commonName: '2.5.4.3',
  basicConstraints: '2.5.29.19',
  keyUsage: '2.5.29.15',
  extendedKeyUsage: '2.5.29.37',
  subjectKeyId: '2.5.29.14',
  authorityKeyId: '2.5.29.35',
  clientAuth: '1.3.6.1.5.5.7.3.2',
} as const;
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
  const { name: authorityName, keyId: authorityKey } = readAuthority(authority.raw);
  const body = sequence(
    explicit(0, integer(2)),
    integer(positive(randomBytes(16))),
    algorithm,
    authorityName,
    sequence(time(new Date(now.getTime() - BACKDATED)), time(expiresAt)),
    sequence(set(sequence(objectId(OID.commonName), utf8String(commonName)))),
    spki,
    explicit(
      3,
      sequence(
        extension(OID.basicConstraints, true, sequence()),
        extension(OID.keyUsage, true, bitString(Buffer.from([0xa0]), 5)),
        extension(OID.extendedKeyUsage, false, sequence(objectId(OID.clientAuth))),
        extension(OID.subjectKeyId, false, octetString(createHash('sha1').update(spki).digest())),
        ...(authorityKey ? [extension(OID.authorityKeyId, false, sequence(tagged(0x80, authorityKey)))] : []),
      ),
    ),
  );
  const signature = sign(signer.asymmetricKeyType === 'ed25519' ? null : `sha${hash}`, body, signer);
  const certificate = sequence(body, algorithm, bitString(signature));
  return {
    subject: subjectOf(commonName),
    certificate: pem('CERTIFICATE', certificate),
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  };
}

async function keyPair(type: string, bits: string): Promise<{ privateKey: KeyObject; publicKey: KeyObject }> {
  if (type === 'rsa') return newKeyPair('rsa', { modulusLength: Number(bits || 2048) });
  if (type === 'ec') return newKeyPair('ec', { namedCurve: CURVES[bits || '256']! });
  return newKeyPair('ed25519');
}

function signatureAlgorithm(signer: KeyObject, hash: string): Buffer {
  switch (signer.asymmetricKeyType) {
    case 'rsa':
      return sequence(objectId(RSA_SIGNATURES[hash]!), Buffer.from([0x05, 0x00]));
    case 'ec':
      return sequence(objectId(EC_SIGNATURES[hash]!));
    case 'ed25519':
      return sequence(objectId(ED25519));
    default:
      throw new InvalidRequest('ca_private_key must be an rsa, ec or ed25519 key');
  }
}

function extension(id: string, critical: boolean, value: Buffer): Buffer {
  return sequence(objectId(id), ...(critical ? [boolean(true)] : []), octetString(value));
}

/** The subject of an authority's certificate as it stands there, and its subject key identifier. */
function readAuthority(certificate: Buffer): { name: Buffer; keyId: Buffer | undefined } {
  const body = readDer(readDer(readDer(certificate)[0]!.content)[0]!.content);
  const fields = body[0]!.tag === 0xa0 ? body.slice(1) : body;
  const extensions = body.find((node) => node.tag === 0xa3);
  const wanted = objectId(OID.subjectKeyId);
  let keyId: Buffer | undefined;
  for (const node of extensions ? readDer(readDer(extensions.content)[0]!.content) : []) {
    const parts = readDer(node.content);
    if (parts[0]!.whole.equals(wanted)) keyId = readDer(parts.at(-1)!.content)[0]!.content;
  }
  return { name: fields[4]!.whole, keyId };
}

function positive(bytes: Buffer): Buffer {
  bytes[0] = (bytes[0]! & 0x7f) | 0x40;
  return bytes;
}

function pem(label: string, der: Buffer): string {
  return `-----BEGIN ${label}-----\n${der.toString('base64').replace(/.{64}(?!$)/g, '$&\n')}\n-----END ${label}-----\n`;
}
