import { Button, Group, NumberInput, PasswordInput, SegmentedControl, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { Select } from '@mantine/core';
import { useEffect, useState, type ReactNode } from 'react';
import type { ApiError } from '../api/api-error.ts';
import type { Right } from '../api/rights.ts';
import { ActionButton } from './action-button.tsx';
import classes from './fields-form.module.css';
import { ServerError } from './server-error.tsx';

/** A field of a form, and how what is typed becomes the value that is sent. */
export interface FormField {
  readonly name: string;
  readonly label: string;
  /** `lines`: one entry a line. `code`: text in a fixed font, sent as it is. `switch`: on, off, or not sent. */
  readonly kind: 'text' | 'secret' | 'number' | 'lines' | 'statements' | 'code' | 'switch' | 'choice';
  readonly help?: string;
  readonly placeholder?: string;
  readonly choices?: readonly string[];
  readonly required?: boolean;
}

export type FormValues = Readonly<Record<string, unknown>>;

interface FieldsFormProps {
  readonly fields: readonly FormField[];
  /** What is stored; only what differs from it is sent. Secrets are never among it. */
  readonly stored?: FormValues;
  readonly needs: Right;
  readonly submit: string;
  readonly error: ApiError | null | undefined;
  readonly busy: boolean;
  readonly onSubmit: (touched: FormValues) => void;
  readonly onCancel?: () => void;
  /** What stands below the fields, given what was touched so far: a test, a preview. */
  readonly beside?: (touched: FormValues) => ReactNode;
}

/** A form from a list of fields. What nobody touched is not sent, since the server tells *absent* from *default*. Leaving with unsaved work asks. */
export function FieldsForm({ fields, stored = {}, needs, submit, error, busy, onSubmit, onCancel, beside }: FieldsFormProps) {
  const [touched, setTouched] = useState<FormValues>({});
  const dirty = Object.keys(touched).length > 0;
  useEffect(() => {
    if (!dirty) return undefined;
    const ask = (event: BeforeUnloadEvent): void => event.preventDefault();
    addEventListener('beforeunload', ask);
    return () => removeEventListener('beforeunload', ask);
  }, [dirty]);
  const change = (name: string, value: unknown): void => setTouched((before) => ({ ...before, [name]: value }));
  const missing = fields.filter(({ name, required }) => required && isEmpty(touched[name] ?? stored[name]));
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (missing.length === 0) onSubmit(touched);
      }}
    >
      <div className={beside ? classes.two : undefined}>
        <Stack gap="md" className={classes.fields}>
          {fields.map((field) => (
            <Field
              key={field.name}
              field={field}
              value={touched[field.name] ?? stored[field.name]}
              onChange={(value) => change(field.name, value)}
            />
          ))}
        </Stack>
        {beside && <div>{beside(touched)}</div>}
      </div>
      <Stack gap="sm" mt="lg">
        {error && <ServerError error={error} />}
        <Group gap="xs">
          <ActionButton needs={needs} type="submit" size="sm" loading={busy} disabled={missing.length > 0}>
            {submit}
          </ActionButton>
          {onCancel && (
            <Button size="sm" variant="default" onClick={onCancel}>
              Cancel
            </Button>
          )}
          {missing.length > 0 && (
            <Text size="sm" c="dimmed">
              {`Missing: ${missing.map(({ label }) => label).join(', ')}`}
            </Text>
          )}
        </Group>
      </Stack>
    </form>
  );
}

interface FieldProps {
  readonly field: FormField;
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
}

function Field({ field, value, onChange }: FieldProps) {
  const { label, help, placeholder, required = false, choices = [] } = field;
  const common = { label, description: help, placeholder, required };
  switch (field.kind) {
    case 'text':
      return (
        <TextInput {...common} value={textOf(value)} onChange={({ currentTarget }) => onChange(currentTarget.value)} autoComplete="off" />
      );
    case 'secret':
      return (
        <PasswordInput
          {...common}
          value={textOf(value)}
          onChange={({ currentTarget }) => onChange(currentTarget.value)}
          autoComplete="new-password"
        />
      );
    case 'number':
      return (
        <NumberInput
          {...common}
          value={value === undefined ? '' : Number(value)}
          onChange={(next) => onChange(next === '' ? undefined : next)}
        />
      );
    case 'lines':
      return (
        <Textarea
          {...common}
          autosize
          minRows={2}
          value={Array.isArray(value) ? value.join('\n') : textOf(value)}
          onChange={({ currentTarget }) => onChange(currentTarget.value === '' ? [] : currentTarget.value.split('\n'))}
        />
      );
    case 'statements':
      return (
        <Textarea
          {...common}
          autosize
          minRows={3}
          classNames={{ input: classes.code! }}
          spellCheck={false}
          value={Array.isArray(value) ? value.join('\n') : textOf(value)}
          onChange={({ currentTarget }) => onChange(currentTarget.value === '' ? [] : [currentTarget.value])}
        />
      );
    case 'code':
      return (
        <Textarea
          {...common}
          autosize
          minRows={6}
          classNames={{ input: classes.code! }}
          spellCheck={false}
          value={textOf(value)}
          onChange={({ currentTarget }) => onChange(currentTarget.value)}
        />
      );
    case 'switch':
      return (
        <fieldset className={classes.switch}>
          <legend>{label}</legend>
          {help && (
            <Text size="xs" c="dimmed">
              {help}
            </Text>
          )}
          <SegmentedControl
            size="xs"
            aria-label={label}
            value={value === undefined ? 'unset' : value === true ? 'on' : 'off'}
            onChange={(next) => onChange(next === 'unset' ? undefined : next === 'on')}
            data={[
              { value: 'unset', label: 'Not set' },
              { value: 'on', label: 'On' },
              { value: 'off', label: 'Off' },
            ]}
          />
        </fieldset>
      );
    case 'choice':
      return (
        <Select
          {...common}
          data={[...choices]}
          value={textOf(value) || null}
          onChange={(next) => onChange(next ?? undefined)}
          allowDeselect={!required}
        />
      );
  }
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : typeof value === 'object' ? JSON.stringify(value, undefined, 2) : `${value as number}`;
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0);
}
