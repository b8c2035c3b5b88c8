import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import { useState, type FormEvent, type ReactNode } from 'react';
import type { Schema } from '../../api/openapi.ts';
import type { Right } from '../../api/rights.ts';
import type { Answer } from '../../api/send.ts';
import { ActionButton } from '../action-button.tsx';
import { CommandLines, type CommandLine } from '../command-lines.tsx';
import { FoundDraft } from '../found-draft.tsx';
import { ServerError } from '../server-error.tsx';
import { useAttempt } from '../use-attempt.ts';
import { isSensitive } from './field-kind.ts';
import { FormField, labelOf, type Choice } from './form-field.tsx';
import { complaintsOf, isEmpty, readDraft, type Draft, type Fields, type FormValues } from './form-values.ts';
import classes from './form.module.css';
import { sectionsOf } from './form-sections.ts';
import { useFieldDraft } from './use-field-draft.ts';

export interface FormProps {
  /** Names the draft: what is typed stays when the page is left or the session is lost. */
  readonly id: string;
  readonly schema: Schema;
  /** Further fields, by the value of the field that `schema.discriminator` names. */
  readonly variant?: ((value: string) => Schema | undefined) | undefined;
  /** What is stored, shown where nothing was typed; undefined for what is new. `<name>_set` says that a secret is. */
  readonly stored?: FormValues | undefined;
  /** What a new thing begins with; it is sent, unless it is changed. */
  readonly begin?: FormValues;
  /** Fields that stand first, in this order; the others are folded. Without it, all fields are open that belong to no group. */
  readonly first?: readonly string[] | undefined;
  /** Fields that are not shown. */
  readonly without?: readonly string[];
  /** Fields that a write resets where it lacks them: what is stored of them is sent along. */
  readonly resends?: readonly string[] | 'all';
  readonly choices?: Readonly<Record<string, readonly Choice[]>>;
  readonly submit: string;
  /** What is said when it was sent. */
  readonly saved?: string;
  readonly needs?: Right | undefined | ((values: FormValues) => Right | undefined);
  /** Sends; warnings of the answer are shown. Undefined: nothing was sent after all. @throws ApiError */
  readonly send: (values: FormValues) => Promise<Pick<Answer, 'warnings'> | undefined>;
  /** What was typed stays in the fields after it was sent, for another call. */
  readonly keeps?: boolean;
  readonly onCancel?: (() => void) | undefined;
  /** Beside the fields, by what would be sent: a test, a preview. */
  readonly beside?: ((values: FormValues, touched: boolean) => ReactNode) | undefined;
  /** The same without the console, by what would be sent. */
  readonly commands?: (values: FormValues) => readonly CommandLine[];
  readonly children?: ReactNode;
}

/** A form by a schema. Only what somebody touched is sent, since the API tells what is absent from what is empty. */
export function Form(props: FormProps) {
  return <FormOf key={props.id} {...props} />;
}

function FormOf(props: FormProps) {
  const {
    id,
    schema,
    variant,
    stored,
    begin = NOTHING,
    first,
    without = [],
    resends = [],
    choices = {},
    submit,
    saved = 'Saved.',
    needs,
    send,
    keeps = false,
  } = props;
  const { draft, touched, found, type, drop } = useFieldDraft(id);
  const { busy, error, attempt } = useAttempt();
  const [warnings, setWarnings] = useState<readonly string[]>([]);
  const [outcome, setOutcome] = useState<'saved' | 'incomplete'>();
  const by = schema.discriminator?.propertyName;
  const chosen = by === undefined ? undefined : variant?.(String(draft[by] ?? stored?.[by] ?? begin[by] ?? ''));
  const declared = { ...schema.properties, ...chosen?.properties };
  const fields = Object.fromEntries(Object.entries(declared).filter(([name]) => !without.includes(name)));
  const read = readDraft(fields, draft);
  const values = { ...begin, ...keptOf(declared, stored, resends), ...read.values };
  const required = [...(schema.required ?? []), ...(chosen?.required ?? [])].filter((name) => Object.hasOwn(fields, name));
  const missing = required.filter((name) => isEmpty(values[name]) && isEmpty(stored?.[name]) && stored?.[`${name}_set`] !== true);
  const complaints: Readonly<Record<string, string>> = {
    ...complaintsOf(error?.status === 400 ? error.errors : [], Object.keys(fields)),
    ...(outcome === 'incomplete' ? Object.fromEntries(missing.map((name) => [name, 'It is needed.'])) : {}),
    ...read.faults,
  };
  const save = async (): Promise<void> => {
    const answer = await send(values);
    if (answer) setWarnings(answer.warnings);
    if (!answer || keeps) return;
    drop();
    setOutcome('saved');
  };
  const submitted = (event: FormEvent): void => {
    event.preventDefault();
    // React hands what happens in a dialogue to the form around it, too.
    event.stopPropagation();
    const sendable = missing.length === 0 && Object.keys(read.faults).length === 0;
    setOutcome(sendable ? undefined : 'incomplete');
    if (sendable) void attempt(save);
  };
  const drawn = (names: readonly string[]) =>
    names.map((name) => (
      <FormField
        key={name}
        name={name}
        schema={fields[name]!}
        required={required.includes(name) && isEmpty(stored?.[name])}
        stored={stored?.[name] ?? begin[name]}
        isSet={stored?.[`${name}_set`] === true}
        typed={draft[name]}
        complaint={complaints[name]}
        choices={choices[name] ?? (name === by ? variantsOf(schema) : undefined)}
        onType={(typed) => {
          setOutcome(undefined);
          type(name, typed);
        }}
      />
    ));
  const sections = sectionsOf(fields, required, first, Object.keys(draft));
  const { beside, commands, onCancel, children } = props;
  return (
    <div className={beside ? classes.beside : classes.form}>
      <form onSubmit={submitted} noValidate>
        <Stack gap="md">
          {children}
          {found && <FoundDraft drop={() => drop()} />}
          {drawn(sections.open)}
          {sections.folded.map(([title, names]) => (
            <details key={title} className={classes.more} open={names.some((name) => complaints[name] !== undefined) || undefined}>
              <summary>{title}</summary>
              <Stack gap="md">{drawn(names)}</Stack>
            </details>
          ))}
          {error && <ServerError error={error} />}
          {warnings.map((warning) => (
            <Alert key={warning} color="yellow" variant="light" role="status">
              {warning}
            </Alert>
          ))}
          <Group gap="sm">
            <ActionButton
              type="submit"
              needs={typeof needs === 'function' ? needs(values) : needs}
              loading={busy}
              disabled={!touched && stored !== undefined}
            >
              {submit}
            </ActionButton>
            {touched && (
              <Button size="xs" variant="subtle" onClick={() => drop()}>
                Discard
              </Button>
            )}
            {onCancel && (
              <Button
                size="xs"
                variant="default"
                onClick={() => {
                  drop();
                  onCancel();
                }}
              >
                Cancel
              </Button>
            )}
            <Text size="sm" c="dimmed" role="status">
              {outcome === 'saved' ? saved : outcome === 'incomplete' ? fault(fields, complaints) : touched ? unsaved(fields, draft) : ''}
            </Text>
          </Group>
          {commands && <CommandLines lines={commands(values)} />}
        </Stack>
      </form>
      {beside && <div>{beside(values, touched)}</div>}
    </div>
  );
}

const NOTHING: FormValues = {};

/** What is stored of the fields that a write would reset. */
function keptOf(fields: Fields, stored: FormValues | undefined, resends: readonly string[] | 'all'): FormValues {
  if (!stored) return NOTHING;
  const kept = Object.entries(fields).filter(
    ([name, schema]) => !isSensitive(schema) && !schema.deprecated && (resends === 'all' || resends.includes(name)),
  );
  return Object.fromEntries(kept.flatMap(([name]) => (stored[name] === undefined || stored[name] === null ? [] : [[name, stored[name]]])));
}

/** What the field may say that decides which others there are. */
function variantsOf({ discriminator }: Schema): Choice[] {
  return Object.keys(discriminator?.mapping ?? {}).map((value) => ({ value, label: value }));
}

function unsaved(fields: Fields, draft: Draft): string {
  const names = Object.keys(draft).filter((name) => Object.hasOwn(fields, name));
  return `Unsaved: ${names.map((name) => labelOf(name, fields[name]!)).join(', ')}`;
}

function fault(fields: Fields, complaints: Readonly<Record<string, string>>): string {
  return `Not sent: ${Object.keys(complaints)
    .map((name) => labelOf(name, fields[name]!))
    .join(', ')}`;
}
