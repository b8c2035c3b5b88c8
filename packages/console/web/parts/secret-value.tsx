import { ActionIcon, Code, Group, Text } from '@mantine/core';
import { IconEye, IconEyeOff } from '@tabler/icons-react';
import { useEffect, useState } from 'react';
import { useConsoleSettings } from '../api/console-settings.ts';
import { token } from '../api/token.ts';
import { CopyButton } from './copy-button.tsx';

interface SecretValueProps {
  /** Names the value to those who cannot see it: `password`. */
  readonly label: string;
  /** The value, or what fetches it; not drawn before somebody asks. */
  readonly value: string | (() => string | Promise<string>);
}

/** Dots that do not tell the length; *show* draws the value for as long as the operator configured and until the session is covered, *copy* does not draw it at all. */
export function SecretValue({ label, value }: SecretValueProps) {
  const { show_seconds: seconds } = useConsoleSettings();
  const [shown, setShown] = useState<string>();
  useEffect(() => {
    if (shown === undefined) return undefined;
    const hide = (): void => setShown(undefined);
    const timer = setTimeout(hide, seconds * 1000);
    const hideInBackground = (): void => void (document.hidden && hide());
    document.addEventListener('visibilitychange', hideInBackground);
    const deaf = token.subscribe((held) => held === undefined && hide());
    return () => {
      deaf();
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', hideInBackground);
    };
  }, [shown, seconds]);
  const toggle = async (): Promise<void> => setShown(shown === undefined ? (typeof value === 'string' ? value : await value()) : undefined);
  return (
    <Group gap={6} wrap="nowrap">
      {shown === undefined ? (
        <Text span ff="monospace" aria-label={`${label}, hidden`} role="img">
          ••••••••
        </Text>
      ) : (
        <Code block={shown.includes('\n')}>{shown}</Code>
      )}
      <ActionIcon
        variant="subtle"
        color="gray"
        size="sm"
        aria-label={shown === undefined ? `Show ${label}` : `Hide ${label}`}
        onClick={() => void toggle()}
      >
        {shown === undefined ? <IconEye size={15} /> : <IconEyeOff size={15} />}
      </ActionIcon>
      <CopyButton icon secret value={value} label={`Copy ${label}`} />
    </Group>
  );
}
