import { Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { apiPath } from '../../api/api-path.ts';
import type { ApiError } from '../../api/api-error.ts';
import { makeStale, queryClient, useRead } from '../../api/queries.ts';
import { send } from '../../api/send.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { CommandLines } from '../../parts/command-lines.tsx';
import { ConfirmAction } from '../../parts/confirm-action.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { usePlace } from '../../parts/place.ts';
import { ServerError } from '../../parts/server-error.tsx';
import { StateChip } from '../../parts/state-chip.tsx';
import { To } from '../../parts/to.tsx';
import { When } from '../../parts/when.tsx';
import { moodOf, sourceOf, wordOf, type Association } from './associations.ts';
import { DestinationFrame } from './destination-frame.tsx';
import { FailingCopies } from './failing-copies.tsx';
import { HeldNotice } from './hold.tsx';
import { RulesTable, type Rule } from './rules-table.tsx';

/** The copies of a destination, how each stands, and why. */
export default function DestinationPage() {
  const { type = '', name = '' } = usePlace().params;
  const path = apiPath('sys', 'sync', 'destinations', type, name, 'associations');
  const associations = useRead<{ associated_secrets: Record<string, Association>; rules?: readonly Rule[] }>(path, { every: 5_000 });
  const [error, setError] = useState<ApiError>();
  const place = `sys/sync/destinations/${type}/${name}`;
  const again = async ({ mount, secret_name }: Association): Promise<void> => {
    setError(undefined);
    try {
      await send('POST', apiPath('sys', 'sync', 'destinations', type, name, 'associations', 'set'), { body: { mount, secret_name } });
    } catch (caught) {
      setError(caught as ApiError);
    }
    await makeStale(queryClient, [path]);
  };
  return (
    <DestinationFrame section="copies">
      <HeldNotice />
      {error && <ServerError error={error} />}
      <FailingCopies type={type} name={name} stale={[path]} />
      <Loaded query={associations}>
        {({ data }) => (
          <>
            <RulesTable type={type} name={name} rules={data.rules ?? []} stale={[path]} />
            <DataTable
              label="Copies"
              labelHidden
              rows={Object.entries(data.associated_secrets)}
              id={([id]) => id}
              empty={
                <Empty
                  action={
                    <To to="/sync/$type/$name/link" params={{ type, name }}>
                      Link secrets
                    </To>
                  }
                >
                  No secret is copied here yet.
                </Empty>
              }
              columns={[
                { title: 'Secret', main: true, cell: ([, one]) => <Source association={one} /> },
                { title: 'State', cell: ([, one]) => <StateChip mood={moodOf(one.sync_status)}>{wordOf(one.sync_status)}</StateChip> },
                { title: 'Name outside', cell: ([, { remote_name }]) => remote_name ?? '–' },
                { title: 'Since', cell: ([, { updated_at }]) => <When time={updated_at} /> },
                { title: 'Last error', cell: ([, one]) => <LastError association={one} /> },
                {
                  title: 'Action',
                  end: true,
                  cell: ([, one]) => (
                    <Stack gap={4} align="flex-end">
                      {one.sync_status !== 'SYNCED' && (
                        <ActionButton
                          variant="default"
                          needs={{ path: `${place}/associations/set`, need: ['update', 'create'] }}
                          onClick={() => void again(one)}
                        >
                          {`Try ${one.secret_name} now`}
                        </ActionButton>
                      )}
                      {one.by_rule_alone === true ? (
                        <Text size="xs" c="dimmed">
                          Its rule links it: exclude it there, or remove the rule.
                        </Text>
                      ) : (
                        <ConfirmAction
                          label={`Unlink ${one.secret_name}`}
                          needs={{ path: `${place}/associations/remove`, need: ['update', 'create'] }}
                          act={async () => {
                            await send('POST', apiPath('sys', 'sync', 'destinations', type, name, 'associations', 'remove'), {
                              body: { mount: one.mount, secret_name: one.secret_name },
                            });
                            await makeStale(queryClient, [path]);
                          }}
                        >
                          The copy {one.remote_name ?? ''} is removed outside. Programs that read it there lose it. The secret itself stays.
                        </ConfirmAction>
                      )}
                    </Stack>
                  ),
                },
              ]}
            />
          </>
        )}
      </Loaded>
      <CommandLines
        lines={[
          { with: 'CLI', command: `strongroom read ${place}/associations` },
          { with: 'curl', command: `curl -H "X-Vault-Token: $STRONGROOM_TOKEN" $STRONGROOM_ADDR/v1/${path}` },
        ]}
      />
    </DestinationFrame>
  );
}

/** Where it comes from, and the rule that brought it. */
function Source({ association }: { readonly association: Association }) {
  return (
    <Stack gap={2}>
      <span>{sourceOf(association)}</span>
      {association.rule !== undefined && (
        <Text size="xs" c="dimmed">
          by the rule {association.rule}
        </Text>
      )}
    </Stack>
  );
}

/** What the provider said, with what its support asks for. */
function LastError({ association: { last_error, attempts, next_attempt_at } }: { readonly association: Association }) {
  if (!last_error) return <>–</>;
  return (
    <Stack gap={2}>
      <Text size="sm">{last_error.message}</Text>
      <Text size="xs" c="dimmed">
        {[last_error.code, last_error.request_id && `request ${last_error.request_id}`, attempts > 0 && `${attempts} tries`]
          .filter(Boolean)
          .join(' · ')}
        {next_attempt_at && (
          <>
            {' '}
            · next <When time={next_attempt_at} />
          </>
        )}
      </Text>
    </Stack>
  );
}
