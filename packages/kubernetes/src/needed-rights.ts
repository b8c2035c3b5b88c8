import { KINDS } from './manifests.ts';
import type { ObjectRef, RoleRecord } from './records.ts';
import { createsAccount } from './role.ts';

/** One thing that the managing account must be allowed to do, as Kubernetes spells it. */
export interface Right {
  readonly verb: string;
  /** '' for the core group. */
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  /** '' for all namespaces, or for what belongs to none. */
  readonly namespace: string;
}

const RBAC = 'rbac.authorization.k8s.io';
const LIFE = ['create', 'get', 'delete'];

/** What credentials of a role need of the managing account. */
export function rightsFor(role: RoleRecord): Right[] {
  const { allowed_kubernetes_namespaces: names, allowed_kubernetes_namespace_selector: selector } = role;
  const anywhere = names.includes('*') || selector !== '';
  const rights: Right[] = selector === '' ? [] : [{ verb: 'get', group: '', resource: 'namespaces', namespace: '' }];
  for (const namespace of anywhere ? [''] : names) {
    rights.push({ verb: 'create', group: '', resource: 'serviceaccounts', subresource: 'token', namespace });
    if (createsAccount(role)) rights.push(...lifeOf('ServiceAccount', namespace), ...lifeOf('RoleBinding', namespace));
    if (role.generated_role_rules !== '') rights.push(...lifeOf(role.kubernetes_role_type, namespace));
  }
  return rights;
}

/** What lets the account create a role whose rights it does not have itself; undefined where the role needs no such thing. */
export function escalationFor(role: RoleRecord): Right | undefined {
  if (!createsAccount(role)) return undefined;
  const verb = role.generated_role_rules === '' ? 'bind' : 'escalate';
  const [only = '', another] = role.allowed_kubernetes_namespaces;
  const namespaced = role.kubernetes_role_type === 'Role' && another === undefined && only !== '*';
  return { verb, group: RBAC, resource: KINDS[role.kubernetes_role_type].plural, namespace: namespaced ? only : '' };
}

/** `create serviceaccounts/token in prod`. */
export function rightText({ verb, resource, subresource, namespace }: Right): string {
  const what = subresource === undefined ? resource : `${resource}/${subresource}`;
  if (resource === 'namespaces' || resource === KINDS.ClusterRole.plural) return `${verb} ${what}`;
  return `${verb} ${what} in ${namespace === '' ? 'all namespaces' : namespace}`;
}

function lifeOf(kind: ObjectRef['kind'], namespace: string): Right[] {
  const inNamespace = kind === 'ClusterRole' ? '' : namespace;
  const group = kind === 'ServiceAccount' ? '' : RBAC;
  return LIFE.map((verb) => ({ verb, group, resource: KINDS[kind].plural, namespace: inNamespace }));
}
