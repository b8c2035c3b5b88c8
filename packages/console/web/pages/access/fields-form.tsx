import { Button, Checkbox, Group, NativeSelect, Stack, TextInput, Textarea } from '@mantine/core';
import { useState } from 'react';
import { ApiError } from '../../api/api-error.ts';
import type { Right } from '../../api/rights.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { ServerError } from '../../parts/server-error.tsx';

/** One field of a record. `names` are separated by commas, `pairs` are one `key=value` a line. */
export interface FormField {
  readonly name: string;
  readonly label: string;
  readonly kind: 'text' | 'number' | 'names' | 'pairs' | 'switch' | 'choice';
  readonly about?: string;
  readonly required?: boolean;
  readonly choices?: readonly { readonly value: string; readonly label: string }[];
}

type Values = Readonly<Record<string, unknown>>;

interface FieldsFormProps {
  readonly fields: readonly FormField[];
  /** The record as it is; without one, of a new record. */
  readonly values?: Values;
  readonly submit: string;
  readonly needs?: Right;
  /** Gets the fields that were changed, and for a new record those that are filled in. */
  readonly act: (changed: Record<string, unknown>) => Promise<unknown>;
  readonly onCancel?: () => void;
}

/** A form that sends only what was changed: the API tells a field that is not sent from one that is empty. */
export function FieldsForm({ fields, values = {}, submit, needs, act, onCancel }: FieldsFormProps) {
  const [texts, setTexts] = useState<Readonly<Record<string, string | boolean>>>(() =>
    Object.fromEntries(fields.map((field) => [field.name, written(field, values[field.name])])),
  );
  const [touched, setTouched] = useState<ReadonlySet<string>>(new Set());
  const [error, setError] = useState<ApiError>();
  const [busy, setBusy] = useState(false);
  const set = (name: string, value: string | boolean): void => {
    setTexts((before) => ({ ...before, [name]: value }));
    setTouched((before) => new Set([...before, name]));
  };
  const save = async (): Promise<void> => {
    setBusy(true);
    setError(undefined);
    try {
      await act(
        Object.fromEntries(fields.filter(({ name }) => touched.has(name)).map((field) => [field.name, read(field, texts[field.name]!)])),
      );
    } catch (caught) {
      if (!(caught instanceof ApiError)) throw caught;
      setError(caught);
    } finally {
      setBusy(false);
    }
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <Stack gap="sm" maw={560}>
        {fields.map((field) => (
          <Field key={field.name} field={field} value={texts[field.name]!} onChange={(value) => set(field.name, value)} />
        ))}
        {error && <ServerError error={error} />}
        <Group gap="xs">
          <ActionButton type="submit" needs={needs} loading={busy}>
            {submit}
          </ActionButton>
          {onCancel && (
            <Button size="xs" variant="default" onClick={onCancel}>
              Cancel
            </Button>
          )}
        </Group>
      </Stack>
    </form>
  );
}

interface FieldProps {
  readonly field: FormField;
  readonly value: string | boolean;
  readonly onChange: (value: string | boolean) => void;
}

function Field({ field: { label, kind, about, required = false, choices = [] }, value, onChange }: FieldProps) {
  const words = { label, required, ...(about === undefined ? {} : { description: about }) };
  if (kind === 'switch')
    return (
      <Checkbox label={label} description={about} checked={value === true} onChange={(event) => onChange(event.currentTarget.checked)} />
    );
  if (kind === 'choice')
    return <NativeSelect {...words} data={[...choices]} value={String(value)} onChange={(event) => onChange(event.currentTarget.value)} />;
  if (kind === 'pairs')
    return (
      <Textarea
        {...words}
        autosize
        minRows={2}
        maxRows={10}
        spellCheck={false}
        value={String(value)}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    );
  return (
    <TextInput
      {...words}
      spellCheck={false}
      autoComplete="off"
      inputMode={kind === 'number' ? 'numeric' : 'text'}
      value={String(value)}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}

function written({ kind }: FormField, value: unknown): string | boolean {
  if (kind === 'switch') return value === true;
  if (value === undefined || value === null) return '';
  if (kind === 'names') return (value as readonly string[]).join(', ');
  if (kind === 'pairs') return pairsText(value as Readonly<Record<string, string>>);
  return String(value);
}

function read({ kind }: FormField, value: string | boolean): unknown {
  if (typeof value === 'boolean') return value;
  if (kind === 'names')
    return value
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== '');
  if (kind === 'pairs') return pairsIn(value);
  return value;
}

export function pairsText(pairs: Readonly<Record<string, string>>): string {
  return Object.entries(pairs)
    .map(([key, value]) => `${key}=${value}`)
    .join('\n');
}

/** One pair a line; what follows the first `=` is the value. */
export function pairsIn(text: string): Record<string, string> {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return Object.fromEntries(lines.map((line) => [line.split('=', 1)[0]!.trim(), line.slice(line.split('=', 1)[0]!.length + 1)]));
}
