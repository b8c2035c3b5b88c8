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
  readonly aliases?: readonly { readonly name: string; readonly mount_path?: string }[];
}

const nameOf = (id: string, info: Readonly<Record<string, unknown>>): string => (info as Info).name ?? id;

/** People and machines, each known to any number of login methods. */
export default function EntitiesPage() {
  const go = useGo();
  const [opened, setOpened] = useState(false);
  return (
    <Page
      title="Entities"
      actions={
        <>
          <ActionButton variant="default" onClick={() => go('/access/merge')}>
            Merge
          </ActionButton>
          <ActionButton needs={{ path: 'identity/entity', need: 'update' }} onClick={() => setOpened(true)}>
            New entity
          </ActionButton>
        </>
      }
    >
      <AccessPlaces at="Entities" />
      <Text size="sm" c="dimmed" mb="md">
        A person or a machine, whatever login methods it comes by. The first login of a new name makes one.
      </Text>
      <NamesTable
        path="identity/entity/id"
        label="Entities"
        text={nameOf}
        row={(id, info) => (
          <>
            <To to="/access/entities/$id" params={{ id }}>
              {nameOf(id, info)}
            </To>
            <Text size="xs" c="dimmed" truncate>
              {((info as Info).aliases ?? [])
                .map(({ name, mount_path }) => `${name} at ${mount_path ?? 'a mount that is gone'}`)
                .join(', ')}
            </Text>
          </>
        )}
        empty={<Empty>Nobody has logged in by a login method yet.</Empty>}
      />
      <CommandLines lines={[{ with: 'CLI', command: 'strongroom list identity/entity/name' }]} />
      <NewDialog
        of="entity"
        opened={opened}
        close={() => setOpened(false)}
        made={(id) => (id === undefined ? setOpened(false) : go('/access/entities/$id', { id }))}
      />
    </Page>
  );
}
