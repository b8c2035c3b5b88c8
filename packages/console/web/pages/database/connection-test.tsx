import { Stack, Text } from '@mantine/core';
import { apiPath } from '../../api/api-path.ts';
import { useAct } from '../../api/queries.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { ServerError } from '../../parts/server-error.tsx';
import { StateChip } from '../../parts/state-chip.tsx';
import type { FormValues } from '../../parts/form/form-values.ts';
import classes from './connection-test.module.css';

interface Stage {
  readonly stage: string;
  readonly ok: boolean;
  readonly milliseconds: number;
  readonly message: string | null;
}

const WORDS: Readonly<Record<string, string>> = {
  settings: 'The settings fit the plugin',
  open: 'The plugin takes them',
  login: 'The database accepts the login',
};

interface ConnectionTestProps {
  readonly mount: string;
  readonly name: string;
  readonly draft: FormValues;
}

/** Tries what stands in the form, stage by stage; nothing is stored. */
export function ConnectionTest({ mount, name, draft }: ConnectionTestProps) {
  const tested = name === '' ? 'new' : name;
  const test = useAct<{ ok: boolean; stages: readonly Stage[] }>({ method: 'POST', path: apiPath(mount, 'config', tested, 'test') });
  const found = test.data?.data;
  return (
    <section aria-label="Test" className={classes.box}>
      <Stack gap="sm" align="flex-start">
        <ActionButton
          variant="default"
          needs={{ path: `${mount}/config/${tested}/test`, need: 'update' }}
          loading={test.isPending}
          onClick={() => test.mutate(draft)}
        >
          Test
        </ActionButton>
        <Text size="xs" c="dimmed">
          Logs in with what stands here, and stores nothing.
        </Text>
        {test.error && <ServerError error={test.error} />}
      </Stack>
      {found && !test.error && (
        <ol className={classes.stages} aria-label="Stages">
          {found.stages.map(({ stage, ok, milliseconds, message }) => (
            <li key={stage}>
              <StateChip mood={ok ? 'good' : 'bad'}>{ok ? 'passed' : 'failed'}</StateChip>
              <span>{WORDS[stage] ?? stage}</span>
              <span className={classes.time}>{milliseconds} ms</span>
              {message !== null && <p>{message}</p>}
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}
