import { type StepTrace } from '@strongroom/auth-sdk';
import type { Clock } from '@strongroom/engine-sdk';
import { extensionProblem, nameProblem } from './constraints.ts';
import { listFinding } from './crl/list-check.ts';
import type { ListStore } from './crl/list-store.ts';
import { notTrusted, unfit, unusable, type Step } from './failures.ts';
import { askResponders, type OcspParts } from './ocsp/ocsp-checker.ts';
import type { TrustedRole } from './role-store.ts';
import type { Certificate } from './x509/certificate.ts';
import { faultOf, isForClients, pathsTo, validityFault, type CertificatePath, type PathFault } from './x509/path.ts';

/** What the operator may know of a step. */
export interface Facts {
  /** The subject of the CA that a path ends at. */
  readonly authority?: string;
  /** How many certificates a path has. */
  readonly length?: number;
  /** How many revocation lists the CAs of a path have. */
  readonly count?: number;
  /** Why a step passes that found something out. */
  readonly note?: string;
}

export type Trace = StepTrace<Step, Facts>;

/** What a caller has shown, read. */
export interface ShownPath {
  readonly leaf: Certificate;
  /** What came with it; nobody has verified it. */
  readonly intermediates: readonly Certificate[];
}

export interface JudgeParts {
  readonly clock: Clock;
  readonly lists: ListStore;
  readonly ocsp: OcspParts;
  /** The CAs of all roles. */
  authorities(): Promise<readonly Certificate[]>;
}

/**
 * Decides whether a certificate may log in with a role, step by step. Resolves with the path: the caller's certificate and, unless the role trusts this very
 * certificate, the CAs up to one of the role.
 * @throws the BadRequest of the step that failed, which the trace has with its reason
 */
export async function judge(
  trusted: TrustedRole,
  shown: ShownPath,
  trace: Trace,
  parts: JudgeParts,
  signal: AbortSignal,
): Promise<CertificatePath> {
  const now = parts.clock.millis();
  const path = trusted.single ? singlePath(trusted.single, shown, trace, now) : authorityPath(trusted, shown, trace, now);
  checkStep(trace, 'names', nameProblem(trusted, shown.leaf));
  checkStep(trace, 'extensions', extensionProblem(trusted, shown.leaf));
  await checkLists(path, shown, trace, parts, now);
  await checkOcsp(trusted, path, trace, parts, signal);
  return path;
}

/** Exactly the stored certificate: whoever has signed another with its names does not matter. */
function singlePath(single: Certificate, { leaf }: ShownPath, trace: Trace, now: number): CertificatePath {
  const since = trace.start();
  if (!single.equals(leaf)) throw trace.failed('path', since, {}, 'it is not the certificate of the role', notTrusted());
  trace.passed('path', since, { length: 1 });
  const fault =
    validityFault([leaf], now) ?? (isForClients(leaf) ? undefined : { check: 'usage' as const, reason: 'it is not for clients' });
  passOrFail(trace, fault);
  return [leaf];
}

function authorityPath({ anchors }: TrustedRole, { leaf, intermediates }: ShownPath, trace: Trace, now: number): CertificatePath {
  const since = trace.start();
  let first: { readonly path: CertificatePath; readonly fault: PathFault } | undefined;
  for (const path of pathsTo(anchors, leaf, intermediates)) {
    const fault = faultOf(path, now);
    if (!fault) {
      trace.passed('path', since, pathFacts(path));
      passOrFail(trace, undefined);
      return path;
    }
    first ??= { path, fault };
  }
  if (!first) throw trace.failed('path', since, {}, noPath(leaf, intermediates), notTrusted());
  if (first.fault.check === 'path')
    throw trace.failed('path', since, pathFacts(first.path), first.fault.reason, unusable(first.fault.reason));
  trace.passed('path', since, pathFacts(first.path));
  passOrFail(trace, first.fault);
  return first.path;
}

function noPath(leaf: Certificate, intermediates: readonly Certificate[]): string {
  const issuer = leaf.issuer.map((part) => part.map(({ value }) => value.toString()).join('+')).join(', ');
  return `no path to a CA of the role: the certificate was issued by ${JSON.stringify(issuer)}, and ${intermediates.length} certificates came with it`;
}

function pathFacts(path: CertificatePath): Facts {
  return { authority: path.at(-1)!.commonName, length: path.length };
}

function passOrFail(trace: Trace, fault: PathFault | undefined): void {
  const since = trace.start();
  for (const step of ['validity', 'usage'] as const) {
    if (fault?.check === step) throw trace.failed(step, since, {}, fault.reason, unusable(fault.reason));
    trace.passed(step, since);
  }
}

function checkStep(trace: Trace, step: Step, problem: string | undefined): void {
  const since = trace.start();
  if (problem !== undefined) throw trace.failed(step, since, {}, problem, unfit());
  trace.passed(step, since);
}

/** Every certificate of the path below its end, by the lists of the CA above it. */
async function checkLists(path: CertificatePath, shown: ShownPath, trace: Trace, parts: JudgeParts, now: number): Promise<void> {
  const since = trace.start();
  const lists = await parts.lists.all();
  const stale: string[] = [];
  for (const [certificate, authority] of await issuersIn(path, shown, parts)) {
    const finding = listFinding(lists, certificate, authority, now);
    const which = certificate === path[0] ? 'the certificate' : 'a CA above the certificate';
    if (finding.revoked) throw trace.failed('revocation list', since, { count: lists.length }, `${which} is revoked`, unfit());
    for (const { name, list } of finding.stale)
      stale.push(`the revocation list ${name} has ended on ${new Date(list.nextUpdate!).toISOString()}`);
  }
  const count = { count: lists.length };
  // The name of a list is for operators.
  const answer = unfit(['a revocation list of the CA has ended, and there is no newer one']);
  if (stale.length > 0) throw trace.failed('revocation list', since, count, stale.join('; '), answer);
  trace.passed('revocation list', since, count);
}

/** Each certificate with the CA that signed it. That of a certificate that a role trusts by itself may be known from elsewhere. */
async function issuersIn(path: CertificatePath, shown: ShownPath, parts: JudgeParts): Promise<[Certificate, Certificate][]> {
  const pairs = path.slice(1).map((authority, index): [Certificate, Certificate] => [path[index]!, authority]);
  if (path.length > 1) return pairs;
  const known = [...(await parts.authorities()), ...shown.intermediates];
  const issuer = known.find((one) => one.isAuthority && path[0].namesAsIssuer(one) && path[0].isSignedBy(one));
  return issuer ? [[path[0], issuer]] : [];
}

async function checkOcsp(trusted: TrustedRole, path: CertificatePath, trace: Trace, parts: JudgeParts, signal: AbortSignal): Promise<void> {
  const since = trace.start();
  const [leaf, issuer] = path;
  if (!trusted.role.ocsp_enabled || !issuer) {
    const note = trusted.role.ocsp_enabled ? 'the role trusts this very certificate' : 'ocsp_enabled is false';
    trace.passed('ocsp', since, { note: `not asked: ${note}` });
    return;
  }
  const { status, errors } = await askResponders(trusted, leaf, issuer, parts.ocsp, signal);
  if (status === 'revoked') throw trace.failed('ocsp', since, {}, 'the certificate is revoked', unfit());
  if (status === 'good') trace.passed('ocsp', since);
  else if (trusted.role.ocsp_fail_open) trace.passed('ocsp', since, { note: `allowed by ocsp_fail_open: ${errors.join('; ')}` });
  else throw trace.failed('ocsp', since, {}, errors.join('; '), unfit(errors));
}
