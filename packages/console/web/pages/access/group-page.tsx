import { Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { apiPath } from '../../api/api-path.ts';
import { makeStale, useRead } from '../../api/queries.ts';
import { send } from '../../api/send.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { CommandLines } from '../../parts/command-lines.tsx';
import { ConfirmAction } from '../../parts/confirm-action.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Facts } from '../../parts/facts.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { PairsText } from '../../parts/pairs-text.tsx';
import { useGo, usePlace } from '../../parts/place.ts';
import { StateChip } from '../../parts/state-chip.tsx';
import { To } from '../../parts/to.tsx';
import { When } from '../../parts/when.tsx';
import { AliasForm } from './alias-form.tsx';
import { GroupName, PolicyName } from './names.tsx';
import { Part } from './part.tsx';
import { useRecords, type Alias, type Entity, type Group } from './identity.ts';
import { EditDialog } from './identity-forms.tsx';
import { AddMember, RemoveMember } from './members.tsx';

/** So many members are shown by name. */
const MOST = 50;

/** A group: its policies, its members, the groups in it and above it, and the outside group that fills it. */
export default function GroupPage() {
  const id = usePlace().params.id ?? '';
  const go = useGo();
  const client = useQueryClient();
  const path = apiPath('identity/group/id', id);
  const group = useRead<Group>(path);
  const found = group.data?.data;
  const members = found?.member_entity_ids ?? [];
  const entities = useRecords<Entity>('identity/entity/id', members.slice(0, MOST));
  const near = [...(found?.member_group_ids ?? []), ...(found?.parent_group_ids ?? [])];
  const groups = useRecords<Group>('identity/group/id', [...new Set(near)]);
  const [dialog, setDialog] = useState<'edit' | 'alias'>();
  const close = (): void => setDialog(undefined);
  const changed = async (): Promise<void> => {
    await makeStale(client, ['identity']);
    close();
  };
  const internal = found?.type === 'internal';
  const alias = found && 'id' in found.alias ? (found.alias as Alias) : undefined;
  return (
    <Page
      title={found?.name ?? 'Group'}
      crumbs={[
        <To key="all" to="/access/groups">
          Groups
        </To>,
      ]}
      beside={found?.type === 'external' && <StateChip mood="wait">filled in by logins</StateChip>}
      actions={
        found && (
          <>
            <ConfirmAction
              label={`Delete ${found.name}`}
              typed={found.name}
              needs={{ path: `identity/group/id/${id}`, need: 'delete' }}
              act={async () => {
                await send('DELETE', path);
                await makeStale(client, ['identity/group/id']);
                go('/access/groups');
              }}
            >
              {`Its ${members.length} members lose the policies that they have by it at once.`}
            </ConfirmAction>
            <ActionButton needs={{ path: `identity/group/id/${id}`, need: 'update' }} onClick={() => setDialog('edit')}>
              Edit
            </ActionButton>
          </>
        )
      }
    >
      <Loaded query={group}>
        {({ data }) => (
          <>
            <Facts
              facts={[
                { label: 'Id', value: data.id },
                {
                  label: 'Policies',
                  value:
                    (data.policies ?? []).length > 0 &&
                    (data.policies ?? []).map((name, at) => (
                      <span key={name}>
                        {at > 0 && ', '}
                        <PolicyName name={name} />
                      </span>
                    )),
                },
                { label: 'Metadata', value: data.metadata && <PairsText pairs={data.metadata} /> },
                { label: 'Created', value: <When time={data.creation_time} /> },
                { label: 'Changed', value: <When time={data.last_update_time} /> },
              ]}
            />
            {data.type === 'external' && (
              <Part title="Outside group">
                <DataTable
                  label="Outside group"
                  labelHidden
                  rows={alias ? [alias] : []}
                  id={(one) => one.id}
                  empty={<Text size="sm">No login method fills it yet.</Text>}
                  columns={[
                    { title: 'Name', main: true, cell: (one) => one.name },
                    { title: 'Login method', cell: (one) => one.mount_path ?? 'a mount that is gone' },
                    {
                      title: 'Actions',
                      end: true,
                      cell: (one) => (
                        <ConfirmAction
                          label={`Remove ${one.name}`}
                          size="compact-xs"
                          needs={{ path: `identity/group-alias/id/${one.id}`, need: 'delete' }}
                          act={async () => {
                            await send('DELETE', apiPath('identity/group-alias/id', one.id));
                            await changed();
                          }}
                        >
                          All memberships that logins gave end.
                        </ConfirmAction>
                      ),
                    },
                  ]}
                />
              </Part>
            )}
            {data.type === 'external' && !alias && (
              <ActionButton
                variant="default"
                needs={{ path: 'identity/group-alias', need: ['update', 'create'] }}
                onClick={() => setDialog('alias')}
              >
                Name the outside group
              </ActionButton>
            )}
            <Part title="Members">
              <DataTable
                label="Members"
                labelHidden
                rows={members.slice(0, MOST)}
                id={(one) => one}
                empty={<Text size="sm">Nobody is in it.</Text>}
                columns={[
                  {
                    title: 'Entity',
                    main: true,
                    cell: (one) => (
                      <To to="/access/entities/$id" params={{ id: one }}>
                        {entities.get(one)?.name ?? one}
                      </To>
                    ),
                  },
                  { title: 'State', cell: (one) => (entities.get(one)?.disabled ? <StateChip mood="bad">disabled</StateChip> : null) },
                  ...(internal
                    ? [
                        {
                          title: 'Actions',
                          end: true,
                          cell: (one: string) => <RemoveMember id={id} of="entity" member={one} name={entities.get(one)?.name ?? one} />,
                        },
                      ]
                    : []),
                ]}
              />
              {internal && <AddMember id={id} of="entity" />}
            </Part>
            {members.length > MOST && <Text size="sm">{`and ${members.length - MOST} more`}</Text>}
            <Part title="Groups in it and above it">
              <DataTable
                label="Groups in it and above it"
                labelHidden
                rows={[
                  ...(data.member_group_ids ?? []).map((one) => ({ one, how: 'is in it' })),
                  ...(data.parent_group_ids ?? []).map((one) => ({ one, how: 'contains it, and gives its policies to the members' })),
                ]}
                id={({ one }) => one}
                empty={<Text size="sm">No other group is in it, and it is in none.</Text>}
                columns={[
                  { title: 'Group', main: true, cell: ({ one }) => <GroupName id={one} name={groups.get(one)?.name} /> },
                  { title: 'How', cell: ({ how }) => how },
                  ...(internal
                    ? [
                        {
                          title: 'Actions',
                          end: true,
                          cell: ({ one }: { readonly one: string }) =>
                            data.member_group_ids?.includes(one) && (
                              <RemoveMember id={id} of="group" member={one} name={groups.get(one)?.name ?? one} />
                            ),
                        },
                      ]
                    : []),
                ]}
              />
              {internal && <AddMember id={id} of="group" />}
            </Part>
            <CommandLines lines={[{ with: 'CLI', command: `strongroom read identity/group/id/${data.id}` }]} />
            <EditDialog of="group" record={{ ...data }} opened={dialog === 'edit'} close={close} />
            <Dialog title="Name the outside group" opened={dialog === 'alias'} onClose={close}>
              <AliasForm of="group" canonicalId={data.id} done={() => void changed()} />
            </Dialog>
          </>
        )}
      </Loaded>
    </Page>
  );
}
