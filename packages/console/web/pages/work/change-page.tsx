import { Group, Text } from '@mantine/core';
import { useState } from 'react';
import type { ApiError } from '../../api/api-error.ts';
import { apiPath } from '../../api/api-path.ts';
import { useRead, makeStale, queryClient } from '../../api/queries.ts';
import { send } from '../../api/send.ts';
import { WORK_PATHS } from '../../api/work.ts';
import { ConfirmAction } from '../../parts/confirm-action.tsx';
import { Facts } from '../../parts/facts.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { useGo, usePlace } from '../../parts/place.ts';
import { ServerError } from '../../parts/server-error.tsx';
import { StateChip } from '../../parts/state-chip.tsx';
import { To } from '../../parts/to.tsx';
import { TriesTimeline } from '../../parts/tries-timeline.tsx';
import { TryNow } from '../../parts/try-now.tsx';
import { When } from '../../parts/when.tsx';
import type { Change } from './work-rows.ts';

/** One outside change that is not finished: what it may leave outside, and what can be done about it. */
export default function ChangePage() {
  const { id = '' } = usePlace().params;
  const go = useGo();
  const [error, setError] = useState<ApiError>();
  const path = apiPath('sys/journal', id);
  const change = useRead<Change>(path, { every: 10_000 });
  const forget = async (): Promise<void> => {
    await send('DELETE', path);
    go('/work', {}, { show: 'changes' });
    await makeStale(queryClient, WORK_PATHS);
  };
  return (
    <Page
      title="Outside change"
      crumbs={[
        <To to="/work">Work</To>,
        <To to="/work" search={{ show: 'changes' }}>
          Outside changes
        </To>,
      ]}
    >
      <Loaded query={change}>
        {({ data }) => (
          <>
            <Facts
              facts={[
                {
                  label: 'State',
                  value: (
                    <StateChip mood={data.failing_since === null ? 'wait' : 'bad'}>
                      {data.failing_since === null ? 'not finished' : 'cannot be undone'}
                    </StateChip>
                  ),
                },
                {
                  label: 'May be left outside',
                  value: data.leaves && `${data.leaves.kind} ${data.leaves.name}${data.leaves.system ? `, ${data.leaves.system}` : ''}`,
                },
                { label: 'Detail', value: data.leaves?.detail },
                { label: 'Mount', value: data.mount },
                { label: 'Kind of change', value: data.kind },
                { label: 'Begun', value: <When time={data.opened} /> },
                { label: 'Undone', value: <When time={data.next_attempt} /> },
                { label: 'Failed tries', value: String(data.attempts) },
                { label: 'Asks', value: data.system?.name },
                { label: 'Said last', value: data.last_error?.message },
              ]}
            />
            <TriesTimeline tries={data.tries} />
            <Group gap="xs" my="md">
              <TryNow
                retry={`sys/journal/${id}/retry`}
                job={null}
                ended={(failure) => {
                  setError(failure);
                  if (!failure) go('/work', {}, { show: 'changes' });
                }}
              />
              <ConfirmAction label="Forget" needs={{ path: `sys/journal/${id}`, need: 'delete', sudo: true }} typed="forget" act={forget}>
                The server no longer undoes this change.{' '}
                <Text span fw={600}>
                  {data.leaves ? `${data.leaves.kind} ${data.leaves.name}` : 'What it made'}
                </Text>{' '}
                may stay outside, and nobody looks after it.
              </ConfirmAction>
            </Group>
            {error && <ServerError error={error} />}
          </>
        )}
      </Loaded>
    </Page>
  );
}
