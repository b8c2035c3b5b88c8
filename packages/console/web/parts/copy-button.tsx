import { ActionIcon, Button } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconCopy } from '@tabler/icons-react';

const NOTICE = 'copied';

interface CopyButtonProps {
  /** The text, or what makes it when it is asked for. */
  readonly value: string | (() => string | Promise<string>);
  readonly label: string;
  /** An icon alone, with the label as its name. */
  readonly icon?: boolean;
  /** The clipboard will keep a secret: says so. */
  readonly secret?: boolean;
}

/** Copies without drawing. Browsers allow it over HTTPS and from this machine alone; elsewhere the button says so. */
export function CopyButton({ value, label, icon = false, secret = false }: CopyButtonProps) {
  const allowed = window.isSecureContext;
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(typeof value === 'string' ? value : await value());
    // One notice at a time: the newest says what the clipboard holds.
    notifications.hide(NOTICE);
    notifications.show({ id: NOTICE, message: secret ? 'Copied. The clipboard keeps it until something else is copied.' : 'Copied.' });
  };
  const why = allowed ? undefined : 'Copying needs HTTPS.';
  if (icon) {
    return (
      <ActionIcon
        variant="subtle"
        color="gray"
        size="sm"
        aria-label={why ? `${label} (${why})` : label}
        title={why ?? label}
        disabled={!allowed}
        onClick={() => void copy()}
      >
        <IconCopy size={15} />
      </ActionIcon>
    );
  }
  return (
    <Button size="xs" variant="default" disabled={!allowed} title={why} onClick={() => void copy()}>
      {label}
    </Button>
  );
}
