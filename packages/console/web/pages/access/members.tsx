import { Autocomplete, Group, Text } from '@mantine/core';
import { useState } from 'react';
import { apiPath } from '../../api/api-path.ts';
import { makeStale, queryClient, useNames } from '../../api/queries.ts';
import { send } from '../../api/send.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { ConfirmAction } from '../../parts/confirm-action.tsx';
import { ServerError } from '../../parts/server-error.tsx';
import { useAttempt } from '../../parts/use-attempt.ts';
import type { Group as GroupRecord } from './identity.ts';

export type MemberKind = 'entity' | 'group';

interface MemberProps {
  /** The group. */
  readonly id: string;
  readonly of: MemberKind;
}

/** Puts an entity, or another group, into a group, by its name. */
export function AddMember({ id, of }: MemberProps) {
  const [name, setName] = useState('');
  const names = useNames(`identity/${of}/name`);
  const { busy, error, attempt } = useAttempt();
  const add = async (): Promise<void> => {
    const { data } = await send<{ id: string }>('GET', apiPath('identity', of, 'name', name.trim()));
    await changeMembers(id, of, (ids) => [...new Set([...ids, data.id])]);
    setName('');
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (name.trim() !== '') void attempt(add);
      }}
    >
      <Group gap="xs" align="flex-end">
        <Autocomplete
          label={of === 'entity' ? 'Name of the entity' : 'Name of the group'}
          size="xs"
          limit={20}
          data={(names.data?.pages ?? []).flatMap(({ keys }) => keys)}
          value={name}
          onChange={setName}
        />
        <ActionButton type="submit" variant="default" needs={{ path: `identity/group/id/${id}`, need: 'update' }} loading={busy}>
          {of === 'entity' ? 'Add the entity' : 'Add the group'}
        </ActionButton>
      </Group>
      {error &&
        (error.status === 404 ? (
          <Text role="alert" c="red" size="sm">{`There is no ${of} “${name}”.`}</Text>
        ) : (
          <ServerError error={error} />
        ))}
    </form>
  );
}

/** Takes an entity, or another group, out of a group. */
export function RemoveMember({ id, of, member, name }: MemberProps & { readonly member: string; readonly name: string }) {
  return (
    <ConfirmAction
      label={`Take ${name} out`}
      size="compact-xs"
      needs={{ path: `identity/group/id/${id}`, need: 'update' }}
      act={async () => changeMembers(id, of, (ids) => ids.filter((one) => one !== member))}
    >
      {of === 'entity' ? 'It loses the policies that the group gives.' : 'Its members lose the policies that this group gives.'}
    </ConfirmAction>
  );
}

/** The server takes the whole list: it is read again right before it is written. */
async function changeMembers(id: string, of: MemberKind, change: (ids: readonly string[]) => readonly string[]): Promise<void> {
  const path = apiPath('identity/group/id', id);
  const { data } = await send<GroupRecord>('GET', path);
  const field = of === 'entity' ? 'member_entity_ids' : 'member_group_ids';
  await send('POST', path, { body: { [field]: change(data[field] ?? []) } });
  await makeStale(queryClient, ['identity']);
}
