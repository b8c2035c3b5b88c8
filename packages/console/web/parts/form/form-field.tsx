import { Input, NativeSelect, PasswordInput, Textarea, TextInput } from '@mantine/core';
import type { Schema } from '../../api/openapi.ts';
import { CodeEditor } from '../code-editor.tsx';
import { MarkedText } from '../marked-text.tsx';
import { inWords } from '../words.ts';
import { isSensitive, kindOf } from './field-kind.ts';
import { asText, secondsOf, shownAs, type Draft } from './form-values.ts';
import classes from './form.module.css';
import { PairRows } from './pair-rows.tsx';

/** A value that may be chosen, and what it says to people. */
export interface Choice {
  readonly value: string;
  readonly label: string;
}

interface FormFieldProps {
  readonly name: string;
  readonly schema: Schema;
  readonly required: boolean;
  /** What is stored now. Of a secret: undefined. */
  readonly stored: unknown;
  /** A secret is stored that the server does not show. */
  readonly isSet: boolean;
  /** What was typed; undefined: nothing, and nothing is sent. */
  readonly typed: Draft[string] | undefined;
  readonly complaint: string | undefined;
  /** In place of the values that the schema names. */
  readonly choices?: readonly Choice[] | undefined;
  readonly onType: (typed: Draft[string] | undefined) => void;
}

/** One field of a form, drawn by its schema. */
export function FormField({ name, schema, required, stored, isSet, typed, complaint, choices, onType }: FormFieldProps) {
  const kind = choices ? 'choice' : kindOf(name, schema);
  const shown = isSensitive(schema) ? '' : shownAs(stored, kind);
  const value = typeof typed === 'string' ? typed : shown;
  // What is empty again where nothing is stored was not touched.
  const type = (text: string): void => onType(text === '' && (shown === '' || isSensitive(schema)) ? undefined : text);
  const common = {
    label: labelOf(name, schema),
    description: described(schema),
    required,
    error: complaint,
    placeholder: isSet ? 'set; leave empty to keep it' : asText(schema.default),
  };
  switch (kind) {
    case 'secret':
      return (
        <PasswordInput
          {...common}
          value={value}
          autoComplete="new-password"
          visibilityToggleButtonProps={{ 'aria-label': `Show ${common.label}`, tabIndex: 0 }}
          onChange={({ currentTarget }) => type(currentTarget.value)}
        />
      );
    case 'boolean':
    case 'choice': {
      const { placeholder: _none, ...rest } = common;
      const options =
        choices ?? (kind === 'boolean' ? ON_OFF : (schema.enum ?? []).map((one) => ({ value: String(one), label: String(one) })));
      return (
        <NativeSelect
          {...rest}
          value={value}
          data={withPresent(options, shown, schema)}
          onChange={({ currentTarget }) => onType(currentTarget.value === shown ? undefined : currentTarget.value)}
        />
      );
    }
    case 'lines':
    case 'list':
    case 'statements':
    case 'json':
      return (
        <Textarea
          {...common}
          autosize
          minRows={kind === 'list' ? 1 : 3}
          maxRows={16}
          spellCheck={false}
          placeholder={kind === 'list' ? 'one a line' : kind === 'json' ? 'JSON' : common.placeholder}
          classNames={{ input: isSensitive(schema) ? classes.masked! : classes.mono! }}
          value={value}
          onChange={({ currentTarget }) => type(currentTarget.value)}
        />
      );
    case 'code':
      return (
        <Input.Wrapper {...common} labelElement="div">
          <div className={classes.under}>
            <CodeEditor label={common.label} value={value} onChange={type} low />
          </div>
        </Input.Wrapper>
      );
    case 'pairs':
      return <PairRows {...common} pairs={recordOf(typed ?? stored)} touched={typed !== undefined} onChange={onType} />;
    default: {
      const seconds = kind === 'duration' && !/^\d*$/.test(value) ? secondsOf(value) : undefined;
      return (
        <TextInput
          {...common}
          description={described(schema, seconds)}
          placeholder={common.placeholder || (kind === 'duration' ? '1h, 30m, 7d' : '')}
          autoComplete="off"
          spellCheck={false}
          inputMode={kind === 'number' ? 'numeric' : 'text'}
          value={value}
          onChange={({ currentTarget }) => type(currentTarget.value)}
        />
      );
    }
  }
}

export function labelOf(name: string, schema: Schema): string {
  return schema.title ?? inWords(name);
}

function described({ description }: Schema, seconds?: number) {
  if (description === undefined) return undefined;
  return (
    <>
      <MarkedText text={description} />
      {seconds !== undefined && ` (${seconds} s)`}
    </>
  );
}

const ON_OFF: readonly Choice[] = [
  { value: 'true', label: 'on' },
  { value: 'false', label: 'off' },
];

/** The choices, and what is there now where it is none of them. */
function withPresent(options: readonly Choice[], shown: string, schema: Schema): Choice[] {
  if (options.some(({ value }) => value === shown)) return [...options];
  const byDefault = asText(schema.default);
  const usual = options.find(({ value }) => value === byDefault)?.label;
  return [{ value: shown, label: shown === '' ? (usual === undefined ? 'not set' : `${usual} unless set`) : shown }, ...options];
}

function recordOf(value: unknown): Readonly<Record<string, string>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, string>>) : {};
}
