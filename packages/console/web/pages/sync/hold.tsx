import { Alert, Group, Text } from '@mantine/core';
import { makeStale, queryClient, useRead } from '../../api/queries.ts';
import { send } from '../../api/send.ts';
import { ConfirmAction } from '../../parts/confirm-action.tsx';

const CONFIG = 'sys/sync/config';

const NEEDS = { path: CONFIG, need: 'update' } as const;

function useHeld(): boolean | undefined {
  return useRead<{ disabled: boolean }>(CONFIG, { every: 10_000 }).data?.data.disabled;
}

async function set(disabled: boolean): Promise<void> {
  await send('POST', CONFIG, { body: { disabled } });
  await makeStale(queryClient, ['sys/sync']);
}

/** Stops all copying. */
export function HoldButton() {
  if (useHeld() !== false) return null;
  return (
    <ConfirmAction label="Hold everything" needs={NEEDS} act={async () => set(true)}>
      Nothing is written to any destination until somebody lets it go on. Copies outside stay as they are; changes wait.
    </ConfirmAction>
  );
}

/** While everything is held, every page of sync says so, and lets it go on. */
export function HeldNotice() {
  if (useHeld() !== true) return null;
  return (
    <Alert color="yellow" variant="light" title="Everything is held" mb="md">
      <Group justify="space-between" gap="sm">
        <Text size="sm">Nothing is written outside. What changes waits.</Text>
        <ConfirmAction label="Go on" color="blue" needs={NEEDS} act={async () => set(false)}>
          Everything that waits is written outside.
        </ConfirmAction>
      </Group>
    </Alert>
  );
}
