import { Alert, Group, Text } from '@mantine/core';
import { makeStale, queryClient, useRead } from '../../api/queries.ts';
import { send } from '../../api/send.ts';
import { ConfirmAction } from '../../parts/confirm-action.tsx';

const CONFIG = 'sys/sync/config';

/** Stops all copying, and lets it go on; while it is held, that is said on every page of sync. */
export function Hold({ quiet = false }: { readonly quiet?: boolean }) {
  const config = useRead<{ disabled: boolean }>(CONFIG, { every: 10_000 });
  const held = config.data?.data.disabled === true;
  const set = async (disabled: boolean): Promise<void> => {
    await send('PATCH', CONFIG, { body: { disabled } });
    await makeStale(queryClient, ['sys/sync']);
  };
  const needs = { path: CONFIG, need: ['patch', 'update'] } as const;
  if (held) {
    return (
      <Alert color="yellow" variant="light" title="Everything is held" mb="md">
        <Group justify="space-between" gap="sm">
          <Text size="sm">Nothing is written outside. What changes waits.</Text>
          <ConfirmAction label="Go on" color="blue" needs={needs} act={async () => set(false)}>
            Everything that waits is written outside.
          </ConfirmAction>
        </Group>
      </Alert>
    );
  }
  if (quiet || !config.data) return null;
  return (
    <ConfirmAction label="Hold everything" needs={needs} act={async () => set(true)}>
      Nothing is written to any destination until somebody lets it go on. Copies outside stay as they are; changes wait.
    </ConfirmAction>
  );
}
