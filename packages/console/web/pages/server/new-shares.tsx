import { Button, Checkbox, Group, NumberInput, Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { makeStale, useRead } from '../../api/queries.ts';
import { send } from '../../api/send.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { ServerError } from '../../parts/server-error.tsx';
import { useAttempt } from '../../parts/use-attempt.ts';
import { NewKeysList } from '../unseal/new-keys-list.tsx';
import type { NewKeys } from '../unseal/new-keys.ts';
import type { SealStatus } from '../unseal/seal-status.ts';
import { ShareForm } from '../unseal/share-form.tsx';

interface RekeyStatus {
  readonly started: boolean;
  /** Of the new shares. */
  readonly t: number;
  readonly n: number;
  /** How many of the present shares are needed. */
  readonly required: number;
  readonly nonce?: string;
  readonly progress?: number;
  readonly verification_required?: boolean;
  /** Empty until the new shares are made. */
  readonly verification_nonce?: string;
}

interface Rekeyed extends RekeyStatus {
  readonly complete?: boolean;
  readonly keys_base64?: readonly string[];
}

interface NewSharesProps {
  readonly kind: 'root' | 'recovery';
  readonly present: SealStatus;
}

/** Replaces the shares: several people give their present one, and the browser of the last one shows the new ones, once. */
export function NewShares({ kind, present }: NewSharesProps) {
  const base = `sys/rotate/${kind}`;
  const status = useRead<RekeyStatus>(`${base}/init`, { every: 3_000 });
  const client = useQueryClient();
  const [keys, setKeys] = useState<NewKeys>();
  const refresh = async (): Promise<void> => makeStale(client, [base, 'sys/seal-status']);
  if (keys) return <NewKeysList keys={keys} done={() => setKeys(undefined)} label="Done" />;
  return (
    <Loaded query={status}>
      {({ data }) => {
        if (!data.started) return <Start base={base} present={present} refresh={refresh} />;
        const cancel = async (): Promise<void> => {
          await send('DELETE', `${base}/init`);
          await refresh();
        };
        if (data.verification_nonce) {
          return <Verify base={base} nonce={data.verification_nonce} refresh={refresh} cancel={cancel} />;
        }
        const give = async (key: string): Promise<void> => {
          const answer = await send<Rekeyed>('POST', `${base}/update`, { body: { key, nonce: data.nonce } });
          const made = answer.data;
          if (made.keys_base64) {
            setKeys({ kind: kind === 'root' ? 'Unseal share' : 'Recovery share', shares: made.keys_base64, threshold: data.t });
          }
          await refresh();
        };
        return (
          <Stack>
            <Text size="sm">
              {`${data.n} new shares, ${data.t} of them needed${data.verification_required ? ', verified before they count' : ''}. Keyholders give their present shares.`}
            </Text>
            <ShareForm
              given={data.progress ?? 0}
              needed={data.required}
              nonce={data.nonce ?? ''}
              label="Present share"
              give={give}
              startOver={cancel}
              startOverLabel="Cancel"
            />
          </Stack>
        );
      }}
    </Loaded>
  );
}

function Start({ base, present, refresh }: { readonly base: string; readonly present: SealStatus; readonly refresh: () => Promise<void> }) {
  const [shares, setShares] = useState<number | string>(present.n);
  const [threshold, setThreshold] = useState<number | string>(present.t);
  const [verified, setVerified] = useState(true);
  const { busy, error, attempt } = useAttempt();
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    void attempt(async () => {
      await send('POST', `${base}/init`, { body: { secret_shares: shares, secret_threshold: threshold, require_verification: verified } });
      await refresh();
    });
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        <Text size="sm" c="dimmed">
          When a keyholder leaves, or the number of them changes. The present shares are needed to begin and are worthless afterwards.
        </Text>
        <Group align="flex-start">
          <NumberInput label="Shares" min={1} max={255} allowDecimal={false} value={shares} onChange={setShares} w={120} />
          <NumberInput label="Needed" min={1} max={255} allowDecimal={false} value={threshold} onChange={setThreshold} w={120} />
        </Group>
        <Checkbox
          label="Verify the new shares before they count"
          description="Keyholders type them once more, so that none was noted down wrongly."
          checked={verified}
          onChange={({ currentTarget }) => setVerified(currentTarget.checked)}
        />
        {error && <ServerError error={error} />}
        <Group>
          <ActionButton type="submit" variant="light" loading={busy} needs={{ path: `${base}/init`, need: ['sudo', 'update'] }}>
            Make new shares
          </ActionButton>
        </Group>
      </Stack>
    </form>
  );
}

interface VerifyProps {
  readonly base: string;
  readonly nonce: string;
  readonly refresh: () => Promise<void>;
  readonly cancel: () => Promise<void>;
}

function Verify({ base, nonce, refresh, cancel }: VerifyProps) {
  const status = useRead<{ readonly t: number; readonly progress: number }>(`${base}/verify`, { every: 3_000 });
  return (
    <Loaded query={status}>
      {({ data }) => (
        <Stack>
          <Text size="sm">The new shares are made and do not count yet. Keyholders type them once more.</Text>
          <ShareForm
            given={data.progress}
            needed={data.t}
            nonce={nonce}
            label="New share"
            give={async (key) => {
              await send('POST', `${base}/verify`, { body: { key, nonce } });
              await refresh();
            }}
          />
          <Group>
            <Button variant="subtle" size="xs" onClick={() => void cancel()}>
              Give up the new shares
            </Button>
          </Group>
        </Stack>
      )}
    </Loaded>
  );
}
