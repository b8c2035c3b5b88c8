import { Button, Group, Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { makeStale, useRead } from '../../api/queries.ts';
import { send } from '../../api/send.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { ServerError } from '../../parts/server-error.tsx';
import { useAttempt } from '../../parts/use-attempt.ts';
import { NewKeysList } from '../unseal/new-keys-list.tsx';
import { ShareForm } from '../unseal/share-form.tsx';
import { decodeToken } from './decode-token.ts';

interface Attempt {
  readonly started: boolean;
  readonly progress: number;
  readonly required: number;
  readonly nonce: string;
}

interface Given extends Attempt {
  readonly complete: boolean;
  readonly encoded_token: string;
}

const ATTEMPT = 'sys/generate-root-token/attempt';

/** A new root token for those who lost theirs: whoever begins gets it, decoded in this browser, when enough shares are given. */
export function RootToken() {
  const status = useRead<Attempt>(ATTEMPT, { every: 3_000 });
  const client = useQueryClient();
  const { busy, error, attempt } = useAttempt();
  /** Of the attempt that was begun here: the password of its answer never leaves the browser. */
  const [begun, setBegun] = useState<{ readonly nonce: string; readonly otp: string }>();
  const [made, setMade] = useState<string>();
  const refresh = async (): Promise<void> => makeStale(client, ['sys/generate-root-token']);
  if (made !== undefined) {
    return <NewKeysList keys={{ kind: 'Share', shares: [], threshold: 0, rootToken: made }} done={() => setMade(undefined)} label="Done" />;
  }
  const start = (): void =>
    void attempt(async () => {
      const { data } = await send<{ nonce: string; otp: string }>('POST', ATTEMPT, { body: {} });
      setBegun({ nonce: data.nonce, otp: data.otp });
      await refresh();
    });
  return (
    <Loaded query={status}>
      {({ data }) => {
        const nonce = begun?.nonce ?? data.nonce;
        if (!data.started) {
          return (
            <Stack>
              <Text size="sm" c="dimmed">
                Keyholders give their shares, and a root token is shown to whoever began. Revoke it when the work is done.
              </Text>
              {error && <ServerError error={error} />}
              <Group>
                <Button size="xs" variant="light" loading={busy} onClick={start}>
                  Begin
                </Button>
              </Group>
            </Stack>
          );
        }
        const cancel = async (): Promise<void> => {
          await send('DELETE', ATTEMPT, begun ? { query: { nonce: begun.nonce } } : {});
          setBegun(undefined);
          await refresh();
        };
        if (nonce === '') return <Text size="sm">Somebody else has begun. The nonce is theirs to hand out.</Text>;
        return (
          <Stack>
            <Text size="sm">
              {begun ? 'The token is shown here when enough shares are given.' : 'Somebody began this elsewhere: the token is shown there.'}
            </Text>
            <ShareForm
              given={data.progress}
              needed={data.required}
              nonce={nonce}
              give={async (key) => {
                const { data: given } = await send<Given>('POST', 'sys/generate-root-token/update', { body: { key, nonce } });
                if (given.complete && begun) setMade(decodeToken(given.encoded_token, begun.otp));
                if (given.complete) setBegun(undefined);
                await refresh();
              }}
              startOver={cancel}
              startOverLabel="Cancel"
            />
          </Stack>
        );
      }}
    </Loaded>
  );
}
