import { Alert, Group, Stack, Text, Title } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import type { Right } from '../api/rights.ts';
import { send } from '../api/send.ts';
import { useDeclaredBody } from '../api/use-declared-body.ts';
import { ActionButton } from './action-button.tsx';
import { FormField } from './form/form-field.tsx';
import { readDraft, type FormValues } from './form/form-values.ts';
import classes from './form/form.module.css';
import { useFieldDraft } from './form/use-field-draft.ts';
import { Ladder, type Rung } from './ladder.tsx';
import { ServerError } from './server-error.tsx';
import { useAttempt } from './use-attempt.ts';

/** A test of settings that are not saved yet. */
export interface TestOfSettings {
  /** `config/test` of the mount, encoded. */
  readonly path: string;
  readonly needs: Right;
  /** The test's own fields, such as a user to look up. */
  readonly fields: readonly string[];
  readonly stages: readonly string[];
  /** Drawn under the ladder from the whole answer. */
  readonly found?: (data: Readonly<Record<string, unknown>>) => ReactNode;
}

interface Report {
  readonly ok: boolean;
  readonly steps: readonly Rung[];
}

interface SettingsTestProps {
  readonly test: TestOfSettings;
  /** What a save would send. */
  readonly values?: FormValues;
  /** Whether anything was typed that is not saved. */
  readonly unsaved?: boolean;
}

/** Tries what is stored, with what is typed in its place. Nothing is saved. */
export function SettingsTest({ test, values = {}, unsaved = false }: SettingsTestProps) {
  const declared = useDeclaredBody(test.path);
  const { draft, type } = useFieldDraft(test.path);
  const { busy, error, attempt } = useAttempt();
  const [report, setReport] = useState<{
    readonly data: Report & Record<string, unknown>;
    readonly warnings: readonly string[];
    readonly unsaved: boolean;
  }>();
  const properties = declared.data?.schema.properties ?? {};
  const fields = Object.fromEntries(test.fields.flatMap((name) => (Object.hasOwn(properties, name) ? [[name, properties[name]!]] : [])));
  const own = readDraft(fields, draft);
  const run = async (): Promise<void> => {
    setReport(undefined);
    const { data, warnings } = await send<Report & Record<string, unknown>>('POST', test.path, {
      body: { ...(unsaved ? values : {}), ...own.values },
    });
    setReport({ data, warnings, unsaved });
  };
  return (
    <section className={classes.panel} aria-labelledby="test-title">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void attempt(run);
        }}
      >
        <Stack gap="sm">
          <Title order={2} size="h4" id="test-title">
            Try it
          </Title>
          <Text size="sm" c="dimmed">
            {unsaved
              ? 'With what is typed in place of what is saved. Nothing is saved, nothing is changed outside.'
              : 'With what is saved. Nothing is changed.'}
          </Text>
          {Object.entries(fields).map(([name, schema]) => (
            <FormField
              key={name}
              name={name}
              schema={schema}
              required={false}
              stored={undefined}
              isSet={false}
              typed={draft[name]}
              complaint={own.faults[name]}
              onType={(typed) => type(name, typed)}
            />
          ))}
          <Group>
            <ActionButton type="submit" variant="default" needs={test.needs} loading={busy}>
              {unsaved ? 'Test these settings' : 'Test'}
            </ActionButton>
          </Group>
        </Stack>
      </form>
      {error && <ServerError error={error} />}
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
