import { Checkbox, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { SecretValue } from '../../parts/secret-value.tsx';
import type { Change } from './changes.ts';
import { pathText, valueText, type Leaf } from './leaves.ts';
import classes from './kv.module.css';

const WORDS = { added: '+ added', removed: '− removed', changed: '~ changed', same: 'same' } as const;

interface ChangesTableProps {
  readonly changes: readonly Change[];
  /** What the two sides are: `version 2`. */
  readonly before: string;
  readonly after: string;
}

/** What differs, by key; a value is drawn only when somebody asks for it. */
export function ChangesTable({ changes, before, after }: ChangesTableProps) {
  const [all, setAll] = useState(false);
  const differing = changes.filter(({ kind }) => kind !== 'same');
  const same = changes.length - differing.length;
  const shown = all ? changes : differing;
  const side = (leaf: Leaf | undefined, name: string, of: string) =>
    leaf ? <SecretValue label={`${name} in ${of}`} value={valueText(leaf.value)} /> : <Text c="dimmed">–</Text>;
  return (
    <Stack gap="xs">
      <Text size="sm" role="status">
        {differing.length === 0 ? 'Nothing differs.' : `${differing.length} of ${changes.length} values differ.`}
      </Text>
      {same > 0 && (
        <Checkbox
          size="xs"
          label={`Also show ${same === 1 ? 'the value that is the same' : `the ${same} values that are the same`}`}
          checked={all}
          onChange={({ currentTarget }) => setAll(currentTarget.checked)}
        />
      )}
      {shown.length > 0 && (
        <div className={classes.values} role="region" aria-label="Changes" tabIndex={0}>
          <table>
            <thead>
              <tr>
                <th scope="col">Key</th>
                <th scope="col">Change</th>
                <th scope="col">{before}</th>
                <th scope="col">{after}</th>
              </tr>
            </thead>
            <tbody>
              {shown.map((change) => {
                const name = pathText(change.path);
                return (
                  <tr key={JSON.stringify(change.path)} data-kind={change.kind}>
                    <th scope="row">{name}</th>
                    <td>{WORDS[change.kind]}</td>
                    <td data-title={before}>{side(change.before, name, before)}</td>
                    <td data-title={after}>{side(change.after, name, after)}</td>
                  </tr>
                );
              })}
            </tbody>
          </table>
        </div>
      )}
    </Stack>
  );
}
