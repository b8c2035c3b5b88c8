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
import { policySources, useRecords, type Entity, type Group } from './identity.ts';
import { EditDialog } from './identity-forms.tsx';
import { GroupName, PolicyName } from './names.tsx';
import { Part } from './part.tsx';

/** An entity: who it is to each login method, its groups, and its policies with where each comes from. */
export default function EntityPage() {
  const id = usePlace().params.id ?? '';
  const go = useGo();
  const client = useQueryClient();
  const path = apiPath('identity/entity/id', id);
  const entity = useRead<Entity>(path);
  const found = entity.data?.data;
  const groups = useRecords<Group>('identity/group/id', found?.group_ids ?? []);
  const [dialog, setDialog] = useState<'edit' | 'alias'>();
  const close = (): void => setDialog(undefined);
  const changed = async (): Promise<void> => {
    await makeStale(client, ['identity']);
    close();
  };
  const needs = { path: `identity/entity/id/${id}`, need: 'update' } as const;
  return (
    <Page
      title={found?.name ?? 'Entity'}
      crumbs={[
        <To key="all" to="/access/entities">
          Entities
        </To>,
      ]}
      beside={found?.disabled && <StateChip mood="bad">disabled</StateChip>}
      actions={
        found && (
          <>
            <ActionButton variant="default" onClick={() => go('/access/merge', {}, { to: id })}>
              Merge into it
            </ActionButton>
            <ConfirmAction
              label={`Delete ${found.name}`}
              typed={found.name}
              needs={{ path: `identity/entity/id/${id}`, need: 'delete' }}
              act={async () => {
                await send('DELETE', path);
                await makeStale(client, ['identity/entity/id']);
                go('/access/entities');
              }}
            >
              {`Its ${found.aliases.length} aliases and ${found.direct_group_ids.length} memberships end, and its tokens are refused. The next login makes a new entity.`}
            </ConfirmAction>
            <ActionButton needs={needs} onClick={() => setDialog('edit')}>
              Edit
            </ActionButton>
          </>
        )
      }
    >
      <Loaded query={entity}>
        {({ data }) => (
          <>
            <Facts
              facts={[
                { label: 'Id', value: data.id },
                { label: 'Metadata', value: data.metadata && <PairsText pairs={data.metadata} /> },
                { label: 'Second factors', value: Object.keys(data.mfa_secrets ?? {}).length || undefined },
                { label: 'Merged from', value: data.merged_entity_ids?.join(', ') },
                { label: 'Created', value: <When time={data.creation_time} /> },
                { label: 'Changed', value: <When time={data.last_update_time} /> },
              ]}
            />
            <Part title="Policies, and where each comes from">
              <DataTable
                label="Policies, and where each comes from"
                labelHidden
                rows={policySources(data, groups)}
                id={({ policy }) => policy}
                empty={<Text size="sm">The entity adds no policy to those of its tokens.</Text>}
                columns={[
                  { title: 'Policy', main: true, cell: ({ policy }) => <PolicyName name={policy} /> },
                  {
                    title: 'From',
                    cell: ({ from }) => (
                      <Text size="sm" component="span">
                        {from.map(({ group, id: groupId, inherited }, at) => (
                          <span key={groupId ?? 'itself'}>
                            {at > 0 && ', '}
                            {groupId === undefined ? 'the entity itself' : <GroupName id={groupId} name={group?.name} />}
                            {inherited && ' (through another group)'}
                          </span>
                        ))}
                      </Text>
                    ),
                  },
                ]}
              />
            </Part>
            <Part title="Aliases">
              <DataTable
                label="Aliases"
                labelHidden
                rows={data.aliases}
                id={(alias) => alias.id}
                empty={<Text size="sm">No login method knows it.</Text>}
                columns={[
                  { title: 'Name', main: true, cell: (alias) => alias.name },
                  { title: 'Login method', cell: (alias) => alias.mount_path ?? 'a mount that is gone' },
                  {
                    title: 'Actions',
                    end: true,
                    cell: (alias) => (
                      <ConfirmAction
                        label={`Remove ${alias.name}`}
                        size="compact-xs"
                        needs={{ path: `identity/entity-alias/id/${alias.id}`, need: 'delete' }}
                        act={async () => {
                          await send('DELETE', apiPath('identity/entity-alias/id', alias.id));
                          await changed();
                        }}
                      >
                        The next login under this name makes a new entity, without the policies and groups of this one.
                      </ConfirmAction>
                    ),
                  },
                ]}
              />
            </Part>
            <ActionButton
              variant="default"
              needs={{ path: 'identity/entity-alias', need: ['update', 'create'] }}
              onClick={() => setDialog('alias')}
            >
              Add an alias
            </ActionButton>
            <Part title="Groups">
              <DataTable
                label="Groups"
                labelHidden
                rows={data.group_ids}
                id={(groupId) => groupId}
                empty={<Text size="sm">It is in no group.</Text>}
                columns={[
                  { title: 'Group', main: true, cell: (groupId) => <GroupName id={groupId} name={groups.get(groupId)?.name} /> },
                  { title: 'How', cell: (groupId) => (data.direct_group_ids.includes(groupId) ? 'a member' : 'through another group') },
                ]}
              />
            </Part>
            <CommandLines lines={[{ with: 'CLI', command: `strongroom read identity/entity/id/${data.id}` }]} />
            <EditDialog of="entity" record={{ ...data }} opened={dialog === 'edit'} close={close} />
            <Dialog title="Add an alias" opened={dialog === 'alias'} onClose={close}>
              <AliasForm of="entity" canonicalId={data.id} done={() => void changed()} />
            </Dialog>
          </>
        )}
      </Loaded>
    </Page>
  );
}
