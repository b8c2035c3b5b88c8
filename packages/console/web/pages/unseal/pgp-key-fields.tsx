import { Button, FileButton, Group, Stack, Textarea } from '@mantine/core';
import { readPgpKeyFile } from './pgp-key-file.ts';

interface PgpKeyFieldProps {
  readonly label: string;
  readonly value: string;
  readonly change: (key: string) => void;
}

/** A public PGP key, pasted or read from a file. */
export function PgpKeyField({ label, value, change }: PgpKeyFieldProps) {
  return (
    <Stack gap={4}>
      <Textarea
        label={label}
        minRows={2}
        maxRows={4}
        autosize
        spellCheck={false}
        autoComplete="off"
        value={value}
        onChange={({ currentTarget }) => change(currentTarget.value)}
      />
      <Group>
        <FileButton onChange={(file) => void (file && readPgpKeyFile(file).then(change))}>
          {(props) => (
            <Button {...props} size="xs" variant="default" aria-label={`Choose a file: ${label}`}>
              Choose a file
            </Button>
          )}
        </FileButton>
      </Group>
    </Stack>
  );
}

interface PgpKeyFieldsProps {
  /** One key for each share. */
  readonly count: number;
  readonly keys: readonly string[];
  readonly change: (keys: string[]) => void;
}

/** The public PGP keys of the keyholders, in the order of their shares. */
export function PgpKeyFields({ count, keys, change }: PgpKeyFieldsProps) {
  const present = keysFor(count, keys);
  return (
    <Stack gap="sm">
      {present.map((key, at) => (
        <PgpKeyField
          key={at}
          label={`PGP key of keyholder ${at + 1}`}
          value={key}
          change={(next) => change(present.map((one, place) => (place === at ? next : one)))}
        />
      ))}
    </Stack>
  );
}

/** One key for each share; empty where none was given yet. */
export function keysFor(count: number, keys: readonly string[]): string[] {
  return Array.from({ length: Math.min(count, 255) }, (_, at) => keys[at] ?? '');
}
