import { Alert, Checkbox, Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { send } from '../../api/send.ts';
import { ShareForm } from './share-form.tsx';
import type { SealStatus } from './seal-status.ts';

/** How the server ends its sentence about a seal that it asks again. */
const TRIES = /tries again$/;

/** What opens a sealed server: shares, recovery shares, a migration, or its seal when that answers again. */
export function UnsealForm({ status }: { readonly status: SealStatus }) {
  if (status.migration) return <Migration status={status} />;
  if (!status.recovery_seal) {
    return (
      <Stack>
        <Text size="sm" c="dimmed">
          {`${status.t} of ${status.n} shares open the server. Keyholders can paste theirs here one after the other, or each at their own browser.`}
        </Text>
        <Shares status={status} label="Key share" />
      </Stack>
    );
  }
  if (status.warnings?.some((text) => TRIES.test(text))) return <Waiting status={status} warnings={status.warnings} />;
  return (
    <Stack>
      <Text size="sm">
        {`The seal “${status.type}” opens this server when it starts, which takes a moment. A server that was sealed by hand stays sealed until it is restarted`}
        {status.n === 0 ? ': it has no recovery shares yet.' : `, or until ${status.t} of ${status.n} recovery shares are given.`}
      </Text>
      {status.n > 0 && <Shares status={status} label="Recovery share" />}
    </Stack>
  );
}

/** The seal cannot be reached, or refuses: shares do not help, and the server tries again by itself. */
function Waiting({ status, warnings }: { readonly status: SealStatus; readonly warnings: readonly string[] }) {
  return (
    <Stack>
      <Text size="sm">{`The seal “${status.type}” opens this server by itself. This page goes on as soon as it has.`}</Text>
      {warnings.map((text) => (
        <Alert key={text} color="yellow" variant="light" title="The seal does not answer yet">
          {text}
        </Alert>
      ))}
      <Text size="sm" c="dimmed">
        The server tries again by itself, at most a minute later. Its log says what the service answered. Recovery shares cannot open it:
        they prove who the keyholders are, and decrypt nothing.
      </Text>
    </Stack>
  );
}

/** Moves the store to the seal of the configuration. */
function Migration({ status }: { readonly status: SealStatus }) {
  const [migrates, setMigrates] = useState(false);
  const target = status.type === 'shamir' ? 'to shares of keyholders' : `to the seal “${status.type}”`;
  // Shares lead from shares to a seal, recovery shares from a seal; which of both the store has is not told.
  const label = status.recovery_seal ? 'Unseal or recovery share' : 'Recovery share';
  return (
    <Stack>
      <Text size="sm">
        {`The configuration moves this store ${target}. ${status.t} of ${status.n} present shares migrate it and open the server. The shares stay good: ${
          status.recovery_seal ? 'they are its recovery shares from then on' : 'they unseal it from then on'
        }.`}
      </Text>
      <Text size="sm" c="dimmed">
        Stop all other servers of this store first. The former seal must answer until the migration is done.
      </Text>
      <Shares status={status} label={label} migrates={migrates}>
        <Checkbox
          label={`Migrate the store ${target}`}
          checked={migrates}
          onChange={({ currentTarget }) => setMigrates(currentTarget.checked)}
        />
      </Shares>
    </Stack>
  );
}

interface SharesProps {
  readonly status: SealStatus;
  readonly label: string;
  /** Undefined where nothing is migrated. */
  readonly migrates?: boolean;
  readonly children?: ReactNode;
}

function Shares({ status, label, migrates, children }: SharesProps) {
  const client = useQueryClient();
  const post = async (body: Record<string, unknown>): Promise<void> => {
    const answer = await send('POST', 'sys/unseal', { body, token: null });
    client.setQueryData(['sys/seal-status'], answer.body);
  };
  return (
    <ShareForm
      given={status.progress}
      needed={status.t}
      nonce={status.nonce}
      label={label}
      waits={migrates === false}
      give={async (key) => post({ key, ...(migrates ? { migrate: true } : {}) })}
      startOver={status.progress > 0 ? async () => post({ reset: true }) : undefined}
    >
      {children}
    </ShareForm>
  );
}
