import type { ObjectRef, RoleRecord } from './records.ts';
import type { PolicyRule } from './role-rules.ts';

/** Of all labels by which objects are known as made here. */
export const OWN_PREFIX = 'strongroom.io/';
export const MOUNT_LABEL = `${OWN_PREFIX}mount`;
export const CREATION_LABEL = `${OWN_PREFIX}creation`;

const RBAC = 'rbac.authorization.k8s.io';

/** Where objects of a kind are, in the order in which they are made. */
export const KINDS: Readonly<Record<ObjectRef['kind'], { readonly api: string; readonly version: string; readonly plural: string }>> = {
  ServiceAccount: { api: '/api/v1', version: 'v1', plural: 'serviceaccounts' },
  Role: { api: `/apis/${RBAC}/v1`, version: `${RBAC}/v1`, plural: 'roles' },
  ClusterRole: { api: `/apis/${RBAC}/v1`, version: `${RBAC}/v1`, plural: 'clusterroles' },
  RoleBinding: { api: `/apis/${RBAC}/v1`, version: `${RBAC}/v1`, plural: 'rolebindings' },
  ClusterRoleBinding: { api: `/apis/${RBAC}/v1`, version: `${RBAC}/v1`, plural: 'clusterrolebindings' },
};

/** An object to create. */
export interface Manifest {
  readonly ref: ObjectRef;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface Creation {
  readonly id: string;
  /** Uuid of the mount. */
  readonly mount: string;
  readonly name: string;
  readonly namespace: string;
  /** Bind in the whole cluster. */
  readonly everywhere: boolean;
}

/** The objects of a credential: an account, a role where its rules are generated, and the binding last, since it gives the rights. */
export function manifestsOf(role: RoleRecord, rules: readonly PolicyRule[], creation: Creation): Manifest[] {
  const { name, namespace, everywhere } = creation;
  const account = manifest(role, creation, { kind: 'ServiceAccount', namespace, name });
  const generated = role.generated_role_rules !== '';
  const type = role.kubernetes_role_type;
  const roleRef = { apiGroup: RBAC, kind: type, name: generated ? name : role.kubernetes_role_name };
  const subjects = [{ kind: 'ServiceAccount', name, namespace }];
  const binding: ObjectRef = everywhere ? { kind: 'ClusterRoleBinding', namespace: '', name } : { kind: 'RoleBinding', namespace, name };
  return [
    account,
    ...(generated ? [manifest(role, creation, { kind: type, namespace: type === 'Role' ? namespace : '', name }, { rules })] : []),
    manifest(role, creation, binding, { roleRef, subjects }),
  ];
}

/** The path of the objects of a kind, in one namespace or in all. */
export function pathOf({ kind, namespace }: Pick<ObjectRef, 'kind' | 'namespace'>): string {
  const { api, plural } = KINDS[kind];
  return namespace === '' ? `${api}/${plural}` : `${api}/namespaces/${encodeURIComponent(namespace)}/${plural}`;
}

/** As operators name it: `RoleBinding prod/v-token-…`. */
export function titleOf({ kind, namespace, name }: ObjectRef): string {
  return `${kind} ${namespace === '' ? '' : `${namespace}/`}${name}`;
}

function manifest(role: RoleRecord, creation: Creation, ref: ObjectRef, more: Record<string, unknown> = {}): Manifest {
  const labels = {
    ...role.extra_labels,
    'app.kubernetes.io/managed-by': 'strongroom',
    [MOUNT_LABEL]: creation.mount,
    [CREATION_LABEL]: creation.id,
  };
  const metadata = {
    name: ref.name,
    ...(ref.namespace === '' ? {} : { namespace: ref.namespace }),
    labels,
    ...(Object.keys(role.extra_annotations).length === 0 ? {} : { annotations: role.extra_annotations }),
  };
  return { ref, body: { apiVersion: KINDS[ref.kind].version, kind: ref.kind, metadata, ...more } };
}
