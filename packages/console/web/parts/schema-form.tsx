import { Fieldset, Group, Stack } from '@mantine/core';
import { useState, type FormEvent } from 'react';
import type { ApiError } from '../api/api-error.ts';
import type { Schema } from '../api/openapi.ts';
import type { Right } from '../api/rights.ts';
import { ActionButton } from './action-button.tsx';
import { SchemaField } from './schema-field.tsx';
import { complaintsOf, type FormValues } from './schema-values.ts';
import { ServerError } from './server-error.tsx';
import classes from './schema-form.module.css';

interface SchemaFormProps {
  readonly schema: Schema;
  /** What stands there now, shown where nothing was typed. Only what is touched is sent. */
  readonly present?: FormValues;
  /** Schemas of further fields, by the value of `schema.discriminator`. */
  readonly variant?: (value: string) => Schema | undefined;
  readonly submit: string;
  readonly needs?: Right | undefined;
  readonly busy?: boolean;
  readonly error?: ApiError | null;
  readonly send: (values: FormValues) => void;
}

/** A form from the schema of a request: fields of a group are folded, a complaint of the server stands at the field that it names. */
export function SchemaForm({ schema, present = {}, variant, submit, needs, busy = false, error, send }: SchemaFormProps) {
  const [values, setValues] = useState<FormValues>({});
  const by = schema.discriminator?.propertyName;
  const chosen = by === undefined ? undefined : variant?.(String(values[by] ?? present[by] ?? ''));
  const fields = { ...schema.properties, ...chosen?.properties };
  const required = new Set([...(schema.required ?? []), ...(chosen?.required ?? [])]);
  const complaints = complaintsOf(error?.status === 400 ? error.errors : [], Object.keys(fields));
  const groups = groupsOf(fields, required);
  const change = (name: string, value: unknown): void => {
    const { [name]: _before, ...others } = values;
    setValues(value === undefined ? others : { ...others, [name]: value });
  };
  const submitted = (event: FormEvent): void => {
    event.preventDefault();
    send(values);
  };
  const drawn = (names: readonly string[]) => (
    <Stack gap="md">
      {names.map((name) => (
        <SchemaField
          key={name}
          name={name}
          schema={fields[name]!}
          required={required.has(name) && present[name] === undefined}
          present={present[name]}
          value={values[name]}
          complaint={complaints[name]}
          onChange={(value) => change(name, value)}
        />
      ))}
    </Stack>
  );
  return (
    <form className={classes.form} onSubmit={submitted}>
      <Stack gap="lg">
        {drawn(groups.first)}
        {groups.others.map(([title, names]) => (
          <details key={title} className={classes.group} open={names.some((name) => complaints[name] !== undefined) || undefined}>
            <summary>{title}</summary>
            <Fieldset variant="unstyled" aria-label={title}>
              {drawn(names)}
            </Fieldset>
          </details>
        ))}
        {error && <ServerError error={error} />}
        <Group>
          <ActionButton type="submit" size="sm" needs={needs} loading={busy}>
            {submit}
          </ActionButton>
        </Group>
      </Stack>
    </form>
  );
}

/** What must be there first; then what has no group; groups, and what nobody should use any more, folded. */
function groupsOf(fields: Readonly<Record<string, Schema>>, required: ReadonlySet<string>) {
  const first: string[] = [];
  const others = new Map<string, string[]>();
  for (const [name, field] of Object.entries(fields)) {
    const group = field.deprecated ? 'Deprecated' : (field['x-vault-displayAttrs']?.group ?? (/^token_/.test(name) ? 'Tokens' : undefined));
    if (group === undefined || required.has(name)) first.push(name);
    else others.set(group, [...(others.get(group) ?? []), name]);
  }
  first.sort((a, b) => Number(required.has(b)) - Number(required.has(a)));
  return { first, others: [...others] };
}
