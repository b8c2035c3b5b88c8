import { Button, Group, NativeSelect, Text, Textarea, TextInput } from '@mantine/core';
import { newRow, type EditRow } from './edit-row.ts';
import { pathText } from './leaves.ts';
import classes from './kv.module.css';

interface ValueRowsProps {
  readonly rows: readonly EditRow[];
  readonly change: (rows: readonly EditRow[]) => void;
}

/** The values of a secret as fields. A value that was there before stays hidden until somebody asks to see or to replace it. */
export function ValueRows({ rows, change }: ValueRowsProps) {
  const set = (id: number, part: Partial<EditRow>): void => change(rows.map((row) => (row.id === id ? { ...row, ...part } : row)));
  const groups = [...new Map(rows.filter(({ above }) => above.length > 0).map(({ above }) => [JSON.stringify(above), above])).values()];
  return (
    <>
      <ul className={classes.rows}>
        {rows.map((row) => {
          const name = row.key === '' ? 'the new value' : pathText([...row.above, row.key]);
          return (
            <li key={row.id}>
              <TextInput
                className={classes.mono}
                aria-label={`Key of ${name}`}
                autoComplete="off"
                value={row.key}
                {...(row.above.length > 0 ? { description: `in ${pathText(row.above)}` } : {})}
                onChange={({ currentTarget }) => set(row.id, { key: currentTarget.value })}
              />
              {row.shown ? (
                <Textarea
                  className={classes.mono}
                  aria-label={`Value of ${name}`}
                  autosize
                  minRows={1}
                  maxRows={12}
                  autoComplete="off"
                  spellCheck={false}
                  data-1p-ignore
                  value={row.text}
                  onChange={({ currentTarget }) => set(row.id, { text: currentTarget.value })}
                />
              ) : (
                <div className={classes.hiddenValue}>
                  <Text span ff="monospace" role="img" aria-label={`${name}, hidden`}>
                    ••••••••
                  </Text>
                  <Button size="compact-xs" variant="default" aria-label={`Show ${name}`} onClick={() => set(row.id, { shown: true })}>
                    Show
                  </Button>
                  <Button
                    size="compact-xs"
                    variant="default"
                    aria-label={`Replace ${name}`}
                    onClick={() => set(row.id, { shown: true, text: '', kind: 'text' })}
                  >
                    Replace
                  </Button>
                </div>
              )}
              <Group gap={6} wrap="nowrap">
                <NativeSelect
                  aria-label={`Kind of ${name}`}
                  data={[
                    { value: 'text', label: 'text' },
                    { value: 'json', label: 'JSON' },
                  ]}
                  value={row.kind}
                  onChange={({ currentTarget }) => set(row.id, { kind: currentTarget.value === 'json' ? 'json' : 'text' })}
                />
                <Button variant="default" aria-label={`Remove ${name}`} onClick={() => change(rows.filter(({ id }) => id !== row.id))}>
                  Remove
                </Button>
              </Group>
            </li>
          );
        })}
      </ul>
      <Group gap="xs">
        <Button size="xs" variant="default" onClick={() => change([...rows, newRow(rows)])}>
          Add a value
        </Button>
        {groups.map((above) => (
          <Button key={JSON.stringify(above)} size="xs" variant="default" onClick={() => change([...rows, newRow(rows, above)])}>
            Add a value in {pathText(above)}
          </Button>
        ))}
      </Group>
    </>
  );
}
