import { Button, Group, NumberInput, Stack, Text } from '@mantine/core';
import { useState, type FormEvent } from 'react';
import { send } from '../../api/send.ts';
import { ServerError } from '../../parts/server-error.tsx';
import { useAttempt } from '../../parts/use-attempt.ts';
import type { NewKeys } from './new-keys.ts';
import type { SealStatus } from './seal-status.ts';

interface InitFormProps {
  readonly status: SealStatus;
  readonly done: (keys: NewKeys) => void;
}

/** Makes the keys of a new store. */
export function InitForm({ status, done }: InitFormProps) {
  const [shares, setShares] = useState<number | string>(5);
  const [threshold, setThreshold] = useState<number | string>(3);
  const { busy, error, attempt } = useAttempt();
  const kind = status.recovery_seal ? 'recovery' : 'secret';
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    void attempt(async () => {
      const { body } = await send('POST', 'sys/init', {
        body: { [`${kind}_shares`]: shares, [`${kind}_threshold`]: threshold },
        token: null,
      });
      const made = body as { keys_base64: string[]; recovery_keys_base64?: string[]; root_token: string };
      done({
        kind: status.recovery_seal ? 'Recovery share' : 'Unseal share',
        shares: made.recovery_keys_base64 ?? made.keys_base64,
        threshold: Number(threshold),
        rootToken: made.root_token,
      });
    });
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        <Text size="sm" c="dimmed">
          {status.recovery_seal
            ? `The seal “${status.type}” opens this server by itself. Its recovery key is split into shares, for people who need a root token again.`
            : 'The key that opens this server is split into shares, one for each keyholder. Some of them together open it after every start.'}
        </Text>
        <Group grow align="flex-start">
          <NumberInput
            label="Shares"
            description="How many keyholders"
            min={1}
            max={255}
            allowDecimal={false}
            value={shares}
            onChange={setShares}
            autoFocus
          />
          <NumberInput
            label="Needed"
            description="How many of them together"
            min={1}
            max={255}
            allowDecimal={false}
            value={threshold}
            onChange={setThreshold}
          />
        </Group>
        <Text size="sm" c="dimmed">
          The shares are shown in this browser, once. The command line encrypts them to PGP keys: strongroom operator init -pgp-keys.
        </Text>
        {error && <ServerError error={error} />}
        <Button type="submit" loading={busy} disabled={shares === '' || threshold === ''}>
          Initialise
        </Button>
      </Stack>
    </form>
  );
}
