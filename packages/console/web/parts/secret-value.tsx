import { ActionIcon, Code, Group, Text } from '@mantine/core';
import { IconEye, IconEyeOff } from '@tabler/icons-react';
import { CopyButton } from './copy-button.tsx';
import { Picture } from './picture.tsx';
import { useShown } from './use-shown.ts';

interface SecretValueProps {
  /** Names the value to those who cannot see it: `password`. */
  readonly label: string;
  /** The value, or what fetches it; not drawn before somebody asks. */
  readonly value: string | (() => string | Promise<string>);
  /** The value is a PNG in base64, which is drawn as an image. */
  readonly picture?: boolean;
}

/** Dots that do not tell the length; *show* draws the value for as long as the operator configured and until the session is covered, *copy* does not draw it at all. */
export function SecretValue({ label, value, picture = false }: SecretValueProps) {
  const { shown, toggle } = useShown(value);
  return (
    <Group gap={6} wrap="nowrap">
      {shown === undefined ? (
        <Text span ff="monospace" aria-label={`${label}, hidden`} role="img">
          ••••••••
        </Text>
      ) : picture ? (
        <Picture label={label} png={shown} />
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
      {!picture && <CopyButton icon secret value={value} label={`Copy ${label}`} />}
    </Group>
  );
}
