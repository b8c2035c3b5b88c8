import { Alert, Button, Checkbox, Group, Stack, Text } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { apiPath } from '../../api/api-path.ts';
import { ApiError } from '../../api/api-error.ts';
import { makeStale, queryClient, useRead } from '../../api/queries.ts';
import { send } from '../../api/send.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { CommandLines } from '../../parts/command-lines.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { usePlace } from '../../parts/place.ts';
import { ServerError } from '../../parts/server-error.tsx';
import { DestinationFrame } from './destination-frame.tsx';
import { HeldNotice } from './hold.tsx';
import { PlanLines } from './plan-lines.tsx';
import { rowsOf, type Plan } from './plan-rows.ts';

/** How often the outside is looked at again after a reconciliation, and how often at most. */
const AGAIN = 1_500;
const LOOKS = 8;

/** What differs between a destination and what it should hold, and its repair. The list is what is confirmed. */
export default function PlanPage() {
  const { type = '', name = '' } = usePlace().params;
  const place = `sys/sync/destinations/${type}/${name}`;
  const path = apiPath('sys', 'sync', 'destinations', type, name, 'plan');
  const plan = useRead<Plan>(path);
  const [removeOrphans, setRemoveOrphans] = useState(false);
  const [confirming, setConfirming] = useState(false);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError>();
  const [done, setDone] = useState<string>();
  const confirmButton = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (confirming) confirmButton.current?.focus();
  }, [confirming]);
  const reconcile = async (): Promise<void> => {
    setBusy(true);
    setError(undefined);
    try {
      const { data } = await send<{ queued: number; orphans_removed: number }>(
        'POST',
        apiPath('sys', 'sync', 'destinations', type, name, 'reconcile'),
        {
          body: { remove_orphans: removeOrphans },
        },
      );
      setConfirming(false);
      setRemoveOrphans(false);
      setDone(
        `${data.queued} queued${data.orphans_removed > 0 ? `, ${data.orphans_removed} orphans removed` : ''}. The plan is read again until nothing is left to write.`,
      );
      for (let look = 0; look < LOOKS; look += 1) {
        await new Promise((resolve) => setTimeout(resolve, AGAIN));
        const { data: after } = await plan.refetch();
        if (after && rowsOf(after.data, false).every(({ willChange }) => !willChange)) {
          setDone('Reconciled: nothing is left to write.');
          break;
        }
      }
      await makeStale(queryClient, [apiPath('sys', 'sync', 'destinations', type, name, 'associations')]);
    } catch (caught) {
      if (!(caught instanceof ApiError)) throw caught;
      setError(caught);
    } finally {
      setBusy(false);
    }
  };
  return (
    <DestinationFrame section="plan" title={`Plan of ${type}/${name}`}>
      <HeldNotice />
      <Loaded query={plan}>
        {({ data }) => {
          const rows = rowsOf(data, removeOrphans);
          const changing = rows.filter(({ willChange }) => willChange);
          const shown = confirming ? changing : rows;
          return (
            <Stack gap="md">
              <Group justify="space-between" gap="sm">
                <Text fw={600} role="status">
                  {data.in_sync} in sync · {data.total} differ
                </Text>
                {!confirming && (
                  <Group gap="sm">
                    {data.orphans.length > 0 && (
                      <Checkbox
                        size="sm"
                        label={`remove ${data.orphans.length} ${data.orphans.length === 1 ? 'orphan' : 'orphans'}`}
                        checked={removeOrphans}
                        onChange={({ currentTarget }) => setRemoveOrphans(currentTarget.checked)}
                      />
                    )}
                    <Button size="xs" variant="default" loading={plan.isFetching && !busy} onClick={() => void plan.refetch()}>
                      Look again
                    </Button>
                    {changing.length > 0 && (
                      <ActionButton needs={{ path: `${place}/reconcile`, need: ['update', 'create'] }} onClick={() => setConfirming(true)}>
                        {`Reconcile ${changing.length}`}
                      </ActionButton>
                    )}
                  </Group>
                )}
              </Group>
              {done && (
                <Alert role="status" color="green" variant="light">
                  {done}
                </Alert>
              )}
              {error && <ServerError error={error} />}
              {confirming && (
                <Alert color="yellow" variant="light" title={`These ${changing.length} are changed outside`}>
                  <Group gap="xs">
                    <Button ref={confirmButton} size="xs" color="red" loading={busy} onClick={() => void reconcile()}>
                      {`Change these ${changing.length}`}
                    </Button>
                    <Button size="xs" variant="default" onClick={() => setConfirming(false)}>
                      Cancel
                    </Button>
                  </Group>
                </Alert>
              )}
              {shown.length === 0 ? (
                <Empty>Nothing differs: every copy outside is what it should be.</Empty>
              ) : (
                <PlanLines rows={shown} type={type} name={name} />
              )}
              {data.total > rows.length && (
                <Text size="sm" c="dimmed">
                  {data.total - rows.length} more differ and are not listed.
                </Text>
              )}
            </Stack>
          );
        }}
      </Loaded>
      <CommandLines
        lines={[
          { with: 'CLI', command: `strongroom read ${place}/plan\nstrongroom write ${place}/reconcile remove_orphans=false` },
          { with: 'curl', command: `curl -H "X-Vault-Token: $STRONGROOM_TOKEN" $STRONGROOM_ADDR/v1/${path}` },
        ]}
      />
    </DestinationFrame>
  );
}
