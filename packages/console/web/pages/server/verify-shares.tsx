import { Group, Stack, Text } from '@mantine/core';
import { useRead } from '../../api/queries.ts';
import { send } from '../../api/send.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { ServerError } from '../../parts/server-error.tsx';
import { useAttempt } from '../../parts/use-attempt.ts';
import { ShareForm } from '../unseal/share-form.tsx';
import { stepRight } from './rekey.ts';

interface VerifySharesProps {
  readonly base: string;
  readonly nonce: string;
  readonly refresh: () => Promise<void>;
  readonly cancel: () => Promise<void>;
}

/** Takes the new shares once, before they count. */
export function VerifyShares({ base, nonce, refresh, cancel }: VerifySharesProps) {
  const status = useRead<{ readonly t: number; readonly progress: number }>(`${base}/verify`, { every: 3_000 });
  const { busy, error, attempt } = useAttempt();
  return (
    <Loaded query={status}>
      {({ data }) => (
        <Stack>
          <Text size="sm">The new shares are made and do not count yet. Keyholders type them once more, decrypted.</Text>
          <ShareForm
            given={data.progress}
            needed={data.t}
            nonce={nonce}
            label="New share"
            needs={{ give: stepRight(base, 'verify', 'update'), startOver: stepRight(base, 'verify', 'delete') }}
            give={async (key) => {
              await send('POST', `${base}/verify`, { body: { key, nonce } });
              await refresh();
            }}
            startOver={
              data.progress > 0
                ? async () => {
                    await send('DELETE', `${base}/verify`);
                    await refresh();
                  }
                : undefined
            }
          />
          {error && <ServerError error={error} />}
          <Group>
            <ActionButton variant="subtle" loading={busy} needs={stepRight(base, 'init', 'delete')} onClick={() => void attempt(cancel)}>
              Give up the new shares
            </ActionButton>
          </Group>
        </Stack>
      )}
    </Loaded>
  );
}
