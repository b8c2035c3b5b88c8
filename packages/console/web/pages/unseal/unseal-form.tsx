import { Alert, Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { send } from '../../api/send.ts';
import { ShareForm } from './share-form.tsx';
import type { SealStatus } from './seal-status.ts';

/** Unseals: several people each give a share, at this browser or at their own. */
export function UnsealForm({ status }: { readonly status: SealStatus }) {
  const client = useQueryClient();
  const post = async (body: Record<string, unknown>): Promise<void> => {
    const answer = await send('POST', 'sys/unseal', { body, token: null });
    client.setQueryData(['sys/seal-status'], answer.body);
  };
  if (status.recovery_seal) {
    return (
      <Stack>
        <Text size="sm">{`The seal “${status.type}” opens by itself. This page goes on when it has.`}</Text>
        {status.warnings?.map((text) => (
          <Alert key={text} color="yellow" variant="light" title="It could not open yet">
            {text}
          </Alert>
        ))}
      </Stack>
    );
  }
  return (
    <Stack>
      <Text size="sm" c="dimmed">
        {`${status.t} of ${status.n} shares open the server. Keyholders can paste theirs here one after the other, or each at their own browser.`}
      </Text>
      <ShareForm
        given={status.progress}
        needed={status.t}
        nonce={status.nonce}
        give={async (key) => post({ key })}
        startOver={status.progress > 0 ? async () => post({ reset: true }) : undefined}
      />
    </Stack>
  );
}
