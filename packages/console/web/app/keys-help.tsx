import { Kbd, Stack, Switch, Text } from '@mantine/core';
import { DataTable } from '../parts/data-table.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { singleKeys, useSingleKeysOn } from '../parts/single-keys.ts';
import { KEY_PLACES } from './use-page-keys.ts';

interface KeyRow {
  readonly keys: readonly string[];
  readonly what: string;
}

const ROWS: readonly KeyRow[] = [
  { keys: ['Ctrl', 'K'], what: 'Go to a page, a mount, a secret or a role' },
  { keys: ['?'], what: 'These keys' },
  { keys: ['e'], what: 'Edit what the page is about' },
  { keys: ['/'], what: 'Filter the list' },
  ...Object.entries(KEY_PLACES).map(([key, [, label]]) => ({ keys: ['g', key], what: label })),
  { keys: ['j', 'k'], what: 'Next and previous value of a secret; arrows too' },
  { keys: ['c'], what: 'Copy the value of the row' },
  { keys: ['1', '…', '9'], what: 'Copy the value of that row' },
];

/** What the keys do, and the switch that turns those without *Ctrl* off. */
export function KeysHelp({ opened, close }: { readonly opened: boolean; readonly close: () => void }) {
  const on = useSingleKeysOn();
  return (
    <Dialog title="Keys" opened={opened} onClose={close}>
      <Stack>
        <Switch
          label="Keys without Ctrl"
          description="This browser remembers the choice."
          checked={on}
          onChange={({ currentTarget }) => singleKeys.turn(currentTarget.checked)}
        />
        <DataTable
          label="Keys"
          labelHidden
          rows={ROWS}
          id={({ keys }) => keys.join(' ')}
          columns={[
            {
              title: 'Key',
              main: true,
              cell: ({ keys }) => (
                <span style={{ whiteSpace: 'nowrap' }}>
                  {keys.map((key) => (
                    <Kbd key={key} mr={4}>
                      {key}
                    </Kbd>
                  ))}
                </span>
              ),
            },
            { title: 'What it does', cell: ({ what }) => <Text size="sm">{what}</Text> },
          ]}
        />
      </Stack>
    </Dialog>
  );
}
