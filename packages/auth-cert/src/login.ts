import { requireAddress, StepTrace, termsFor, type StepReport } from '@strongroom/auth-sdk';
import { BadRequest, EngineError, type EngineResponse, type Log, type MountInfo } from '@strongroom/engine-sdk';
import type { ConfigStore } from './config.ts';
import { metadataOf } from './constraints.ts';
import { noCertificate, notTrusted, STEPS, unusable, type Step } from './failures.ts';
import { judge, type Facts, type JudgeParts, type ShownPath } from './judge.ts';
import type { RoleStore, TrustedRole } from './role-store.ts';
import { Certificate, CertificateUnreadable } from './x509/certificate.ts';
import type { CertificatePath } from './x509/path.ts';

export type Report = StepReport<Step, Facts>;

/** What a login works with. */
export interface LoginParts extends JudgeParts {
  readonly roles: RoleStore;
  readonly configs: ConfigStore;
  readonly log: Log;
  readonly mount: MountInfo;
}

/** Kept with the token, for renewals. */
export interface LoginInternal {
  readonly role: string;
  /** SHA-256 of the certificate, as hex. */
  readonly certificate: string;
}

export interface LoginCall {
  /** '' tries all roles, in the order of their names. */
  readonly name: string;
  readonly certificates: readonly Uint8Array[];
  readonly remoteAddress: string;
  readonly signal: AbortSignal;
}

/** @throws BadRequest, of the role that went furthest; TokenRefused for an address that the role refuses */
export async function login(call: LoginCall, parts: LoginParts): Promise<EngineResponse<never>> {
  const shown = readShown(call.certificates);
  const { trusted, path } = await firstFitting(call, shown, parts);
  const { role } = trusted;
  requireAddress(role, call.remoteAddress);
  const config = await parts.configs.read();
  const metadata = metadataOf(trusted, shown.leaf);
  const internal: LoginInternal = { role: trusted.name, certificate: shown.leaf.digest };
  return {
    auth: {
      displayName: role.display_name,
      policies: role.token_policies,
      metadata,
      alias: {
        name: aliasOf(path, config.prefix_alias_with_issuer),
        ...(config.enable_identity_alias_metadata ? { metadata } : {}),
      },
      terms: termsFor(role, call.remoteAddress),
      internal: { ...internal },
    },
  };
}

/** The certificates that a caller has shown. @throws BadRequest if there are none, or the caller's own cannot be read */
export function readShown(certificates: readonly Uint8Array[]): ShownPath {
  const [own, ...others] = certificates;
  if (!own) throw noCertificate();
  return { leaf: read(own), intermediates: others.flatMap(readable) };
}

/** The name of the entity's alias. Key ids are worked out here, so no CA can choose that of another one. @throws BadRequest without a common name */
export function aliasOf([leaf, issuer = leaf]: CertificatePath, withIssuer: boolean): string {
  const { commonName } = leaf;
  if (commonName === '') throw new BadRequest('missing name in alias: the subject of the certificate has no common name');
  if (/\p{Cc}/u.test(commonName) || commonName !== commonName.trim()) {
    throw new BadRequest('the common name of the certificate has control characters, or spaces at its ends: it cannot name an entity');
  }
  return withIssuer ? `${issuer.keyDigest}/${commonName}` : commonName;
}

async function firstFitting(
  call: LoginCall,
  shown: ShownPath,
  parts: LoginParts,
): Promise<{ trusted: TrustedRole; path: CertificatePath }> {
  const { roles, clock, log, mount } = parts;
  const named = call.name === '' ? await roles.all() : [await roles.get(call.name)].filter((role) => role !== undefined);
  let furthest: { readonly error: EngineError; readonly report: Report; readonly role: string } | undefined;
  for (const trusted of named) {
    let failed: Report | undefined;
    const trace = new StepTrace<Step, Facts>(clock, (report) => {
      if (!report.ok) failed = report;
    });
    try {
      return { trusted, path: await judge(trusted, shown, trace, parts, call.signal) };
    } catch (error) {
      if (!(error instanceof EngineError) || !failed) throw error;
      if (!furthest || STEPS.indexOf(failed.step) > STEPS.indexOf(furthest.report.step))
        furthest = { error, report: failed, role: trusted.name };
    }
  }
  const serial = shown.leaf.serial.toString();
  const { step, error } = furthest?.report ?? { step: 'path', error: call.name === '' ? 'the mount has no role' : 'there is no such role' };
  log.info('a certificate login was refused', { mount: mount.path, role: furthest?.role, serial, step, error });
  throw furthest?.error ?? notTrusted();
}

function read(der: Uint8Array): Certificate {
  try {
    return Certificate.read(der);
  } catch (error) {
    throw error instanceof CertificateUnreadable ? unusable(error.message) : error;
  }
}

/** What cannot be read is no part of a path. */
function readable(der: Uint8Array): Certificate[] {
  try {
    return [Certificate.read(der)];
  } catch (error) {
    if (error instanceof CertificateUnreadable) return [];
    throw error;
  }
}
