import { NumberInput, PasswordInput, Select, TagsInput, Textarea, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { Schema } from '../api/openapi.ts';
import { PairRows } from './pair-rows.tsx';
import { asText, fromJson, secondsOf } from './schema-values.ts';
import { inWords } from './words.ts';

interface SchemaFieldProps {
  readonly name: string;
  readonly schema: Schema;
  readonly required: boolean;
  /** What stands there now. */
  readonly present: unknown;
  /** What was typed; undefined: nothing, and nothing is sent. */
  readonly value: unknown;
  readonly complaint: string | undefined;
  readonly onChange: (value: unknown) => void;
}

/** One field of a form, drawn by its schema. */
export function SchemaField(props: SchemaFieldProps) {
  const { name, schema, required, present, value, complaint, onChange } = props;
  const shown = value ?? present;
  const hint = schema.default === undefined || schema.default === '' ? undefined : asText(schema.default);
  const shared = {
    label: schema.title ?? inWords(name),
    description: schema.description,
    required,
    error: complaint,
    placeholder: hint,
  };
  const text = (typed: string): void => onChange(typed === '' && present === undefined ? undefined : typed);
  if (schema['x-vault-displayAttrs']?.sensitive) {
    return (
      <PasswordInput {...shared} autoComplete="off" value={asText(value)} onChange={({ currentTarget }) => text(currentTarget.value)} />
    );
  }
  if (schema.enum) {
    return (
      <Select
        {...shared}
        clearable
        data={schema.enum.map(String)}
        value={asText(shown) || null}
        onChange={(next) => onChange(next ?? undefined)}
      />
    );
  }
  if (schema.type === 'boolean') {
    const choices = [
      { value: 'true', label: 'on' },
      { value: 'false', label: 'off' },
    ];
    return (
      <Select
        {...shared}
        placeholder={hint === undefined ? 'not set' : `${hint === 'true' ? 'on' : 'off'} unless set`}
        clearable
        data={choices}
        value={shown === undefined || shown === null ? null : String(shown)}
        onChange={(next) => onChange(next === null ? undefined : next === 'true')}
      />
    );
  }
  if (schema.type === 'integer' || schema.type === 'number') {
    return (
      <NumberInput
        {...shared}
        allowDecimal={schema.type === 'number'}
        value={asText(shown)}
        onChange={(next) => onChange(next === '' ? undefined : next)}
      />
    );
  }
  if (schema.format === 'duration') return <DurationField {...props} shared={shared} />;
  if (schema.type === 'array' && (schema.items?.type === 'string' || schema.items?.type === 'integer')) {
    const list = Array.isArray(shown) ? shown.map(String) : [];
    return (
      <TagsInput {...shared} description={`${schema.description ?? ''} Enter adds one.`} value={list} onChange={(next) => onChange(next)} />
    );
  }
  if (schema.type === 'object' && typeof schema.additionalProperties === 'object' && schema.additionalProperties.type === 'string') {
    return <PairRows {...shared} pairs={(shown ?? {}) as Readonly<Record<string, string>>} onChange={onChange} />;
  }
  if (schema.type === 'string' || schema.type === undefined) {
    if (schema['x-vault-displayAttrs']?.editType === 'textarea' || /\bPEM\b|HCL|LDIF|JSON|statement/.test(schema.description ?? '')) {
      return (
        <Textarea
          {...shared}
          autosize
          minRows={3}
          maxRows={16}
          value={asText(shown)}
          onChange={({ currentTarget }) => text(currentTarget.value)}
        />
      );
    }
    return (
      <TextInput
        {...shared}
        autoComplete="off"
        spellCheck={false}
        value={asText(shown)}
        onChange={({ currentTarget }) => text(currentTarget.value)}
      />
    );
  }
  return <JsonField {...props} shared={shared} />;
}

interface Shared {
  readonly label: string;
  readonly description: string | undefined;
  readonly required: boolean;
  readonly error: string | undefined;
  readonly placeholder: string | undefined;
}

/** `1h30m` or a number of seconds; what it comes to is said below. */
function DurationField({ present, value, onChange, shared }: SchemaFieldProps & { readonly shared: Shared }) {
  const typed = asText(value ?? present);
  const seconds = secondsOf(typed);
  const wrong = typed !== '' && value !== undefined && seconds === undefined;
  return (
    <TextInput
      {...shared}
      placeholder={shared.placeholder ?? '1h, 30m, 7d'}
      error={wrong ? 'Write a duration, such as 30m, 12h or 7d.' : shared.error}
      description={`${shared.description ?? ''}${seconds !== undefined && !/^\d+$/.test(typed) ? ` (${seconds} s)` : ''}`}
      autoComplete="off"
      value={typed}
      onChange={({ currentTarget }) => onChange(currentTarget.value === '' ? undefined : currentTarget.value)}
    />
  );
}

/** Anything else, as JSON. */
function JsonField({ present, value, onChange, shared }: SchemaFieldProps & { readonly shared: Shared }) {
  const [text, setText] = useState(() => ((value ?? present) === undefined ? '' : JSON.stringify(value ?? present, undefined, 2)));
  const [wrong, setWrong] = useState<string>();
  const typed = (next: string): void => {
    setText(next);
    try {
      onChange(next.trim() === '' ? undefined : fromJson(next));
      setWrong(undefined);
    } catch {
      setWrong('This is not JSON yet.');
    }
  };
  return (
    <Textarea
      {...shared}
      description={`${shared.description ?? ''} As JSON.`}
      error={wrong ?? shared.error}
      autosize
      minRows={2}
      maxRows={16}
      spellCheck={false}
      value={text}
      onChange={({ currentTarget }) => typed(currentTarget.value)}
    />
  );
}
