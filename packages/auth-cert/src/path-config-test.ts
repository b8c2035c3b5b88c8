import { StepTrace, testReport } from '@strongroom/auth-sdk';
import { type AnyPath, BadRequest, EngineError, f, path, Timestamp } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import type { Step } from './failures.ts';
import { judge, type Facts } from './judge.ts';
import { aliasOf, readShown, type LoginParts, type Report } from './login.ts';
import { mergeRole, roleFields } from './role.ts';
import { trusted, type TrustedRole } from './role-store.ts';
import { Certificate, CertificateUnreadable } from './x509/certificate.ts';

/** How one role judges the certificate. */
interface RoleReport {
  readonly role: string;
  readonly ok: boolean;
  readonly steps: readonly Report[];
  readonly alias?: string;
  readonly policies?: readonly string[];
}

const texts = Type.Array(Type.String());
const TestedCertificate = Type.Object({
  ok: Type.Boolean(),
  certificate: Type.Object({
    common_name: Type.String(),
    serial_number: Type.String(),
    not_before: Timestamp,
    not_after: Timestamp,
    dns_sans: texts,
    email_sans: texts,
    uri_sans: texts,
    organizational_units: texts,
    came_with: Type.Integer({ description: 'Intermediates that came with it.' }),
  }),
  roles: Type.Array(testReport({ role: Type.String(), alias: Type.Optional(Type.String()), policies: Type.Optional(texts) })),
});

/** Roles that are tried where none is named. */
const MOST_ROLES = 100;

export function configTestPath(parts: LoginParts): AnyPath {
  return path('config/test', {
    synopsis: 'Test a certificate against the roles step by step.',
    description:
      'The test stores nothing and issues no token. Without client_certificate, it uses the certificate of the caller. Role parameters in the request override those ' +
      'of the named role, or define a temporary role. It requires sudo, because the result reveals which roles exist and the server queries OCSP responders.',
    access: 'sudo',
    fields: {
      ...roleFields,
      name: f.string('Role to test. Default: all roles.', { default: '', folds: (name: string) => name.toLowerCase() }),
      client_certificate: f.string('PEM of the certificate to test, followed by the intermediates that the client sends.', { default: '' }),
    },
  }).update({
    summary: 'Test a certificate.',
    response: TestedCertificate,
    handle: async (req) => {
      const { name, client_certificate: pem, ...data } = req.data;
      const shown = readShown(pem === '' ? (req.caller.certificates ?? []) : certificatesIn(pem));
      const roles = await rolesToTry(parts, name, data, req.supplied);
      const reports: RoleReport[] = [];
      for (const one of roles.slice(0, MOST_ROLES)) {
        const steps: Report[] = [];
        const trace = new StepTrace<Step, Facts>(parts.clock, (report) => steps.push(report));
        try {
          const ok = await judge(one, shown, trace, parts, req.signal);
          const since = trace.start();
          const alias = aliasOf(ok, (await parts.configs.read()).prefix_alias_with_issuer);
          const policies = [...one.role.token_policies, ...(one.role.token_no_default_policy ? [] : ['default'])].sort();
          trace.passed('policies', since);
          reports.push({ role: one.name, ok: true, steps, alias, policies });
        } catch (error) {
          if (!(error instanceof EngineError) || error.status >= 500) throw error;
          if (steps.every((step) => step.ok)) trace.failed('policies', trace.start(), {}, error, error);
          reports.push({ role: one.name, ok: false, steps });
        }
      }
      const { leaf } = shown;
      const { names } = leaf;
      return {
        data: {
          ok: reports.some(({ ok }) => ok),
          certificate: {
            common_name: leaf.commonName,
            serial_number: leaf.serial.toString(),
            not_before: new Date(leaf.notBefore).toISOString(),
            not_after: new Date(leaf.notAfter).toISOString(),
            dns_sans: names.dns,
            email_sans: names.email,
            uri_sans: names.uri,
            organizational_units: leaf.organizationalUnits,
            came_with: shown.intermediates.length,
          },
          roles: reports,
        },
      };
    },
  });
}

function certificatesIn(pem: string): Buffer[] {
  try {
    const certificates = Certificate.readPem(pem);
    if (certificates.length > 0) return certificates.map(({ der }) => der);
  } catch (error) {
    if (!(error instanceof CertificateUnreadable)) throw error;
    throw new BadRequest(`client_certificate: ${error.message}`);
  }
  throw new BadRequest('client_certificate: no certificate in PEM');
}

/** @throws BadRequest for a role that does not exist, or cannot be put together */
async function rolesToTry(
  { roles }: LoginParts,
  name: string,
  data: Parameters<typeof mergeRole>[1],
  supplied: ReadonlySet<string>,
): Promise<readonly TrustedRole[]> {
  const stored = name === '' ? undefined : await roles.get(name);
  if (Object.keys(roleFields).some((field) => supplied.has(field))) {
    return [trusted(name === '' ? 'request' : name, mergeRole(stored?.role, data, supplied, name))];
  }
  if (name === '') return roles.all();
  if (!stored) throw new BadRequest(`name: there is no role ${JSON.stringify(name)}`);
  return [stored];
}
