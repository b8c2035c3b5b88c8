import { matchesGlob } from '@strongroom/auth-sdk';
import { withinCidrs } from '@strongroom/engine-sdk';
import { namespaceLabels, parseSelector, selects } from '@strongroom/kubernetes-client';
import type { Cluster } from './clusters.ts';
import { loginRefused } from './failures.ts';
import { faultOf, reviewerRefused } from './review.ts';
import { NAMESPACE_SELECTOR, type Role } from './role.ts';
import type { ServiceAccount } from './service-account.ts';
import type { Trace } from './trace.ts';

/** Characters of a name that a caller made up. */
const LONGEST_SHOWN = 100;

/** Who asks for which role, after the review. */
export interface Applicant {
  readonly account: ServiceAccount;
  readonly roleName: string;
  /** Undefined: there is no such role. */
  readonly role: Role | undefined;
  readonly remoteAddress: string;
}

/**
 * Decides whether the account may have the role. Every refusal is the same answer, also that of an unknown role.
 * @throws TokenRefused; UpstreamFailed or Unavailable if the labels of the namespace are needed and cannot be read
 */
export async function authorize(cluster: Cluster, applicant: Applicant, trace: Trace, signal: AbortSignal): Promise<Role> {
  const { account, role, roleName, remoteAddress } = applicant;
  const since = trace.start();
  const facts = { role: roleName.slice(0, LONGEST_SHOWN), service_account: `${account.namespace}/${account.name}` };
  if (!role) throw trace.failed('role', since, facts, 'there is no such role', loginRefused());
  trace.passed('role', since, facts);
  if (!withinCidrs(role.token_bound_cidrs, remoteAddress)) {
    throw trace.failed('address', since, facts, `${remoteAddress} is outside token_bound_cidrs`, loginRefused());
  }
  if (!fits(role.bound_service_account_names, account.name)) {
    throw trace.failed('service account name', since, facts, 'service account name not authorized', loginRefused());
  }
  trace.passed('service account name', since, facts);
  if (fits(role.bound_service_account_namespaces, account.namespace)) {
    trace.passed('namespace', since, facts);
  } else if (role.bound_service_account_namespace_selector === '') {
    throw trace.failed('namespace', since, facts, 'namespace not authorized', loginRefused());
  } else {
    await requireSelected(cluster, role, account, trace, signal);
  }
  return role;
}

async function requireSelected(
  cluster: Cluster,
  role: Role,
  { namespace }: ServiceAccount,
  trace: Trace,
  signal: AbortSignal,
): Promise<void> {
  const since = trace.start();
  const step = 'namespace selector';
  const selector = await parseSelector(role.bound_service_account_namespace_selector, NAMESPACE_SELECTOR);
  if (cluster.reviewer === undefined) {
    throw trace.failed(step, since, {}, 'token_reviewer_jwt has to be set for namespace selectors', loginRefused());
  }
  const found = await namespaceLabels(cluster.api, namespace, cluster.reviewer, signal).catch((error: unknown) => {
    throw faultOf(error, (reason, answer) => trace.failed(step, since, {}, reason, answer));
  });
  switch (found.result) {
    case 'asker refused': {
      const reason = `the API server refuses to show the namespace: ${found.status}: ${found.reason}`;
      throw trace.failed(step, since, {}, reason, reviewerRefused(reason));
    }
    case 'unknown':
      throw trace.failed(step, since, {}, 'the namespace does not exist', loginRefused());
    case 'labels': {
      const facts = { labels: found.labels };
      if (!selects(selector, found.labels)) throw trace.failed(step, since, facts, 'namespace not authorized', loginRefused());
      trace.passed(step, since, facts);
    }
  }
}

function fits(patterns: readonly string[], name: string): boolean {
  return patterns.some((pattern) => matchesGlob(pattern, name));
}
