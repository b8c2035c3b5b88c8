import { mergeRoleTokens, roleTokenData, roleTokenFields, RoleTokens } from '@strongroom/auth-sdk';
import { BadRequest, f } from '@strongroom/engine-sdk';
import { Type, type Static } from 'typebox';
import { httpUrl } from './outside-url.ts';
import { Certificate, CertificateUnreadable } from './x509/certificate.ts';
import { isForClients } from './x509/path.ts';

const PATTERNS = 'One is enough; `*` stands for any characters. An empty list allows everything.';

/** The parameters of `certs/:name`, with the names of Vault and OpenBao. */
export const roleFields = {
  certificate: f.string(
    'PEM. If the first certificate is a CA, the role accepts every certificate that the CAs issued. Otherwise, it accepts only this certificate.',
  ),
  allowed_names: f.commaStrings(`Patterns for the common name, a DNS name or a mail address. ${PATTERNS}`, { deprecated: true }),
  allowed_common_names: f.commaStrings(`Patterns for the common name. ${PATTERNS}`),
  allowed_dns_sans: f.commaStrings(`Patterns for DNS names. ${PATTERNS}`),
  allowed_email_sans: f.commaStrings(`Patterns for mail addresses. ${PATTERNS}`),
  allowed_uri_sans: f.commaStrings(`Patterns for URIs. ${PATTERNS}`),
  allowed_organizational_units: f.commaStrings(`Patterns for organizational units of the subject. ${PATTERNS}`),
  required_extensions: f.commaStrings('Required extensions, each as `oid:pattern`. The value of the extension must be an ASN.1 string.'),
  allowed_metadata_extensions: f.commaStrings('OIDs of extensions whose values are copied to the metadata of the token.'),
  display_name: f.string('Display name of tokens. Default: the name of the role.'),
  ocsp_enabled: f.bool('Check with an OCSP responder whether the certificate is revoked.'),
  ocsp_ca_certificates: f.string('PEM of additional CAs whose OCSP responders are trusted.'),
  ocsp_servers_override: f.commaStrings('URLs of OCSP responders to use instead of those in the certificate.'),
  ocsp_fail_open: f.bool(
    'Allow a login if no OCSP responder can be reached or knows the certificate. A revoked certificate is always refused.',
  ),
  ocsp_query_all_servers: f.bool(
    'Query all OCSP responders, and require each to report the certificate as good. By default, the first response decides.',
  ),
  ...roleTokenFields(['policies', 'ttl', 'lease', 'max_ttl', 'period', 'bound_cidrs']),
} as const;

const Lists = {
  allowed_names: Type.Array(Type.String()),
  allowed_common_names: Type.Array(Type.String()),
  allowed_dns_sans: Type.Array(Type.String()),
  allowed_email_sans: Type.Array(Type.String()),
  allowed_uri_sans: Type.Array(Type.String()),
  allowed_organizational_units: Type.Array(Type.String()),
  required_extensions: Type.Array(Type.String()),
  allowed_metadata_extensions: Type.Array(Type.String()),
  ocsp_servers_override: Type.Array(Type.String()),
};
const Texts = { certificate: Type.String(), display_name: Type.String(), ocsp_ca_certificates: Type.String() };
const Flags = { ocsp_enabled: Type.Boolean(), ocsp_fail_open: Type.Boolean(), ocsp_query_all_servers: Type.Boolean() };

/** The record of a role. */
export const Role = Type.Object({ ...Texts, ...Lists, ...Flags, ...RoleTokens.properties });
export type Role = Static<typeof Role>;

/** What a write makes of the stored role: only what was supplied changes. @throws BadRequest naming the field */
export function mergeRole(
  stored: Role | undefined,
  data: { readonly [K in keyof typeof roleFields]?: unknown },
  supplied: ReadonlySet<string>,
  name: string,
): Role {
  const own: Record<string, unknown> = {};
  const take = (fields: object, empty: unknown): void => {
    for (const key of Object.keys(fields) as (keyof Role & keyof typeof roleFields)[]) {
      own[key] = supplied.has(key) ? (data[key] ?? empty) : (stored?.[key] ?? empty);
    }
  };
  take(Texts, '');
  take(Lists, []);
  take(Flags, false);
  if (own['display_name'] === '') own['display_name'] = name;
  const role = { ...own, ...mergeRoleTokens(stored, data, supplied) } as Role;
  checkCertificate(role.certificate);
  checkExtensions(role);
  checkOcsp(role);
  return role;
}

/** What a read shows: lists that allow everything as null. */
export function roleData(role: Role): Record<string, unknown> {
  const { old_names: _, ...rest } = role;
  const own: Record<string, unknown> = Object.fromEntries(
    Object.keys({ ...Texts, ...Lists, ...Flags }).map((key) => [key, rest[key as keyof typeof rest]]),
  );
  for (const key of Object.keys(Lists)) if ((own[key] as string[]).length === 0) own[key] = null;
  return { ...own, ...roleTokenData(role) };
}

/** `oid:pattern`; undefined for anything else. */
export function requiredExtension(text: string): { readonly oid: string; readonly pattern: string } | undefined {
  const at = text.indexOf(':');
  const oid = text.slice(0, at);
  return at > 0 && isOid(oid) ? { oid, pattern: text.slice(at + 1) } : undefined;
}

function checkCertificate(pem: string): void {
  let certificates: Certificate[];
  try {
    certificates = Certificate.readPem(pem);
  } catch (error) {
    if (!(error instanceof CertificateUnreadable)) throw error;
    throw new BadRequest(`failed to parse certificate: ${error.message}`);
  }
  const [first, ...rest] = certificates;
  if (!first) throw new BadRequest('failed to parse certificate');
  if (!first.isAuthority) {
    if (first.extendedKeyUsage === undefined || !isForClients(first)) {
      throw new BadRequest('nonCA certificates should have TLS client authentication set as an extended key usage');
    }
    return;
  }
  const other = rest.findIndex((one) => !one.isAuthority);
  if (other >= 0) throw new BadRequest(`certificate: the first certificate is a CA, so all must be; certificate ${other + 2} is none`);
}

function checkExtensions(role: Role): void {
  const malformed = role.required_extensions.find((text) => requiredExtension(text) === undefined);
  if (malformed !== undefined) {
    throw new BadRequest(`required_extensions: ${JSON.stringify(malformed)} is not an OID and a pattern, such as "1.2.3.4.5:blue*"`);
  }
  const noOid = role.allowed_metadata_extensions.find((text) => !isOid(text));
  if (noOid !== undefined) throw new BadRequest(`allowed_metadata_extensions: ${JSON.stringify(noOid)} is not an OID, such as "1.2.3.4.5"`);
}

function checkOcsp(role: Role): void {
  for (const url of role.ocsp_servers_override) {
    if (httpUrl(url) === undefined) throw new BadRequest(`ocsp_servers_override: ${JSON.stringify(url)} is not a URL with http or https`);
  }
  if (role.ocsp_ca_certificates === '') return;
  try {
    if (Certificate.readPem(role.ocsp_ca_certificates).length > 0) return;
  } catch (error) {
    if (!(error instanceof CertificateUnreadable)) throw error;
  }
  throw new BadRequest('ocsp_ca_certificates: no certificate in PEM');
}

function isOid(text: string): boolean {
  return /^[0-2](\.(0|[1-9]\d*))+$/.test(text);
}
