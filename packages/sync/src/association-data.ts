import { Type, type Static } from 'typebox';
import { LastError, type AssociationRecord, type RemoteRecord } from './records.ts';

export const AssociationData = Type.Object({
  accessor: Type.String(),
  mount: Type.String(),
  secret_name: Type.String(),
  sub_key: Type.Optional(Type.String()),
  rule: Type.Optional(Type.String({ description: 'The rule that brought the secret; several are separated by a comma.' })),
  by_rule_alone: Type.Optional(Type.Boolean({ description: 'True where no caller linked it as well: only its rule can take it back.' })),
  sync_status: Type.String(),
  updated_at: Type.String(),
  syncing_since: Type.Optional(Type.String({ description: 'When the call to the provider began that is under way.' })),
  remote_name: Type.Optional(Type.String()),
  remote_version: Type.Optional(Type.String()),
  attempts: Type.Integer(),
  next_attempt_at: Type.Optional(Type.String()),
  last_error: Type.Optional(LastError),
});
export type AssociationData = Static<typeof AssociationData>;
type RefusedKey = NonNullable<AssociationRecord['refused']>[number];

/** One entry per remote secret, as answers carry them: by `<accessor>/<secret>`, and `/<key>` where each key is a secret. */
export function associationData(association: AssociationRecord, mountPath: string): [id: string, data: AssociationData][] {
  const base = `${association.accessor}/${association.secret_name}`;
  const remotes = association.remotes.filter(({ leaving }) => !leaving);
  const shown = remotes.length > 0 || association.wanted === 'synced' ? remotes : association.remotes;
  const named = (key: string): string => (key === '' ? base : `${base}/${key}`);
  const keys = new Set(shown.map(({ key }) => key));
  const refused = (association.refused ?? []).filter(({ key }) => key !== '' && !keys.has(key));
  if (shown.length + refused.length === 0) return [[base, entry(association, mountPath, undefined)]];
  return [
    ...shown.map((remote): [string, AssociationData] => [named(remote.key), entry(association, mountPath, remote)]),
    ...refused.map(({ key, status, error }): [string, AssociationData] => [
      named(key),
      { ...entry(association, mountPath, undefined), sub_key: key, sync_status: status, last_error: error },
    ]),
  ];
}

function entry(association: AssociationRecord, mountPath: string, remote: RemoteRecord | undefined): AssociationData {
  const refusal = refusalOf(association, remote);
  const status = statusOf(association, remote, refusal);
  const fine = remote?.status === 'SYNCED' && status === 'SYNCED';
  const error = refusal?.error ?? remote?.last_error ?? (fine ? undefined : association.last_error);
  return {
    accessor: association.accessor,
    mount: mountPath.replace(/\/$/, ''),
    secret_name: association.secret_name,
    ...(remote && remote.key !== '' ? { sub_key: remote.key } : {}),
    ...(association.rules?.length ? { rule: association.rules.join(', '), by_rule_alone: association.by_rule_alone === true } : {}),
    sync_status: status,
    updated_at: remote && status === remote.status ? remote.updated_at : association.updated_at,
    ...(association.working?.since === undefined ? {} : { syncing_since: association.working.since }),
    ...(remote ? { remote_name: remote.name } : {}),
    ...(remote?.revision === undefined ? {} : { remote_version: remote.revision }),
    attempts: association.attempts,
    ...(association.next_attempt_at === undefined ? {} : { next_attempt_at: association.next_attempt_at }),
    ...(error === undefined ? {} : { last_error: error }),
  };
}

/** While something is going on, that; else how the remote secret stands, or the association if it has none. */
function statusOf(
  { status, wanted, working }: AssociationRecord,
  remote: RemoteRecord | undefined,
  refusal: RefusedKey | undefined,
): string {
  // Also where something else was asked for since it began.
  if (working) return wanted === 'removed' ? 'UNSYNCING' : 'SYNCING';
  if (['PENDING', 'SYNCING', 'UNSYNCING'].includes(status) || !remote || wanted === 'removed') return status;
  return refusal?.status ?? remote.status;
}

/** Why a copy stands as it is and cannot be kept up: its whole secret cannot be read, or its key cannot be written. */
function refusalOf({ refused, wanted }: AssociationRecord, remote: RemoteRecord | undefined): RefusedKey | undefined {
  if (!remote || wanted === 'removed') return undefined;
  return refused?.find(({ key }) => key === '' || key === remote.key);
}

/** What the removal of an association answers once nothing is left of it. */
export function unsynced(accessor: string, mountPath: string, secret: string, now: Date): [id: string, data: AssociationData] {
  return [
    `${accessor}/${secret}`,
    {
      accessor,
      mount: mountPath.replace(/\/$/, ''),
      secret_name: secret,
      sync_status: 'UNSYNCED',
      updated_at: now.toISOString(),
      attempts: 0,
    },
  ];
}
