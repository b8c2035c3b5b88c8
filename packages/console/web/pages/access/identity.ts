import { useQueries } from '@tanstack/react-query';
import { apiPath } from '../../api/api-path.ts';
import { send } from '../../api/send.ts';

export interface Alias {
  readonly id: string;
  readonly name: string;
  readonly mount_accessor: string;
  readonly mount_path?: string;
  readonly mount_type?: string;
  readonly metadata: Readonly<Record<string, string>> | null;
}

export interface Entity {
  readonly id: string;
  readonly name: string;
  readonly disabled: boolean;
  readonly policies: readonly string[];
  readonly metadata: Readonly<Record<string, string>> | null;
  readonly aliases: readonly Alias[];
  readonly direct_group_ids: readonly string[];
  readonly inherited_group_ids: readonly string[];
  readonly group_ids: readonly string[];
  readonly merged_entity_ids: readonly string[] | null;
  readonly mfa_secrets?: Readonly<Record<string, unknown>>;
  readonly creation_time: string;
  readonly last_update_time: string;
}

export interface Group {
  readonly id: string;
  readonly name: string;
  readonly type: 'internal' | 'external';
  readonly policies: readonly string[] | null;
  readonly metadata: Readonly<Record<string, string>> | null;
  readonly member_entity_ids: readonly string[] | null;
  readonly member_group_ids: readonly string[] | null;
  readonly parent_group_ids: readonly string[] | null;
  readonly alias: Alias | Readonly<Record<string, never>>;
  readonly creation_time: string;
  readonly last_update_time: string;
}

/** The records of these ids, as far as the token may read them; the others are undefined. */
export function useRecords<T>(at: 'identity/entity/id' | 'identity/group/id', ids: readonly string[]): ReadonlyMap<string, T | undefined> {
  const answers = useQueries({
    queries: ids.map((id) => ({
      queryKey: [apiPath(at, id), 'GET', {}, null],
      queryFn: async ({ signal }: { signal: AbortSignal }) => send<T>('GET', apiPath(at, id), { signal }),
    })),
  });
  return new Map(ids.map((id, at) => [id, answers[at]?.data?.data]));
}

export interface PolicySource {
  readonly policy: string;
  /** `itself`, or the groups that give it. */
  readonly from: readonly { readonly group?: Group | undefined; readonly id?: string; readonly inherited: boolean }[];
}

/** Each policy that the entity has, and where it comes from. */
export function policySources(
  entity: Pick<Entity, 'policies' | 'direct_group_ids' | 'group_ids'>,
  groups: ReadonlyMap<string, Group | undefined>,
): PolicySource[] {
  const sources = new Map<string, PolicySource['from'][number][]>();
  const add = (policy: string, from: PolicySource['from'][number]): void =>
    void sources.set(policy, [...(sources.get(policy) ?? []), from]);
  for (const policy of entity.policies) add(policy, { inherited: false });
  for (const id of entity.group_ids) {
    const group = groups.get(id);
    for (const policy of group?.policies ?? []) add(policy, { group, id, inherited: !entity.direct_group_ids.includes(id) });
  }
  return [...sources].map(([policy, from]) => ({ policy, from })).sort((a, b) => (a.policy < b.policy ? -1 : 1));
}
