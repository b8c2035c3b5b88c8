import { Group, PasswordInput, Progress, Stack, Text } from '@mantine/core';
import { useState, type FormEvent, type ReactNode } from 'react';
import type { Right } from '../../api/rights.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { ServerError } from '../../parts/server-error.tsx';
import { useAttempt } from '../../parts/use-attempt.ts';
import classes from './share-form.module.css';

interface ShareFormProps {
  /** How many shares the server has, and how many it needs. */
  readonly given: number;
  readonly needed: number;
  /** The same for all who give a share; '' before the first one. */
  readonly nonce: string;
  readonly label?: string;
  /** Stands between the field and the button. */
  readonly children?: ReactNode;
  /** What a token must be allowed; none where everybody may. */
  readonly needs?: { readonly give: Right; readonly startOver: Right };
  /** No share is taken yet. */
  readonly waits?: boolean;
  readonly give: (share: string) => Promise<unknown>;
  /** Drops the shares given so far. */
  readonly startOver?: (() => Promise<unknown>) | undefined;
  readonly startOverLabel?: string;
}

/** Takes one share of a key, and shows how far several people together are. A share is sent and forgotten. */
export function ShareForm({
  given,
  needed,
  nonce,
  label = 'Key share',
  children,
  needs,
  waits = false,
  give,
  startOver,
  startOverLabel = 'Start over',
}: ShareFormProps) {
  const [share, setShare] = useState('');
  const { busy, error, attempt } = useAttempt();
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    void attempt(async () => {
      const value = share.trim();
      setShare('');
      await give(value);
    });
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        <div role="status">
          <Text size="sm" mb={6}>
            {`${given} of ${needed} shares given`}
          </Text>
          <Progress value={needed === 0 ? 0 : (given / needed) * 100} aria-label={`${given} of ${needed} shares given`} />
        </div>
        {nonce !== '' && (
          <p className={classes.nonce}>
            Attempt <code>{nonce}</code>. Everybody who gives a share must see the same one.
          </p>
        )}
        <PasswordInput
          label={label}
          description="Hex or base64. It is sent to the server and not kept here."
          autoComplete="off"
          value={share}
          onChange={({ currentTarget }) => setShare(currentTarget.value)}
        />
        {children}
        {error && <ServerError error={error} />}
        <Group justify="space-between">
          <ActionButton size="sm" type="submit" needs={needs?.give} loading={busy} disabled={waits || share.trim() === ''}>
            Give the share
          </ActionButton>
          {startOver && (
            <ActionButton
              size="sm"
              variant="subtle"
              needs={needs?.startOver}
              disabled={busy}
              onClick={() => void attempt(async () => void (await startOver()))}
            >
              {startOverLabel}
            </ActionButton>
          )}
        </Group>
      </Stack>
    </form>
  );
}
