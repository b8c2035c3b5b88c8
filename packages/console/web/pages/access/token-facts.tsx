import { Group, Text } from '@mantine/core';
import { duration } from '../../parts/durations.ts';
import { Facts } from '../../parts/facts.tsx';
import { StateChip } from '../../parts/state-chip.tsx';
import { To } from '../../parts/to.tsx';
import { When } from '../../parts/when.tsx';
import { PolicyName } from './names.tsx';
import { PairsText } from '../../parts/pairs-text.tsx';

/** What a lookup answers. */
export interface TokenData {
  readonly accessor: string;
  readonly display_name: string;
  readonly policies: readonly string[];
  readonly identity_policies?: readonly string[];
  readonly entity_id: string;
  readonly path: string;
  readonly type: string;
  readonly orphan: boolean;
  readonly renewable: boolean;
  readonly issue_time: string;
  readonly expire_time: string | null;
  readonly explicit_max_ttl: number;
  readonly period?: number;
  readonly num_uses: number;
  readonly role?: string;
  readonly bound_cidrs?: readonly string[];
  readonly meta: Readonly<Record<string, string>> | null;
  readonly last_renewal?: string;
}

/** Why the token deserves attention; nothing for an ordinary one. */
export function StandingWarning({ token: { policies, expire_time: end } }: { readonly token: TokenData }) {
  const root = policies.includes('root');
  if (!root && end !== null) return null;
  const sentence = root
    ? 'This is a root token: nothing is refused to it. Revoke it when nobody needs it.'
    : 'Revoke it when nobody needs it.';
  return (
    <Group gap="xs" mb="xs">
      {root && <StateChip mood="warn">root</StateChip>}
      {end === null && <StateChip mood="warn">never ends</StateChip>}
      <Text size="sm">{sentence}</Text>
    </Group>
  );
}

function Policies({ names }: { readonly names: readonly string[] }) {
  return names.map((name, at) => (
    <span key={name}>
      {at > 0 && ', '}
      <PolicyName name={name} />
    </span>
  ));
}

/** What is known of a token, never the token. */
export function TokenFacts({ token }: { readonly token: TokenData }) {
  const { identity_policies: more = [], meta } = token;
  return (
    <Facts
      facts={[
        { label: 'Accessor', value: token.accessor },
        { label: 'Policies', value: token.policies.length > 0 && <Policies names={token.policies} /> },
        { label: 'By its entity and groups', value: more.length > 0 && <Policies names={more} /> },
        {
          label: 'Entity',
          value: token.entity_id && (
            <To to="/access/entities/$id" params={{ id: token.entity_id }}>
              {token.entity_id}
            </To>
          ),
        },
        { label: 'Made by', value: token.path },
        {
          label: 'Role',
          value: token.role && (
            <To to="/access/token-roles/$name" params={{ name: token.role }}>
              {token.role}
            </To>
          ),
        },
        { label: 'Kind', value: `${token.type}${token.orphan ? ', without a parent' : ''}` },
        { label: 'Made', value: <When time={token.issue_time} /> },
        { label: 'Renewed', value: token.last_renewal && <When time={token.last_renewal} /> },
        { label: 'Ends', value: token.expire_time === null ? 'never' : <When time={token.expire_time} /> },
        { label: 'Can be renewed', value: token.renewable ? 'yes' : 'no' },
        { label: 'Period', value: token.period && duration(token.period) },
        { label: 'Lives at most', value: token.explicit_max_ttl > 0 && duration(token.explicit_max_ttl) },
        { label: 'Calls left', value: token.num_uses > 0 && token.num_uses },
        { label: 'Works from', value: token.bound_cidrs?.join(', ') },
        {
          label: 'Metadata',
          value: meta && Object.keys(meta).length > 0 && <PairsText pairs={meta} />,
        },
      ]}
    />
  );
}
