import { NumberInput, PasswordInput, Select, Switch, TextInput } from '@mantine/core';
import { labelOf, type FieldSchema } from './field-schema.ts';

export type Values = Readonly<Record<string, unknown>>;

interface DeclaredFieldsProps {
  readonly properties: Readonly<Record<string, FieldSchema>>;
  readonly required: readonly string[];
  readonly values: Values;
  readonly onChange: (values: Values) => void;
}

/** The fields of a login, as its method declares them: what must be there first. */
export function DeclaredFields({ properties, required, values, onChange }: DeclaredFieldsProps) {
  const needed = (name: string): boolean => required.includes(name) || name === 'password';
  const names = Object.keys(properties).sort((a, b) => Number(needed(b)) - Number(needed(a)));
  return names.map((name, at) => (
    <DeclaredField
      key={name}
      name={name}
      schema={properties[name]!}
      required={needed(name)}
      autoFocus={at === 0}
      value={values[name]}
      onChange={(value) => onChange({ ...values, [name]: value })}
    />
  ));
}

interface DeclaredFieldProps {
  readonly name: string;
  readonly schema: FieldSchema;
  readonly required: boolean;
  readonly autoFocus: boolean;
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
}

function DeclaredField({ name, schema, required, autoFocus, value, onChange }: DeclaredFieldProps) {
  const usual = name === 'username' || name === 'password';
  const label = labelOf(name);
  const shared = { label, required, description: usual ? undefined : schema.description, autoFocus, withAsterisk: false };
  const text = typeof value === 'string' ? value : '';
  if (schema['x-vault-displayAttrs']?.sensitive) {
    return (
      <PasswordInput
        {...shared}
        autoComplete={name === 'password' ? 'current-password' : 'off'}
        value={text}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
      />
    );
  }
  if (schema.enum) {
    return (
      <Select
        {...shared}
        data={schema.enum.map(String)}
        value={text || String(schema.default ?? '')}
        onChange={(chosen) => onChange(chosen ?? undefined)}
      />
    );
  }
  if (schema.type === 'boolean') {
    return (
      <Switch
        label={label}
        description={shared.description}
        checked={value === true}
        onChange={({ currentTarget }) => onChange(currentTarget.checked)}
      />
    );
  }
  if (schema.type === 'integer' || schema.type === 'number') {
    return (
      <NumberInput
        {...shared}
        value={typeof value === 'number' ? value : ''}
        onChange={(next) => onChange(next === '' ? undefined : next)}
      />
    );
  }
  return (
    <TextInput
      {...shared}
      autoComplete={name === 'username' ? 'username' : 'off'}
      autoCapitalize="none"
      spellCheck={false}
      value={text}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    />
  );
}
