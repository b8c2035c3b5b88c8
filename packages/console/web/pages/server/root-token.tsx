import { Checkbox, Group, Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { makeStale, useRead } from '../../api/queries.ts';
import { send } from '../../api/send.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { ServerError } from '../../parts/server-error.tsx';
import { useAttempt } from '../../parts/use-attempt.ts';
import { NewKeysList } from '../unseal/new-keys-list.tsx';
import { PgpKeyField } from '../unseal/pgp-key-fields.tsx';
import { ShareForm } from '../unseal/share-form.tsx';
import { decodeToken } from './decode-token.ts';

interface Attempt {
  readonly started: boolean;
  readonly progress: number;
  readonly required: number;
  readonly nonce: string;
  /** Of the PGP key that the token will be encrypted to; empty with a one-time password. */
  readonly pgp_fingerprint?: string;
}

interface Given extends Attempt {
  readonly complete: boolean;
  readonly encoded_token: string;
}

interface Made {
  readonly token: string;
  readonly encrypted: boolean;
}

const ATTEMPT = 'sys/generate-root-token/attempt';

/** A new root token for those who lost theirs: whoever begins gets it, decoded in this browser, or encrypted to a PGP key, when enough shares are given. */
export function RootToken() {
  const status = useRead<Attempt>(ATTEMPT, { every: 3_000 });
  const client = useQueryClient();
  /** Of the attempt that was begun here: the password of its answer never leaves the browser. */
  const [begun, setBegun] = useState<{ readonly nonce: string; readonly otp: string }>();
  const [made, setMade] = useState<Made>();
  const refresh = async (): Promise<void> => makeStale(client, ['sys/generate-root-token']);
  if (made !== undefined) {
    const keys = {
      kind: 'Share',
      shares: [],
      threshold: 0,
      rootToken: made.token,
      encrypted: { shares: false, rootToken: made.encrypted },
    };
    return <NewKeysList keys={keys} done={() => setMade(undefined)} label="Done" />;
  }
  return (
    <Loaded query={status}>
      {({ data }) => {
        if (!data.started) {
          return (
            <BeginRootToken
              began={async (attempt) => {
                setBegun(attempt);
                await refresh();
              }}
            />
          );
        }
        const own = begun !== undefined && (data.nonce === '' || data.nonce === begun.nonce) ? begun : undefined;
        const nonce = own?.nonce ?? data.nonce;
        const cancel = async (): Promise<void> => {
          await send('DELETE', ATTEMPT, { query: { nonce } });
          setBegun(undefined);
          await refresh();
        };
        if (nonce === '') return <Text size="sm">Somebody else has begun. The nonce is theirs to hand out.</Text>;
        return (
          <Stack>
            <Text size="sm">
              {data.pgp_fingerprint
                ? `The token will be encrypted to the PGP key ${data.pgp_fingerprint}, and shown to whoever gives the last share.`
                : own
                  ? 'The token is shown here when enough shares are given.'
                  : 'Somebody began this elsewhere: the token is shown there.'}
            </Text>
            <ShareForm
              given={data.progress}
              needed={data.required}
              nonce={nonce}
              give={async (key) => {
                const { data: given } = await send<Given>('POST', 'sys/generate-root-token/update', { body: { key, nonce } });
                if (given.complete && data.pgp_fingerprint) setMade({ token: given.encoded_token, encrypted: true });
                else if (given.complete && own) setMade({ token: decodeToken(given.encoded_token, own.otp), encrypted: false });
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

function BeginRootToken({ began }: { readonly began: (attempt: { readonly nonce: string; readonly otp: string }) => Promise<void> }) {
  const [encrypts, setEncrypts] = useState(false);
  const [pgpKey, setPgpKey] = useState('');
  const { busy, error, attempt } = useAttempt();
  const start = (): void =>
    void attempt(async () => {
      const { data } = await send<{ nonce: string; otp: string }>('POST', ATTEMPT, { body: encrypts ? { pgp_key: pgpKey } : {} });
      await began({ nonce: data.nonce, otp: data.otp });
    });
  return (
    <Stack>
      <Text size="sm" c="dimmed">
        Keyholders give their shares, and a root token is shown to whoever began. Revoke it when the work is done.
      </Text>
      <Checkbox
        label="Encrypt the token to a PGP key"
        checked={encrypts}
        onChange={({ currentTarget }) => setEncrypts(currentTarget.checked)}
      />
      {encrypts && <PgpKeyField label="PGP key for the root token" value={pgpKey} change={setPgpKey} />}
      {error && <ServerError error={error} />}
      <Group>
        <ActionButton variant="light" loading={busy} disabled={encrypts && pgpKey.trim() === ''} onClick={start}>
          Begin
        </ActionButton>
      </Group>
    </Stack>
  );
}
