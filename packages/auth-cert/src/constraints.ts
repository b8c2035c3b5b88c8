import { matchesGlob } from '@strongroom/auth-sdk';
import type { TrustedRole } from './role-store.ts';
import type { Certificate } from './x509/certificate.ts';
import { textValue } from './x509/text-value.ts';

/** Why the names of a certificate do not fit a role, for operators; undefined if they do. */
export function nameProblem({ role }: TrustedRole, certificate: Certificate): string | undefined {
  const { names, commonName, organizationalUnits } = certificate;
  const rules = [
    ['allowed_names', role.allowed_names, [commonName, ...names.dns, ...names.email]],
    ['allowed_common_names', role.allowed_common_names, [commonName]],
    ['allowed_dns_sans', role.allowed_dns_sans, names.dns],
    ['allowed_email_sans', role.allowed_email_sans, names.email],
    ['allowed_uri_sans', role.allowed_uri_sans, names.uri],
    ['allowed_organizational_units', role.allowed_organizational_units, organizationalUnits],
  ] as const;
  const broken = rules.find(
    ([, patterns, found]) => patterns.length > 0 && !patterns.some((pattern) => found.some((name) => matchesGlob(pattern, name))),
  );
  if (!broken) return undefined;
  const [field, , found] = broken;
  return found.length === 0
    ? `${field}: the certificate has no such name`
    : `${field}: no pattern fits ${found
        .slice(0, 20)
        .map((name) => JSON.stringify(name))
        .join(', ')}`;
}

/** Why the extensions of a certificate do not fit a role, for operators; undefined if they do. */
export function extensionProblem({ requiredExtensions }: TrustedRole, { extensions }: Certificate): string | undefined {
  for (const { oid, pattern } of requiredExtensions) {
    const extension = extensions.get(oid);
    if (!extension) return `required_extensions: the certificate has no extension ${oid}`;
    const text = textValue(extension.value);
    if (text === undefined) return `required_extensions: the value of ${oid} is not a string`;
    if (!matchesGlob(pattern, text))
      return `required_extensions: ${JSON.stringify(text)} of ${oid} does not fit ${JSON.stringify(pattern)}`;
  }
  return undefined;
}

/** What tokens say about the certificate. Dots of OIDs become dashes; a value that is no string is hex. */
export function metadataOf({ role, name }: TrustedRole, certificate: Certificate): Record<string, string> {
  const metadata: Record<string, string> = {
    cert_name: name,
    common_name: certificate.commonName,
    serial_number: certificate.serial.toString(),
    subject_key_id: withColons(certificate.subjectKeyId),
    authority_key_id: withColons(certificate.authorityKeyId),
  };
  for (const oid of role.allowed_metadata_extensions) {
    const extension = certificate.extensions.get(oid);
    if (extension) metadata[oid.replaceAll('.', '-')] = textValue(extension.value) ?? Buffer.from(extension.value).toString('hex');
  }
  return metadata;
}

function withColons(hex = ''): string {
  return hex.replace(/..(?=.)/g, '$&:');
}
