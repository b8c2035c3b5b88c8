import { NativeSelect, PasswordInput, Stack, Textarea, TextInput } from '@mantine/core';
import type { DeclaredField } from '../api/declared-fields.ts';
import { textOf, type Draft } from '../api/draft.ts';
import classes from './declared-form.module.css';

interface DeclaredFormProps {
  readonly fields: readonly DeclaredField[];
  /** What is stored now; empty for what is new. */
  readonly stored: Readonly<Record<string, unknown>>;
  readonly draft: Draft;
  readonly onDraft: (draft: Draft) => void;
  /** Fields that stand first, in this order; the others are behind *More settings*. */
  readonly first: readonly string[];
}

/** The fields of a path, from its declaration. Only what somebody touches is in the draft. */
export function DeclaredForm({ fields, stored, draft, onDraft, first }: DeclaredFormProps) {
  const byName = new Map(fields.map((field) => [field.name, field]));
  const main = first.flatMap((name) => byName.get(name) ?? []);
  const rest = fields.filter(({ name, deprecated }) => !first.includes(name) && (!deprecated || draft[name] !== undefined));
  const ofTokens = rest.filter(({ name }) => name.startsWith('token_'));
  const more = rest.filter(({ name }) => !name.startsWith('token_'));
  const drawn = (field: DeclaredField) => <Field key={field.name} field={field} stored={stored} draft={draft} onDraft={onDraft} />;
  return (
    <Stack gap="md">
      {main.map(drawn)}
      {more.length > 0 && (
        <details className={classes.more}>
          <summary>{main.length === 0 ? 'Settings' : 'More settings'}</summary>
          <Stack gap="md">{more.map(drawn)}</Stack>
        </details>
      )}
      {ofTokens.length > 0 && (
        <details className={classes.more}>
          <summary>Tokens of these logins</summary>
          <Stack gap="md">{ofTokens.map(drawn)}</Stack>
        </details>
      )}
    </Stack>
  );
}

interface FieldProps extends Pick<DeclaredFormProps, 'stored' | 'draft' | 'onDraft'> {
  readonly field: DeclaredField;
}

function Field({ field: { name, kind, description, values }, stored, draft, onDraft }: FieldProps) {
  const touched = draft[name] !== undefined;
  const value = draft[name] ?? textOf(stored[name], kind);
  const set = (text: string): void => onDraft({ ...draft, [name]: text });
  const reset = (): void => {
    const { [name]: _untouched, ...others } = draft;
    onDraft(others);
  };
  const common = { label: name, description, classNames: { label: classes.label }, 'data-touched': touched };
  const isSet = stored[`${name}_set`] === true;
  switch (kind) {
    case 'secret':
      return (
        <PasswordInput
          {...common}
          value={draft[name] ?? ''}
          placeholder={isSet ? 'set; leave empty to keep it' : ''}
          autoComplete="new-password"
          onChange={({ currentTarget }) => (currentTarget.value === '' ? reset() : set(currentTarget.value))}
          visibilityToggleButtonProps={{ 'aria-label': `Show ${name}`, tabIndex: 0 }}
        />
      );
    case 'boolean':
    case 'choice': {
      const options =
        kind === 'boolean'
          ? [
              { value: 'true', label: 'on' },
              { value: 'false', label: 'off' },
            ]
          : values.map((one) => ({ value: one, label: one }));
      return (
        <NativeSelect
          {...common}
          value={value}
          data={
            value === '' || !options.some((option) => option.value === value)
              ? [{ value, label: value === '' ? 'not set' : value }, ...options]
              : options
          }
          onChange={({ currentTarget }) => (currentTarget.value === textOf(stored[name], kind) ? reset() : set(currentTarget.value))}
        />
      );
    }
    case 'lines':
    case 'list':
    case 'object':
      return (
        <Textarea
          {...common}
          value={value}
          autosize
          minRows={kind === 'lines' ? 3 : 1}
          maxRows={16}
          spellCheck={false}
          placeholder={
            kind === 'list'
              ? 'one a line'
              : kind === 'object'
                ? 'key=value, one a line, or JSON'
                : isSet
                  ? 'set; leave empty to keep it'
                  : ''
          }
          classNames={{ ...common.classNames, input: classes.mono! }}
          onChange={({ currentTarget }) => set(currentTarget.value)}
        />
      );
    default:
      return (
        <TextInput
          {...common}
          value={value}
          autoComplete="off"
          spellCheck={false}
          {...(kind === 'number' ? { inputMode: 'numeric' } : {})}
          {...(kind === 'duration' ? { placeholder: '1h, 7d, or seconds' } : {})}
          onChange={({ currentTarget }) => set(currentTarget.value)}
        />
      );
  }
}
