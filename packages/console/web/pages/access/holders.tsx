import { Button, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { send } from '../../api/send.ts';
import type { RuleSource } from '../../api/explanation.ts';
import { DataTable } from '../../parts/data-table.tsx';
import { PolicyLine } from '../../parts/explanation.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { StateChip, type Mood } from '../../parts/state-chip.tsx';
import { To } from '../../parts/to.tsx';

type Effect = 'allows' | 'denies' | 'lacks' | 'depends';

interface Holder {
  readonly kind: string;
  readonly mount: string;
  readonly name: string;
  readonly path: string;
  readonly policies: readonly string[];
  readonly effect?: Effect;
}

interface PolicyRow {
  readonly name: string;
  readonly effect: Effect;
  readonly rule?: string;
  readonly sources: readonly RuleSource[];
  readonly condition?: string;
}

interface Who {
  readonly policies: readonly PolicyRow[];
  readonly holders: readonly Holder[];
  readonly next?: string;
}

const EFFECTS: Readonly<Record<Effect, readonly [Mood, string]>> = {
  allows: ['good', 'allows'],
  denies: ['bad', 'denies'],
  lacks: ['wait', 'does not allow'],
  depends: ['warn', 'depends on the caller'],
};

function EffectChip({ effect }: { readonly effect: Effect | undefined }) {
  if (effect === undefined) return <Text size="sm">not known: one of its policies is not yours to read</Text>;
  const [mood, text] = EFFECTS[effect];
  return <StateChip mood={mood}>{text}</StateChip>;
}

/** Who may make a call, or who has a policy. */
export function Holders({
  question,
}: {
  readonly question: { readonly policy: string } | { readonly path: string; readonly operation: string };
}) {
  const who = useInfiniteQuery({
    queryKey: ['sys/policies/who', question],
    initialPageParam: '',
    queryFn: async ({ pageParam, signal }) => {
      const body = { ...question, ...(pageParam === '' ? {} : { after: pageParam }) };
      const { data, warnings } = await send<Who>('POST', 'sys/policies/who', { body, signal });
      return { ...data, warnings };
    },
    getNextPageParam: (last) => last.next,
  });
  const byCall = 'path' in question;
  return (
    <Loaded query={who}>
      {({ pages }) => (
        <>
          {pages[0]!.warnings.map((warning) => (
            <Text key={warning} size="sm" c="dimmed">
              {warning}
            </Text>
          ))}
          {byCall && (
            <DataTable
              label="Policies with a rule for it"
              rows={pages[0]!.policies}
              id={({ name }) => name}
              empty={<Text size="sm">No policy that you may read has a rule for this path.</Text>}
              columns={[
                {
                  title: 'Policy',
                  main: true,
                  cell: ({ name }) => (
                    <To to="/access/policies/$name" params={{ name }}>
                      {name}
                    </To>
                  ),
                },
                { title: 'Effect', cell: ({ effect }) => <EffectChip effect={effect} /> },
                {
                  title: 'Rule',
                  cell: ({ rule, sources, condition }) => (
                    <>
                      {sources.map(({ policy, line }) => (
                        <PolicyLine key={`${policy}:${line}`} policy={policy} line={line} />
                      ))}
                      {rule !== undefined && <code>{rule}</code>}
                      {condition !== undefined && <Text size="xs">{`on a condition: ${condition}`}</Text>}
                    </>
                  ),
                },
              ]}
            />
          )}
          <DataTable
            label={byCall ? 'Who has them' : 'Holders of the policy'}
            labelHidden={!byCall}
            rows={pages.flatMap(({ holders }) => holders)}
            id={({ path }) => path}
            empty={
              <Text size="sm">
                Nobody that you may see has {byCall ? 'one of them' : 'it'}. Tokens that were made without a role are not listed.
              </Text>
            }
            columns={[
              { title: 'Name', main: true, cell: (holder) => <HolderLink holder={holder} /> },
              { title: 'Kind', cell: ({ kind, mount }) => <Text size="sm">{`${kind} of ${mount}`}</Text> },
              ...(byCall
                ? [
                    { title: 'All its policies together', cell: ({ effect }: Holder) => <EffectChip effect={effect} /> },
                    { title: 'By', cell: ({ policies }: Holder) => <Text size="sm">{policies.join(', ')}</Text> },
                  ]
                : []),
            ]}
          />
          {who.hasNextPage && (
            <Button size="xs" variant="default" loading={who.isFetchingNextPage} onClick={() => void who.fetchNextPage()}>
              More
            </Button>
          )}
          <Text size="xs" c="dimmed" mt="xs">
            Only what your token may read is listed.
          </Text>
        </>
      )}
    </Loaded>
  );
}

function HolderLink({ holder: { kind, mount, name, path } }: { readonly holder: Holder }) {
  if (mount === 'identity/' && kind === 'entity')
    return (
      <To to="/access/entities/$id" params={{ id: path.split('/').at(-1)! }}>
        {name}
      </To>
    );
  if (mount === 'identity/' && kind === 'group')
    return (
      <To to="/access/groups/$id" params={{ id: path.split('/').at(-1)! }}>
        {name}
      </To>
    );
  if (mount === 'auth/token/')
    return (
      <To to="/access/token-roles/$name" params={{ name }}>
        {name}
      </To>
    );
  return <span>{name}</span>;
}
