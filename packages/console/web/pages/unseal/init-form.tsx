import { Button, Checkbox, Group, NumberInput, Stack, Text } from '@mantine/core';
import { useState, type FormEvent } from 'react';
import { send } from '../../api/send.ts';
import { ServerError } from '../../parts/server-error.tsx';
import { useAttempt } from '../../parts/use-attempt.ts';
import type { NewKeys } from './new-keys.ts';
import { keysFor, PgpKeyField, PgpKeyFields } from './pgp-key-fields.tsx';
import type { SealStatus } from './seal-status.ts';

interface InitFormProps {
  readonly status: SealStatus;
  readonly done: (keys: NewKeys) => void;
}

/** Makes the keys of a new store. */
export function InitForm({ status, done }: InitFormProps) {
  const automatic = status.recovery_seal;
  const [shares, setShares] = useState<number | string>(5);
  const [threshold, setThreshold] = useState<number | string>(3);
  const [encrypts, setEncrypts] = useState(false);
  const [holders, setHolders] = useState<readonly string[]>([]);
  const [tokenKey, setTokenKey] = useState('');
  const { busy, error, attempt } = useAttempt();
  const kind = automatic ? 'recovery' : 'secret';
  const none = automatic && shares === 0;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    void attempt(async () => {
      const { body } = await send('POST', 'sys/init', {
        body: {
          [`${kind}_shares`]: shares,
          [`${kind}_threshold`]: none ? 0 : threshold,
          ...(encrypts && !none ? { [automatic ? 'recovery_pgp_keys' : 'pgp_keys']: keysFor(Number(shares), holders) } : {}),
          ...(encrypts && tokenKey.trim() !== '' ? { root_token_pgp_key: tokenKey } : {}),
        },
        token: null,
      });
      const made = body as { keys_base64: string[]; recovery_keys_base64?: string[]; root_token: string };
      done({
        kind: automatic ? 'Recovery share' : 'Unseal share',
        shares: made.recovery_keys_base64 ?? made.keys_base64,
        threshold: Number(threshold),
        rootToken: made.root_token,
        encrypted: { shares: encrypts, rootToken: encrypts && tokenKey.trim() !== '' },
      });
    });
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        <Text size="sm" c="dimmed">
          {automatic
            ? `The seal “${status.type}” opens this server by itself. Its recovery key is split into shares. Together they open a server that was sealed by hand, make root tokens, and migrate the seal.`
            : 'The key that opens this server is split into shares, one for each keyholder. Some of them together open it after every start.'}
        </Text>
        <Group grow align="flex-start">
          <NumberInput
            label="Shares"
            description={automatic ? 'How many keyholders; 0 for none yet' : 'How many keyholders'}
            min={automatic ? 0 : 1}
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
            disabled={none}
          />
        </Group>
        {none && (
          <Text size="sm">
            Without recovery shares, a server that was sealed by hand opens by a restart alone, and cannot be migrated. A root token can
            make the first ones later.
          </Text>
        )}
        <Checkbox
          label="Encrypt to PGP keys"
          description="Each keyholder alone can read their share: not this browser, and not whoever uses it. The server needs the package @strongroom/pgp."
          checked={encrypts}
          onChange={({ currentTarget }) => setEncrypts(currentTarget.checked)}
        />
        {encrypts && (
          <>
            <PgpKeyFields count={Number(shares)} keys={holders} change={setHolders} />
            <PgpKeyField label="PGP key for the root token (optional)" value={tokenKey} change={setTokenKey} />
          </>
        )}
        {!encrypts && (
          <Text size="sm" c="dimmed">
            What is made is shown in this browser, once.
          </Text>
        )}
        {error && <ServerError error={error} />}
        <Button type="submit" loading={busy} disabled={shares === '' || (threshold === '' && !none)}>
          Initialize
        </Button>
      </Stack>
    </form>
  );
}
