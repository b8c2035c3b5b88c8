import { Button, Checkbox, Stack, Text } from '@mantine/core';
import { useEffect, useState } from 'react';
import { SecretValue } from '../../parts/secret-value.tsx';
import type { NewKeys } from './new-keys.ts';
import classes from './new-keys-list.module.css';

interface NewKeysListProps {
  readonly keys: NewKeys;
  readonly done: () => void;
  readonly label?: string;
}

/** New shares and a root token, each hidden until somebody asks. They stay until one says that they are stored: nobody can read them again. */
export function NewKeysList({ keys, done, label = 'Go on' }: NewKeysListProps) {
  const [stored, setStored] = useState(false);
  useEffect(() => {
    const ask = (event: BeforeUnloadEvent): void => event.preventDefault();
    window.addEventListener('beforeunload', ask);
    return () => window.removeEventListener('beforeunload', ask);
  }, []);
  const rows = [
    ...keys.shares.map((value, at) => ({ label: `${keys.kind} ${at + 1}`, value, to: keys.fingerprints?.[at] })),
    ...(keys.rootToken === undefined ? [] : [{ label: 'Root token', value: keys.rootToken, to: undefined }]),
  ];
  return (
    <Stack>
      <Text size="sm">{adviceOn(keys)}</Text>
      <dl className={classes.list}>
        {rows.map((row) => (
          <div key={row.label}>
            <dt>
              {row.label}
              {row.to && (
                <>
                  , to <code>{row.to}</code>
                </>
              )}
            </dt>
            <dd>
              <SecretValue label={row.label.toLowerCase()} value={row.value} />
            </dd>
          </div>
        ))}
      </dl>
      <Checkbox label={storedLabel(keys)} checked={stored} onChange={({ currentTarget }) => setStored(currentTarget.checked)} />
      <Button disabled={!stored} onClick={done}>
        {label}
      </Button>
    </Stack>
  );
}

function adviceOn({ shares, threshold, encrypted }: NewKeys): string {
  if (shares.length === 0 && encrypted?.rootToken) return 'Only the holder of the PGP key can read this token. It is shown this once.';
  if (shares.length === 0) return 'Nobody can read this token again. Revoke it when the work is done.';
  const kept = encrypted?.shares
    ? 'Each is encrypted to the PGP key of its keyholder, who decrypts it with gpg --decrypt. They are shown this once.'
    : 'Nobody can read them again.';
  if (shares.length === 1)
    return encrypted?.shares ? `Give this share to its keyholder. ${kept}` : 'Store this share now: nobody can read it again.';
  return `Give each share to another person: ${threshold} of ${shares.length} are needed together. ${kept}`;
}

function storedLabel({ shares, rootToken }: NewKeys): string {
  if (shares.length === 0) return 'The token is stored, or used up';
  return rootToken === undefined ? 'The shares are stored in safe places' : 'The shares and the root token are stored in safe places';
}
