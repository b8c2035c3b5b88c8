import { Group } from '@mantine/core';
import type { ReactNode } from 'react';
import { apiPath } from '../api/api-path.ts';
import { ActionButton } from './action-button.tsx';
import { Empty } from './empty.tsx';
import { NamesTable } from './names-table.tsx';
import { useGo, usePlace } from './place.ts';
import { Sections } from './sections.tsx';
import { To } from './to.tsx';

/** A kind of thing that a mount has. */
export interface Noun {
  /** In the address. */
  readonly tab: string;
  /** Its list in the API. */
  readonly list: string;
  /** The page of one. */
  readonly to: string;
  readonly label: string;
  readonly create: string;
  readonly empty: string;
}

interface MountNounsProps {
  /** The page of the mount; `<at>/edit/$noun` is that of its forms. */
  readonly at: string;
  readonly mount: string;
  readonly nouns: readonly Noun[];
  /** Further parts of the page. */
  readonly more: readonly { readonly tab: string; readonly label: string; readonly part: ReactNode }[];
}

/** What a mount has, one kind at a time, with the names of all and a button for a new one. */
export function MountNouns({ at, mount, nouns, more }: MountNounsProps) {
  const { search } = usePlace();
  const go = useGo();
  const tab = search.tab ?? nouns[0]!.tab;
  const noun = nouns.find((one) => one.tab === tab);
  return (
    <>
      <Sections
        label="What the mount has"
        sections={[...nouns, ...more].map((one) => ({ label: one.label, to: at, search: { tab: one.tab }, current: one.tab === tab }))}
      />
      {noun && (
        <>
          <Group justify="flex-end" mb="xs">
            <ActionButton onClick={() => go(`${at}/edit/$noun`, { mount, noun: noun.tab })}>{noun.create}</ActionButton>
          </Group>
          <NamesTable
            key={noun.tab}
            path={apiPath(mount, noun.list)}
            label={noun.label}
            empty={<Empty>{noun.empty}</Empty>}
            row={(name) => (
              <To to={noun.to} params={{ mount, name }}>
                {name}
              </To>
            )}
          />
        </>
      )}
      {more.find((one) => one.tab === tab)?.part}
    </>
  );
}
