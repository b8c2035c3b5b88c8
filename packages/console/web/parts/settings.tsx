import { Alert, Button, Group, Stack, Text, Title } from '@mantine/core';
import { useState, type FormEvent, type ReactNode } from 'react';
import { ApiError } from '../api/api-error.ts';
import { useDeclared, type DeclaredField } from '../api/declared-fields.ts';
import { bodyOf, textOf, type Draft } from '../api/draft.ts';
import { makeStale, queryClient } from '../api/queries.ts';
import type { Right } from '../api/rights.ts';
import { send } from '../api/send.ts';
import { ActionButton } from './action-button.tsx';
import { DeclaredForm } from './declared-form.tsx';
import { Ladder, type Rung } from './ladder.tsx';
import { Loaded } from './loaded.tsx';
import { ServerError } from './server-error.tsx';
import classes from './settings.module.css';

/** A test of settings that are not saved yet. */
export interface SettingsTest {
  /** `config/test` of the mount, encoded. */
  readonly path: string;
  readonly needs: Right;
  /** The test's own fields, such as a user to look up. */
  readonly fields: readonly string[];
  readonly stages: readonly string[];
  /** Drawn under the ladder from the whole answer. */
  readonly found?: (data: Readonly<Record<string, unknown>>) => ReactNode;
}

interface SettingsProps {
  /** What is written, encoded. */
  readonly path: string;
  readonly needs: Right;
  /** Undefined where nothing is stored yet. */
  readonly stored: Readonly<Record<string, unknown>> | undefined;
  readonly first: readonly string[];
  /** Fields that are not shown here. */
  readonly without?: readonly string[];
  /** Fields that a write resets where it lacks them: what is stored of them is sent along. */
  readonly resends?: readonly string[] | 'all';
  readonly stale: readonly string[];
  readonly test?: SettingsTest;
  readonly save?: string;
  readonly done?: () => void;
  readonly children?: ReactNode;
}

/** A form of what is stored at a path, with the test of its settings beside it: what is typed is tried before it is saved. */
export function Settings(props: SettingsProps) {
  const declared = useDeclared(props.path);
  return (
    <Loaded query={declared}>{(fields) => <Form {...props} fields={fields.filter(({ name }) => !props.without?.includes(name))} />}</Loaded>
  );
}

function Form({
  path,
  needs,
  stored,
  first,
  resends = [],
  stale,
  test,
  save,
  done,
  children,
  fields,
}: SettingsProps & { readonly fields: readonly DeclaredField[] }) {
  const [draft, setDraft] = useState<Draft>({});
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | Error>();
  const [warnings, setWarnings] = useState<readonly string[]>([]);
  const [saved, setSaved] = useState(false);
  const touched = Object.keys(draft).length;
  const whole = { ...keptOf(fields, stored ?? {}, resends), ...draft };
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    setSaved(false);
    try {
      const answer = await send('POST', path, { body: bodyOf(fields, whole) });
      setWarnings(answer.warnings);
      setDraft({});
      setSaved(true);
      await makeStale(queryClient, stale);
      done?.();
    } catch (caught) {
      setError(caught as Error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <div className={classes.beside} data-alone={test === undefined}>
      <form onSubmit={(event) => void submit(event)} noValidate>
        <Stack gap="md">
          {children}
          <DeclaredForm
            fields={fields}
            stored={stored ?? {}}
            draft={draft}
            first={first}
            onDraft={(next) => {
              setSaved(false);
              setDraft(next);
            }}
          />
          {error instanceof ApiError && <ServerError error={error} />}
          {error && !(error instanceof ApiError) && (
            <Alert role="alert" color="red" variant="light">
              {error.message}
            </Alert>
          )}
          {warnings.map((warning) => (
            <Alert key={warning} color="yellow" variant="light" role="status">
              {warning}
            </Alert>
          ))}
          <Group gap="sm">
            <ActionButton type="submit" needs={needs} loading={busy} disabled={touched === 0 && stored !== undefined}>
              {save ?? 'Save'}
            </ActionButton>
            {touched > 0 && (
              <Button size="xs" variant="subtle" onClick={() => setDraft({})}>
                Discard
              </Button>
            )}
            <Text size="sm" c="dimmed" role="status">
              {saved ? 'Saved.' : touched > 0 ? `Unsaved: ${Object.keys(draft).join(', ')}` : ''}
            </Text>
          </Group>
        </Stack>
      </form>
      {test && <TestPanel test={test} draft={draft} kept={whole} fields={fields} />}
    </div>
  );
}

/** What is stored of the fields that a write would reset. */
function keptOf(fields: readonly DeclaredField[], stored: Readonly<Record<string, unknown>>, resends: readonly string[] | 'all'): Draft {
  const kept = fields.filter(
    ({ name, kind, deprecated }) => kind !== 'secret' && !deprecated && (resends === 'all' || resends.includes(name)),
  );
  return Object.fromEntries(
    kept.flatMap(({ name, kind }) => (stored[name] === undefined || stored[name] === null ? [] : [[name, textOf(stored[name], kind)]])),
  );
}

interface Report {
  readonly ok: boolean;
  readonly steps: readonly Rung[];
}

/** Tries what is stored, with what is typed in its place. Nothing is saved. */
export function TestPanel({
  test,
  draft = {},
  kept = draft,
  fields = [],
}: {
  readonly test: SettingsTest;
  readonly draft?: Draft;
  /** The draft with what is sent along with it. */
  readonly kept?: Draft;
  readonly fields?: readonly DeclaredField[];
}) {
  const declared = useDeclared(test.path);
  const [own, setOwn] = useState<Draft>({});
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<Error>();
  const [report, setReport] = useState<{
    readonly data: Report & Record<string, unknown>;
    readonly warnings: readonly string[];
    readonly unsaved: boolean;
  }>();
  const ownFields = test.fields.flatMap((name) => declared.data?.find((field) => field.name === name) ?? []);
  const unsaved = Object.keys(draft).length > 0;
  const run = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    try {
      const answer = await send<Report & Record<string, unknown>>('POST', test.path, {
        body: { ...(unsaved ? bodyOf(fields, kept) : {}), ...bodyOf(ownFields, own) },
      });
      setReport({ data: answer.data, warnings: answer.warnings, unsaved });
    } catch (caught) {
      setReport(undefined);
      setError(caught as Error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <section className={classes.test} aria-labelledby="test-title">
      <form onSubmit={(event) => void run(event)}>
        <Stack gap="sm">
          <Title order={2} size="h4" id="test-title">
            Try it
          </Title>
          <Text size="sm" c="dimmed">
            {unsaved
              ? 'With what is typed in place of what is saved. Nothing is saved, nothing is changed outside.'
              : 'With what is saved. Nothing is changed.'}
          </Text>
          <DeclaredForm fields={ownFields} stored={{}} draft={own} onDraft={setOwn} first={test.fields} />
          <Group>
            <ActionButton type="submit" variant="default" needs={test.needs} loading={busy}>
              {unsaved ? 'Test these settings' : 'Test'}
            </ActionButton>
          </Group>
        </Stack>
      </form>
      {error instanceof ApiError && <ServerError error={error} />}
      {error && !(error instanceof ApiError) && (
        <Alert role="alert" color="red" variant="light">
          {error.message}
        </Alert>
      )}
      <div role="status" className={classes.report}>
        {report && (
          <>
            <Text fw={600} size="sm">
              {summary(report.data, report.unsaved)}
            </Text>
            <Ladder label="Stages of the test" rungs={report.data.steps} stages={test.stages} />
            {test.found?.(report.data)}
            {report.warnings.map((warning) => (
              <Alert key={warning} color="yellow" variant="light">
                {warning}
              </Alert>
            ))}
          </>
        )}
      </div>
    </section>
  );
}

function summary({ ok, steps }: Report, unsaved: boolean): string {
  const failed = steps.find((step) => !step.ok);
  if (failed) return `Failed at “${failed.step}”.`;
  const millis = steps.reduce((sum, { milliseconds }) => sum + milliseconds, 0);
  return ok ? `All ${steps.length} stages passed in ${millis} ms.${unsaved ? ' Not saved yet.' : ''}` : 'The test did not pass.';
}
