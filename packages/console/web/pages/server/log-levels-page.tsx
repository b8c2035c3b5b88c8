import { NativeSelect, Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { apiPath } from '../../api/api-path.ts';
import { makeStale, useRead } from '../../api/queries.ts';
import { send } from '../../api/send.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { CommandLines } from '../../parts/command-lines.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { ServerError } from '../../parts/server-error.tsx';
import { useAttempt } from '../../parts/use-attempt.ts';
import { ServerFrame } from './server-frame.tsx';
import { useRight } from '../../api/rights.ts';
import classes from './log-levels-page.module.css';

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error'];

/** How much each part of the server logs. A change holds until the server stops. */
export default function LogLevelsPage() {
  const levels = useRead<Record<string, string>>('sys/loggers');
  const client = useQueryClient();
  const { busy, error, attempt } = useAttempt();
  const may = useRight({ path: 'sys/loggers', need: ['update', 'create'] });
  const change = (work: () => Promise<unknown>): void =>
    void attempt(async () => {
      await work();
      await makeStale(client, ['sys/loggers']);
    });
  return (
    <ServerFrame
      title="Log levels"
      place="/server/log-levels"
      actions={
        <ActionButton
          variant="default"
          needs={{ path: 'sys/loggers', need: 'delete' }}
          loading={busy}
          onClick={() => change(async () => send('DELETE', 'sys/loggers'))}
        >
          As configured
        </ActionButton>
      }
    >
      <Stack>
        <Text size="sm" c="dimmed">
          A change holds on this server until it stops. The configuration has the level for every start.
        </Text>
        {error && <ServerError error={error} />}
        <Loaded query={levels}>
          {({ data }) => (
            <div className={classes.levels}>
              {Object.entries(data).map(([name, level]) => (
                <NativeSelect
                  key={name}
                  label={name}
                  classNames={{ root: classes.level, label: classes.name }}
                  data={LEVELS}
                  value={level}
                  disabled={busy || may === 'no'}
                  description={may === 'no' ? 'missing: update on sys/loggers' : undefined}
                  onChange={({ currentTarget }) => {
                    const next = currentTarget.value;
                    change(async () => send('POST', apiPath('sys/loggers', name), { body: { level: next } }));
                  }}
                />
              ))}
            </div>
          )}
        </Loaded>
      </Stack>
      <CommandLines lines={[{ with: 'CLI', command: 'strongroom read sys/loggers\nstrongroom write sys/loggers/core level=debug' }]} />
    </ServerFrame>
  );
}
