import { Checkbox, Group, NumberInput, Stack, Text } from '@mantine/core';
import { useState, type FormEvent } from 'react';
import { send } from '../../api/send.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { ServerError } from '../../parts/server-error.tsx';
import { useAttempt } from '../../parts/use-attempt.ts';
import { keysFor, PgpKeyFields } from '../unseal/pgp-key-fields.tsx';
import type { SealStatus } from '../unseal/seal-status.ts';
import { stepRight, type Rekeyed } from './rekey.ts';

interface OrderSharesProps {
  readonly base: string;
  readonly present: SealStatus;
  /** There are no shares yet: the answer has them at once. */
  readonly first: boolean;
  readonly came: (made: Rekeyed, threshold: number) => Promise<void>;
}

/** Says how many new shares there shall be, and whom they are encrypted to. */
export function OrderShares({ base, present, first, came }: OrderSharesProps) {
  const [shares, setShares] = useState<number | string>(present.n || 5);
  const [threshold, setThreshold] = useState<number | string>(present.t || 3);
  const [verified, setVerified] = useState(true);
  const [encrypts, setEncrypts] = useState(false);
  const [backup, setBackup] = useState(true);
  const [holders, setHolders] = useState<readonly string[]>([]);
  const { busy, error, attempt } = useAttempt();
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    void attempt(async () => {
      const answer = await send<Rekeyed>('POST', `${base}/init`, {
        body: {
          secret_shares: shares,
          secret_threshold: threshold,
          require_verification: verified && !first,
          ...(encrypts ? { pgp_keys: keysFor(Number(shares), holders), backup } : {}),
        },
      });
      await came(answer.data, Number(threshold));
    });
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        <Text size="sm" c="dimmed">
          {first
            ? 'There are none yet: the initialization postponed them. A token is enough for the first ones.'
            : 'When a keyholder leaves, or the number of them changes. The present shares are needed to begin and are worthless afterwards.'}
        </Text>
        <Group align="flex-start">
          <NumberInput label="Shares" min={1} max={255} allowDecimal={false} value={shares} onChange={setShares} w={120} />
          <NumberInput label="Needed" min={1} max={255} allowDecimal={false} value={threshold} onChange={setThreshold} w={120} />
        </Group>
        {!first && (
          <Checkbox
            label="Verify the new shares before they count"
            description="Keyholders type them once more, so that none was noted down wrongly."
            checked={verified}
            onChange={({ currentTarget }) => setVerified(currentTarget.checked)}
          />
        )}
        <Checkbox
          label="Encrypt to PGP keys"
          description="Each keyholder alone can read their share."
          checked={encrypts}
          onChange={({ currentTarget }) => setEncrypts(currentTarget.checked)}
        />
        {encrypts && (
          <>
            <PgpKeyFields count={Number(shares)} keys={holders} change={setHolders} />
            <Checkbox
              label="Keep a copy of the encrypted shares in the store"
              description="In case this page is lost before everybody has their share."
              checked={backup}
              onChange={({ currentTarget }) => setBackup(currentTarget.checked)}
            />
          </>
        )}
        {error && <ServerError error={error} />}
        <Group>
          <ActionButton
            type="submit"
            variant="light"
            loading={busy}
            disabled={shares === '' || threshold === ''}
            needs={stepRight(base, 'init', 'update')}
          >
            Make new shares
          </ActionButton>
        </Group>
      </Stack>
    </form>
  );
}
