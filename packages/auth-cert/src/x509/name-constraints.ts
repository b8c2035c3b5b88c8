import type { GeneralName, GeneralSubtree, Name } from '@peculiar/asn1-x509';
import { foldName, isCidr, withinCidrs } from '@strongroom/engine-sdk';
import type { Certificate } from './certificate.ts';

type Kind = 'dns' | 'email' | 'uri' | 'ip' | 'directory' | 'other';

interface PlainName {
  readonly kind: Kind;
  readonly text: string;
  /** Of a directory name: the folded parts. */
  readonly parts?: readonly string[];
}

const EMAIL_ADDRESS = '1.2.840.113549.1.9.1';

/**
 * What forbids a certificate by the name constraints of a CA above it (RFC 5280, 4.2.1.10), in words; undefined if nothing does. Constraints of kinds that are
 * not known here forbid all names of those kinds.
 */
export function constraintAgainst(authority: Certificate, below: Certificate): string | undefined {
  const constraints = authority.nameConstraints;
  if (!constraints) return undefined;
  const permitted = [...(constraints.permittedSubtrees ?? [])];
  const excluded = [...(constraints.excludedSubtrees ?? [])];
  if ([...permitted, ...excluded].some(({ minimum, maximum }) => (minimum ?? 0) !== 0 || maximum !== undefined)) {
    return 'a CA above it has name constraints with distances, which nobody defines';
  }
  for (const name of namesOf(below)) {
    const ofKind = (trees: readonly GeneralSubtree[]): PlainName[] =>
      trees.map(({ base }) => plain(base)).filter(({ kind }) => kind === name.kind);
    const outside = ofKind(permitted);
    if (outside.length > 0 && !outside.some((base) => isWithin(name, base)))
      return `the name ${shown(name)} is not permitted by a CA above it`;
    if (ofKind(excluded).some((base) => isWithin(name, base) || covers(name, base) || base.kind === 'other' || !isUsable(base))) {
      return `the name ${shown(name)} is excluded by a CA above it`;
    }
  }
  return undefined;
}

/** Everything that constraints speak of: the subject, alternative names, and names that older certificates have in the subject. */
function namesOf(certificate: Certificate): PlainName[] {
  const { names, subject, commonName } = certificate;
  const inSubject = names.email.length === 0 ? certificate.attributes(EMAIL_ADDRESS) : [];
  return [
    ...(subject.length === 0 ? [] : [directory(subject)]),
    ...names.all.map(plain),
    ...inSubject.map((text): PlainName => ({ kind: 'email', text })),
    ...(names.dns.length === 0 && !certificate.isAuthority && isHostName(commonName) ? [{ kind: 'dns' as const, text: commonName }] : []),
  ];
}

function isHostName(text: string): boolean {
  return /^[\w*-]+(\.[\w-]+)+\.?$/.test(text);
}

function plain(name: GeneralName): PlainName {
  if (name.dNSName !== undefined) return { kind: 'dns', text: name.dNSName };
  if (name.rfc822Name !== undefined) return { kind: 'email', text: name.rfc822Name };
  if (name.uniformResourceIdentifier !== undefined) return { kind: 'uri', text: name.uniformResourceIdentifier };
  if (name.iPAddress !== undefined) return { kind: 'ip', text: name.iPAddress };
  if (name.directoryName !== undefined) return directory(name.directoryName);
  return { kind: 'other', text: '' };
}

function directory(name: Name): PlainName {
  const parts = name.map((part) =>
    [...part]
      .map(({ type, value }) => `${type}=${foldName(value.toString())}`)
      .sort()
      .join('+'),
  );
  return { kind: 'directory', text: parts.join(','), parts };
}

function shown({ kind, text }: PlainName): string {
  return kind === 'other' ? 'of an unknown kind' : JSON.stringify(text.slice(0, 200));
}

/** A base that cannot be understood permits nothing, and excludes everything. */
function isUsable({ kind, text }: PlainName): boolean {
  return kind !== 'ip' || isCidr(text);
}

function isWithin(name: PlainName, base: PlainName): boolean {
  switch (base.kind) {
    case 'dns':
      return domainWithin(name.text, base.text);
    case 'email':
      return emailWithin(name.text, base.text);
    case 'uri':
      return hostWithin(hostOf(name.text), base.text);
    case 'ip':
      return isCidr(base.text) && withinCidrs([base.text], name.text);
    case 'directory':
      return base.parts!.every((part, index) => part === name.parts![index]);
    case 'other':
      return false;
  }
}

/** A wildcard covers an excluded name below it. A URI whose host cannot be told is excluded by every constraint. */
function covers(name: PlainName, base: PlainName): boolean {
  if (name.kind === 'dns' && name.text.startsWith('*.')) return domainWithin(base.text.replace(/^\./, ''), name.text.slice(2));
  return name.kind === 'uri' && hostOf(name.text) === undefined;
}

/** `a.example.org` is within `example.org` and `.example.org`; `example.org` only within the first. */
function domainWithin(name: string, base: string): boolean {
  const [plainName, plainBase] = [withoutDot(name), withoutDot(base)];
  if (plainBase === '') return true;
  if (plainBase.startsWith('.')) return plainName.endsWith(plainBase);
  return plainName === plainBase || plainName.endsWith(`.${plainBase}`);
}

/** A mailbox, a host, or with a leading dot a domain. */
function emailWithin(mailbox: string, base: string): boolean {
  const at = mailbox.lastIndexOf('@');
  if (at < 0) return false;
  if (base.includes('@')) {
    const split = base.lastIndexOf('@');
    return mailbox.slice(0, at) === base.slice(0, split) && withoutDot(mailbox.slice(at + 1)) === withoutDot(base.slice(split + 1));
  }
  return hostWithin(mailbox.slice(at + 1), base);
}

/** Exactly this host, or with a leading dot any host below it. */
function hostWithin(host: string | undefined, base: string): boolean {
  if (host === undefined) return false;
  const [plainHost, plainBase] = [withoutDot(host), withoutDot(base)];
  if (plainBase === '') return true;
  return plainBase.startsWith('.') ? plainHost.endsWith(plainBase) : plainHost === plainBase;
}

/** Undefined without an authority, and for an address in place of a name. */
function hostOf(uri: string): string | undefined {
  const [, authority] = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i.exec(uri) ?? [];
  const host = authority?.replace(/^.*@/, '').replace(/:\d*$/, '');
  return host === undefined || host === '' || host.startsWith('[') || /^[\d.]+$/.test(host) ? undefined : host;
}

function withoutDot(domain: string): string {
  return domain.toLowerCase().replace(/(?<=.)\.$/, '');
}
