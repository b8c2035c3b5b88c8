import type { Collection, StorageView } from '@strongroom/engine-sdk';
import { Type, type Static } from 'typebox';

const Texts = Type.Array(Type.String());
const TextMap = Type.Record(Type.String(), Type.String());

export const ConfigRecord = Type.Object({
  kubernetes_host: Type.String(),
  /** PEM; '' for the CA of the pod. */
  kubernetes_ca_cert: Type.String(),
  /** '' for the token of the pod. */
  service_account_jwt: Type.String(),
  disable_local_ca_jwt: Type.Boolean(),
});
export type ConfigRecord = Static<typeof ConfigRecord>;

export const RoleRecord = Type.Object({
  allowed_kubernetes_namespaces: Texts,
  allowed_kubernetes_namespace_selector: Type.String(),
  /** Seconds; 0 for the mount's own. */
  token_max_ttl: Type.Number(),
  token_default_ttl: Type.Number(),
  token_default_audiences: Texts,
  /** Exactly one of these three is not ''. */
  service_account_name: Type.String(),
  kubernetes_role_name: Type.String(),
  generated_role_rules: Type.String(),
  kubernetes_role_type: Type.Union([Type.Literal('Role'), Type.Literal('ClusterRole')]),
  name_template: Type.String(),
  extra_labels: TextMap,
  extra_annotations: TextMap,
});
export type RoleRecord = Static<typeof RoleRecord>;

/** One object in the cluster. */
export const ObjectRef = Type.Object({
  kind: Type.Union([
    Type.Literal('ServiceAccount'),
    Type.Literal('Role'),
    Type.Literal('ClusterRole'),
    Type.Literal('RoleBinding'),
    Type.Literal('ClusterRoleBinding'),
  ]),
  /** '' for objects of the whole cluster. */
  namespace: Type.String(),
  name: Type.String(),
});
export type ObjectRef = Static<typeof ObjectRef>;

/** Objects that were made for one lease, in the order in which they were made. */
export const CreationRecord = Type.Object({
  role: Type.String(),
  objects: Type.Array(ObjectRef),
  /** An operator dropped the lease without removing the objects. */
  dropped: Type.Optional(Type.Boolean()),
});
export type CreationRecord = Static<typeof CreationRecord>;

export interface Records {
  /** One record, `CONFIG`. */
  readonly config: Collection<ConfigRecord>;
  readonly roles: Collection<RoleRecord>;
  /** By the id of the creation, which the objects carry as a label. */
  readonly creations: Collection<CreationRecord>;
}

export const CONFIG = 'kubernetes';

/** The records of a mount, from its storage or inside a transaction. */
export function recordsIn(storage: Pick<StorageView, 'collection'>): Records {
  return {
    config: storage.collection('config/', ConfigRecord),
    roles: storage.collection('role/', RoleRecord),
    creations: storage.collection('creation/', CreationRecord),
  };
}
