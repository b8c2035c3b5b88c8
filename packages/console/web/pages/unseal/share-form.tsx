import { Button, Group, PasswordInput, Progress, Stack, Text } from '@mantine/core';
import { useState, type FormEvent } from 'react';
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
  readonly give: (share: string) => Promise<unknown>;
  /** Drops the shares given so far. */
  readonly startOver?: (() => Promise<unknown>) | undefined;
  readonly startOverLabel?: string;
}

/** Takes one share of a key, and shows how far several people together are. A share is sent and forgotten. */
export function ShareForm({ given, needed, nonce, label = 'Key share', give, startOver, startOverLabel = 'Start over' }: ShareFormProps) {
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
        {error && <ServerError error={error} />}
        <Group justify="space-between">
          <Button type="submit" loading={busy} disabled={share.trim() === ''}>
            Give the share
          </Button>
          {startOver && (
            <Button variant="subtle" disabled={busy} onClick={() => void attempt(async () => void (await startOver()))}>
              {startOverLabel}
            </Button>
          )}
        </Group>
      </Stack>
    </form>
  );
}
