import { BadRequest } from '@strongroom/engine-sdk';
import { ApiServerFailed, namespaceLabels, parseSelector, selects } from '@strongroom/kubernetes-client';
import type { Access } from './cluster.ts';
import type { RoleRecord } from './records.ts';
import { NAMESPACE_SELECTOR } from './role.ts';

/** The namespace of a call: that of the caller, or the only one of the role. @throws BadRequest where there is none, or none that could exist */
export function namespaceFor(role: RoleRecord, asked: string): string {
  const [only, another] = role.allowed_kubernetes_namespaces;
  const isOnly = only !== undefined && only !== '*' && another === undefined && role.allowed_kubernetes_namespace_selector === '';
  const namespace = asked === '' && isOnly ? only : asked;
  if (namespace === '') throw new BadRequest("'kubernetes_namespace' is required unless the role has a single namespace specified");
  if (!/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(namespace)) {
    throw new BadRequest(`kubernetes_namespace: ${JSON.stringify(namespace)} is not a name of a namespace, such as team-a`);
  }
  return namespace;
}

/** @throws BadRequest for a namespace that the role does not allow, ApiServerFailed where its labels are needed and cannot be read */
export async function requireAllowed(role: RoleRecord, namespace: string, access: Access, signal: AbortSignal): Promise<void> {
  const { allowed_kubernetes_namespaces: names, allowed_kubernetes_namespace_selector: selector } = role;
  if (names.includes('*') || names.includes(namespace)) return;
  if (selector !== '') {
    const parsed = await parseSelector(selector, NAMESPACE_SELECTOR);
    const found = await namespaceLabels(access.api, namespace, access.bearer, signal);
    if (found.result === 'asker refused') {
      throw new ApiServerFailed(`refuses to show the namespace ${namespace}: ${found.reason}`, `status ${found.status}`, {
        answered: true,
      });
    }
    if (found.result === 'labels' && selects(parsed, found.labels)) return;
  }
  throw new BadRequest(
    `kubernetes_namespace '${namespace}' is not present in role's allowed_kubernetes_namespaces or does not match role's label selector allowed_kubernetes_namespace_selector`,
  );
}
