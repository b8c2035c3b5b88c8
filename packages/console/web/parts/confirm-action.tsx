import { Button, Group, Stack, Text, TextInput, type ButtonProps } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import type { ApiError } from '../api/api-error.ts';
import type { Right } from '../api/rights.ts';
import { ActionButton } from './action-button.tsx';
import { Dialog } from './dialog.tsx';
import { ServerError } from './server-error.tsx';

interface ConfirmActionProps extends ButtonProps {
  /** The button's text, and the dialogue's: `Disable db/`. */
  readonly label: string;
  readonly needs?: Right | undefined;
  /** What will be lost, in numbers where there are some. */
  readonly children: ReactNode;
  /** Must be typed before it happens; without it one click confirms. */
  readonly typed?: string;
  readonly act: () => Promise<unknown>;
}

/** An action that cannot be taken back: says what will be lost, and asks for the name where that is much. */
export function ConfirmAction({ label, needs, children, typed, act, ...rest }: ConfirmActionProps) {
  const [opened, setOpened] = useState(false);
  const [text, setText] = useState('');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError>();
  const close = (): void => {
    setOpened(false);
    setText('');
    setError(undefined);
  };
  const confirm = async (): Promise<void> => {
    setBusy(true);
    setError(undefined);
    try {
      await act();
      close();
    } catch (caught) {
      setError(caught as ApiError);
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <ActionButton variant="light" color="red" {...rest} needs={needs} onClick={() => setOpened(true)}>
        {label}
      </ActionButton>
      <Dialog title={label} opened={opened} onClose={close}>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            void confirm();
          }}
        >
          <Stack>
            <Text component="div" size="sm">
              {children}
            </Text>
            {typed !== undefined && (
              <TextInput
                label={`Type “${typed}” to confirm`}
                autoComplete="off"
                data-autofocus
                value={text}
                onChange={({ currentTarget }) => setText(currentTarget.value)}
              />
            )}
            {error && <ServerError error={error} />}
            <Group justify="flex-end">
              <Button variant="default" onClick={close}>
                Cancel
              </Button>
              <Button type="submit" color="red" loading={busy} disabled={typed !== undefined && text !== typed}>
                {label}
              </Button>
            </Group>
          </Stack>
        </form>
      </Dialog>
    </>
  );
}
