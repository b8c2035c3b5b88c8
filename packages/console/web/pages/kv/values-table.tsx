import { Text } from '@mantine/core';
import { useRef, type KeyboardEvent } from 'react';
import { SecretValue } from '../../parts/secret-value.tsx';
import { useSingleKeys } from '../../parts/single-keys.ts';
import { pathText, sizeOf, valueText, type Leaf } from './leaves.ts';
import classes from './kv.module.css';

/**
 * The values of a secret, each hidden until it is asked for. Keys: `j`, `k` and arrows go through the rows, `c` copies, `s` shows, and a digit copies the row of that
 * number.
 */
export function ValuesTable({ leaves }: { readonly leaves: readonly Leaf[] }) {
  const body = useRef<HTMLTableSectionElement>(null);
  useSingleKeys((key) => {
    const all = [...(body.current?.rows ?? [])];
    const row = all.find((one) => one.contains(document.activeElement)) ?? (all.length === 1 ? all[0] : undefined);
    if (/^[1-9]$/.test(key)) press(all[Number(key) - 1], 'Copy');
    else if (key === 'c' && row) press(row, 'Copy');
    else if (key === 'c' || key === 'j') step(all, 1)?.focus();
    else if (key === 'k') step(all, -1)?.focus();
    else return false;
    return true;
  });
  const arrows = (event: KeyboardEvent): void => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    step([...(body.current?.rows ?? [])], by)?.focus();
  };
  return (
    <div className={classes.values} role="region" aria-label="Values" tabIndex={0} onKeyDown={arrows}>
      <table>
        <thead>
          <tr>
            <th scope="col" className={classes.number}>
              No.
            </th>
            <th scope="col">Key</th>
            <th scope="col">Value</th>
          </tr>
        </thead>
        <tbody ref={body}>
          {leaves.map(({ path, value }, at) => {
            const name = pathText(path);
            return (
              <tr key={JSON.stringify(path)} tabIndex={-1} aria-label={name}>
                <td className={classes.number}>{at + 1}</td>
                <th scope="row">{name}</th>
                <td>
                  <SecretValue label={name} value={valueText(value)} />
                  {sizeOf(value) > 256 && (
                    <Text size="xs" c="dimmed">
                      {sizeOf(value).toLocaleString('en')} bytes
                    </Text>
                  )}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

/** The row after or before the one with the focus. */
function step(rows: readonly HTMLTableRowElement[], by: number): HTMLTableRowElement | undefined {
  const at = rows.findIndex((row) => row.contains(document.activeElement));
  return rows[at < 0 ? (by > 0 ? 0 : rows.length - 1) : Math.min(Math.max(at + by, 0), rows.length - 1)];
}

function press(row: HTMLTableRowElement | undefined, name: 'Copy' | 'Show' | 'Hide'): void {
  row?.querySelector<HTMLButtonElement>(`button[aria-label^="${name} "]`)?.click();
}
