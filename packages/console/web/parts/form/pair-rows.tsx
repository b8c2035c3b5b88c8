import { ActionIcon, Button, Input, TextInput } from '@mantine/core';
import { IconTrash } from '@tabler/icons-react';
import { useEffect, useState, type ReactNode } from 'react';
import classes from './form.module.css';

interface PairRowsProps {
  readonly label: string;
  readonly description?: ReactNode;
  readonly required: boolean;
  readonly error: string | undefined;
  readonly pairs: Readonly<Record<string, string>>;
  /** Somebody has changed them. When that is taken back, the rows are what the pairs are again. */
  readonly touched: boolean;
  readonly onChange: (pairs: Readonly<Record<string, string>>) => void;
}

/** Texts by name, a row each. */
export function PairRows({ label, description, required, error, pairs, touched, onChange }: PairRowsProps) {
  const [rows, setRows] = useState<readonly (readonly [string, string])[]>(() => Object.entries(pairs));
  useEffect(() => {
    if (!touched) setRows(Object.entries(pairs));
  }, [touched]);
  const change = (next: readonly (readonly [string, string])[]): void => {
    setRows(next);
    onChange(Object.fromEntries(next.filter(([name]) => name !== '')));
  };
  return (
    <Input.Wrapper label={label} description={description} required={required} error={error} labelElement="div">
      <div className={classes.rows} role="group" aria-label={label}>
        {rows.map(([name, value], at) => (
          <div key={at} className={classes.row}>
            <TextInput
              aria-label={`${label}: name ${at + 1}`}
              placeholder="name"
              value={name}
              onChange={({ currentTarget }) => change(rows.map((row, index) => (index === at ? [currentTarget.value, row[1]] : row)))}
            />
            <TextInput
              aria-label={`${label}: value ${at + 1}`}
              placeholder="value"
              value={value}
              onChange={({ currentTarget }) => change(rows.map((row, index) => (index === at ? [row[0], currentTarget.value] : row)))}
            />
            <ActionIcon
              variant="subtle"
              color="gray"
              size="lg"
              aria-label={`Remove ${name === '' ? `row ${at + 1}` : name}`}
              onClick={() => change(rows.filter((_row, index) => index !== at))}
            >
              <IconTrash size={16} />
            </ActionIcon>
          </div>
        ))}
        <div>
          <Button size="xs" variant="default" onClick={() => setRows([...rows, ['', '']])}>
            Add a row
          </Button>
        </div>
      </div>
    </Input.Wrapper>
  );
}
