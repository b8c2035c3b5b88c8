import { Text } from '@mantine/core';
import { useState } from 'react';
import { ActionButton } from '../../parts/action-button.tsx';
import { CommandLines } from '../../parts/command-lines.tsx';
import { Empty } from '../../parts/empty.tsx';
import { NamesTable } from '../../parts/names-table.tsx';
import { Page } from '../../parts/page.tsx';
import { useGo } from '../../parts/place.ts';
import { To } from '../../parts/to.tsx';
import { AccessPlaces } from './access-places.tsx';
import { NewDialog } from './identity-forms.tsx';

interface Info {
  readonly name?: string;
  readonly num_member_entities?: number;
  readonly alias?: { readonly name: string };
}

const nameOf = (id: string, info: Readonly<Record<string, unknown>>): string => (info as Info).name ?? id;

function about({ alias, num_member_entities: members = 0 }: Info): string {
  return `${members} ${members === 1 ? 'member' : 'members'}${alias ? `, from outside: ${alias.name}` : ''}`;
}

/** Sets of entities and of other groups, which give policies to their members. */
export default function GroupsPage() {
  const go = useGo();
  const [opened, setOpened] = useState(false);
  return (
    <Page
      title="Groups"
      actions={
        <ActionButton needs={{ path: 'identity/group', need: 'update' }} onClick={() => setOpened(true)}>
          New group
        </ActionButton>
      }
    >
      <AccessPlaces at="Groups" />
      <NamesTable
        path="identity/group/id"
        label="Groups"
        text={nameOf}
        row={(id, info) => (
          <>
            <To to="/access/groups/$id" params={{ id }}>
              {nameOf(id, info)}
            </To>
            <Text size="xs" c="dimmed">
              {about(info as Info)}
            </Text>
          </>
        )}
        empty={<Empty>There is no group. A group gives its policies to its members, and to the members of groups in it.</Empty>}
      />
      <CommandLines lines={[{ with: 'CLI', command: 'strongroom list identity/group/name' }]} />
      <NewDialog
        of="group"
        opened={opened}
        close={() => setOpened(false)}
        made={(id) => (id === undefined ? setOpened(false) : go('/access/groups/$id', { id }))}
      />
    </Page>
  );
}
