import { AsnConvert } from '@peculiar/asn1-schema';
import {
  AlgorithmIdentifier,
  AuthorityKeyIdentifier,
  Extensions,
  id_ce_authorityKeyIdentifier,
  id_ce_cRLNumber,
  id_ce_cRLReasons,
  id_ce_deltaCRLIndicator,
  id_ce_invalidityDate,
  id_ce_issuingDistributionPoint,
  IssuingDistributionPoint,
  KeyUsageFlags,
  Name,
} from '@peculiar/asn1-x509';
import { type Certificate, idOf } from '../x509/certificate.ts';
import { DerWalker, TAG, type Element } from '../x509/der.ts';
import { isSignedBy, type Signed } from '../x509/signature.ts';

/** A list that cannot be used. The message says why. */
export class ListUnusable extends Error {
  override readonly name = 'ListUnusable';
}

/** Extensions of entries that change nothing: why and when a certificate was revoked. */
const ENTRY_EXTENSIONS: ReadonlySet<string> = new Set([id_ce_cRLReasons, id_ce_invalidityDate].map((oid) => oidHex(oid)));
const LIST_EXTENSIONS: ReadonlySet<string> = new Set([id_ce_authorityKeyIdentifier, id_ce_cRLNumber, id_ce_issuingDistributionPoint]);

/** A list of revoked certificates (RFC 5280, section 5), read once. Nothing of it is trusted. */
export class RevocationList {
  readonly der: Buffer;
  /** DER of the name of the CA, as hex. */
  readonly issuerId: string;
  /** Text of that name, for people. */
  readonly issuer: string;
  readonly authorityKeyId: string | undefined;
  /** Which part of the CA's certificates it speaks of, as the CA says it (`issuingDistributionPoint`): DER as hex, '' for all. */
  readonly scope: string;
  /** Milliseconds since the epoch. */
  readonly thisUpdate: number;
  readonly nextUpdate: number | undefined;
  readonly #place: IssuingDistributionPoint | undefined;
  readonly #serials: ReadonlySet<string>;
  readonly #signed: Signed;
  readonly #signers = new Map<string, boolean>();

  private constructor(der: Buffer) {
    this.der = der;
    const walker = new DerWalker(der);
    const whole = walker.at(0);
    const [body, algorithm, signature, more] = [...walker.inside(whole)];
    if (whole.end !== der.length || !body || !algorithm || signature?.tag !== TAG.bitString || more)
      throw new ListUnusable('it is no list in DER');
    this.#signed = {
      bytes: arrayBuffer(walker.whole(body)),
      algorithm: AsnConvert.parse(walker.whole(algorithm), AlgorithmIdentifier),
      // The first byte counts bits that are not used.
      signature: arrayBuffer(walker.contents(signature).subarray(1)),
    };
    const parts = [...walker.inside(body)];
    if (parts[0]?.tag === TAG.integer) parts.shift();
    const [inner, issuer, thisUpdate] = parts.splice(0, 3);
    if (!inner || !issuer || !thisUpdate) throw new ListUnusable('it is no list in DER');
    if (!walker.whole(inner).equals(walker.whole(algorithm))) throw new ListUnusable('it names two algorithms of its signature');
    const name = AsnConvert.parse(walker.whole(issuer), Name);
    this.issuerId = idOf(name);
    this.issuer = name.map((part) => part.map(({ value }) => value.toString()).join('+')).join(', ');
    this.thisUpdate = timeOf(walker, thisUpdate);
    const isTime = parts[0]?.tag === TAG.utcTime || parts[0]?.tag === TAG.generalizedTime;
    this.nextUpdate = isTime ? timeOf(walker, parts.shift()!) : undefined;
    this.#serials = parts[0]?.tag === TAG.sequence ? serialsIn(walker, parts.shift()!) : new Set();
    const { keyId, place } = parts[0]?.tag === TAG.explicit0 ? readExtensions(walker.contents(parts[0])) : {};
    this.authorityKeyId = keyId;
    this.scope = place === undefined ? '' : Buffer.from(AsnConvert.serialize(place)).toString('hex');
    this.#place = place;
  }

  /** Reads DER. @throws ListUnusable */
  static read(der: Uint8Array): RevocationList {
    try {
      return new RevocationList(Buffer.from(der));
    } catch (error) {
      if (error instanceof ListUnusable) throw error;
      throw new ListUnusable('it is no list in DER', { cause: error });
    }
  }

  /** How many certificates are revoked. */
  get size(): number {
    return this.#serials.size;
  }

  /** Serial numbers as decimals. */
  serials(): string[] {
    return [...this.#serials].map((hex) => BigInt(`0x${hex}`).toString());
  }

  revokes(serial: bigint): boolean {
    return this.#serials.has(serial.toString(16));
  }

  /** Whether the certificate would be in it, were it revoked. */
  speaksOf({ isAuthority }: Certificate): boolean {
    const { onlyContainsAttributeCerts: none, onlyContainsCACerts: authorities, onlyContainsUserCerts: others } = this.#place ?? {};
    return none !== true && !(isAuthority ? others === true : authorities === true);
  }

  /** Whether this CA has signed the list and may sign lists. The answer for each CA is worked out once. */
  isOf(authority: Certificate): boolean {
    if (authority.subjectId !== this.issuerId) return false;
    if (authority.keyUsage !== undefined && (authority.keyUsage & KeyUsageFlags.cRLSign) === 0) return false;
    const { keyDigest } = authority;
    let signed = this.#signers.get(keyDigest);
    if (signed === undefined) {
      signed = isSignedBy(authority.publicKey, this.#signed);
      if (this.#signers.size < 100) this.#signers.set(keyDigest, signed);
    }
    return signed;
  }

  /** Whether the next list should have come already. */
  isStale(now: number): boolean {
    return this.nextUpdate !== undefined && now > this.nextUpdate;
  }
}

/** Hex without leading zeros. @throws ListUnusable for an entry of another CA, or one that means something unknown */
function serialsIn(walker: DerWalker, list: Element): Set<string> {
  const serials = new Set<string>();
  for (const entry of walker.inside(list)) {
    const [serial, , extensions] = [...walker.inside(entry)];
    if (serial?.tag !== TAG.integer) throw new ListUnusable('it is no list in DER');
    if (extensions) checkEntry(walker, extensions);
    serials.add(
      walker
        .contents(serial)
        .toString('hex')
        .replace(/^0+(?=.)/, ''),
    );
  }
  return serials;
}

function checkEntry(walker: DerWalker, extensions: Element): void {
  for (const extension of walker.inside(extensions)) {
    const [oid, critical] = [...walker.inside(extension)];
    const known = oid !== undefined && ENTRY_EXTENSIONS.has(walker.whole(oid).toString('hex'));
    if (critical?.tag === TAG.boolean && !known)
      throw new ListUnusable('an entry has a critical extension that is not known, such as that of an indirect list');
  }
}

interface ListExtensions {
  /** Key id of the CA. */
  readonly keyId?: string | undefined;
  readonly place?: IssuingDistributionPoint | undefined;
}

/** What extensions say of the list. @throws ListUnusable for a list that is not a whole one of its own CA */
function readExtensions(der: Buffer): ListExtensions {
  let keyId: string | undefined;
  let place: IssuingDistributionPoint | undefined;
  for (const { extnID, critical, extnValue } of AsnConvert.parse(der, Extensions)) {
    if (extnID === id_ce_deltaCRLIndicator) throw new ListUnusable('it is a delta list; give the whole list');
    if (critical && !LIST_EXTENSIONS.has(extnID)) throw new ListUnusable(`its critical extension ${extnID} is not known`);
    if (extnID === id_ce_issuingDistributionPoint) {
      place = AsnConvert.parse(extnValue.buffer, IssuingDistributionPoint);
      if (place.indirectCRL) throw new ListUnusable('it is an indirect list, of several CAs; give the list of each CA');
    }
    if (extnID === id_ce_authorityKeyIdentifier) {
      const { keyIdentifier } = AsnConvert.parse(extnValue.buffer, AuthorityKeyIdentifier);
      keyId = keyIdentifier && Buffer.from(keyIdentifier.buffer).toString('hex');
    }
  }
  return { keyId, place };
}

/** Milliseconds since the epoch. */
function timeOf(walker: DerWalker, element: Element): number {
  const text = walker.contents(element).toString('latin1');
  const [, year = '', rest = ''] = (element.tag === TAG.utcTime ? /^(\d\d)(\d{10})Z$/ : /^(\d{4})(\d{10})Z$/).exec(text) ?? [];
  // UTCTime has two digits, which mean 1950 to 2049.
  const full = year.length === 2 ? `${Number(year) < 50 ? '20' : '19'}${year}` : year;
  const millis = Date.parse(`${full}-${rest.replace(/^(..)(..)(..)(..)(..)$/, '$1-$2T$3:$4:$5Z')}`);
  if (Number.isNaN(millis)) throw new ListUnusable('it has a time that cannot be read');
  return millis;
}

function oidHex(oid: string): string {
  const [first = 0, second = 0, ...rest] = oid.split('.').map(Number);
  return Buffer.from([0x06, rest.length + 1, first * 40 + second, ...rest]).toString('hex');
}

function arrayBuffer(bytes: Uint8Array): ArrayBuffer {
  return new Uint8Array(bytes).buffer;
}
