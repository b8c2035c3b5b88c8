import { Alert, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { apiPath } from '../../api/api-path.ts';
import { makeStale, queryClient, useRead } from '../../api/queries.ts';
import { send } from '../../api/send.ts';
import { ConfirmAction } from '../../parts/confirm-action.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { usePlace } from '../../parts/place.ts';
import { When } from '../../parts/when.tsx';
import { LdapFrame } from './ldap-frame.tsx';

interface Orphans {
  readonly usernames: readonly string[];
  readonly searched: readonly string[];
  readonly accounts: readonly {
    readonly username: string;
    readonly entries: readonly string[];
    readonly role?: string;
    readonly created?: string;
    readonly known_by: 'record' | 'mark';
  }[];
}

interface Removed {
  readonly removed: readonly string[];
  readonly gone: readonly string[];
  readonly pending: Readonly<Record<string, string>>;
}

/** Accounts that dynamic roles made and that nothing keeps. */
export default function OrphansPage() {
  const { mount = '' } = usePlace().params;
  const path = apiPath(mount, 'orphans');
  const orphans = useRead<Orphans>(path);
  const [done, setDone] = useState<Removed>();
  const remove = async (usernames: readonly string[]): Promise<void> => {
    setDone((await send<Removed>('POST', path, { body: { usernames } })).data);
    await makeStale(queryClient, [path]);
  };
  const needs = { path: `${mount}/orphans`, need: 'update', sudo: true } as const;
  return (
    <LdapFrame title="Orphans" section="orphans">
      <Stack gap="md">
        <Text maw={760}>
          Accounts that dynamic roles of this mount made and that nothing keeps any more: a lease was revoked by force, or the store was
          restored from a backup. Accounts of others are never listed.
        </Text>
        {done && (
          <Alert role="status" color={Object.keys(done.pending).length > 0 ? 'yellow' : 'green'} variant="light">
            Removed {done.removed.length}. {done.gone.length > 0 && `${done.gone.length} were gone already. `}
            {Object.entries(done.pending).map(([name, why]) => (
              <Text key={name} size="sm">
                {name}: {why} The server goes on trying.
              </Text>
            ))}
          </Alert>
        )}
        <Loaded query={orphans}>
          {({ data, warnings }) => (
            <Stack gap="md">
              {data.accounts.length > 0 && (
                <ConfirmAction
                  label={`Remove all ${data.accounts.length}`}
                  needs={needs}
                  typed={String(data.accounts.length)}
                  act={async () => remove(data.usernames)}
                >
                  These accounts and their entries are deleted from the directory: {data.usernames.join(', ')}.
                </ConfirmAction>
              )}
              <DataTable
                label="Orphans"
                labelHidden
                rows={data.accounts}
                id={({ username }) => username}
                empty={<Empty>There are none. Searched: {data.searched.join(' and ') || 'nothing, since no role makes entries'}.</Empty>}
                columns={[
                  { title: 'Account', main: true, cell: ({ username }) => username },
                  { title: 'Entries', cell: ({ entries }) => entries.join(' and ') || '–' },
                  { title: 'Role', cell: ({ role }) => role ?? 'several can have made it' },
                  { title: 'Made', cell: ({ created }) => <When time={created} /> },
                  {
                    title: 'Known by',
                    cell: ({ known_by }) => (known_by === 'record' ? 'a lease revoked by force' : 'the mark in its name'),
                  },
                  {
                    title: 'Action',
                    end: true,
                    cell: ({ username, entries }) => (
                      <ConfirmAction label={`Remove ${username}`} needs={needs} act={async () => remove([username])}>
                        Deleted from the directory: {entries.join(' and ') || username}.
                      </ConfirmAction>
                    ),
                  },
                ]}
              />
              {warnings.map((warning) => (
                <Alert key={warning} color="yellow" variant="light">
                  {warning}
                </Alert>
              ))}
            </Stack>
          )}
        </Loaded>
      </Stack>
    </LdapFrame>
  );
}
