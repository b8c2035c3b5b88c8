import { Text } from '@mantine/core';
import { useState } from 'react';
import { ApiError } from '../../api/api-error.ts';
import { send } from '../../api/send.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { ConfirmAction } from '../../parts/confirm-action.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import { ServerError } from '../../parts/server-error.tsx';
import { useAttempt } from '../../parts/use-attempt.ts';
import classes from './fingerprints.module.css';
import { stepRight, type RekeyKind } from './rekey.ts';
import { Section } from './section.tsx';

interface Backup {
  readonly nonce: string;
  readonly keys_base64: Readonly<Record<string, readonly string[]>>;
}

/** The encrypted shares that the last rekey with a backup left in the store, fetched when somebody asks. `null`: there is none. */
export function ShareBackup({ kind }: { readonly kind: RekeyKind }) {
  const base = `sys/rotate/${kind}`;
  const [backup, setBackup] = useState<Backup | null>();
  const { busy, error, attempt } = useAttempt();
  const fetchIt = async (): Promise<void> => {
    try {
      setBackup((await send<Backup>('GET', `${base}/backup`)).data);
    } catch (caught) {
      if (!(caught instanceof ApiError) || caught.status !== 400) throw caught;
      setBackup(null);
    }
  };
  const rows = Object.entries(backup?.keys_base64 ?? {}).flatMap(([fingerprint, shares]) =>
    shares.map((share) => ({ fingerprint, share })),
  );
  return (
    <Section
      title="Backup of encrypted shares"
      actions={
        <>
          <ActionButton variant="light" loading={busy} needs={stepRight(base, 'backup', 'read')} onClick={() => void attempt(fetchIt)}>
            Look for a backup
          </ActionButton>
          {backup && (
            <ConfirmAction
              label="Delete the backup"
              needs={stepRight(base, 'backup', 'delete')}
              act={async () => {
                await send('DELETE', `${base}/backup`);
                setBackup(null);
              }}
            >
              <Text size="sm">Do so when everybody has their share: nobody can make these again.</Text>
            </ConfirmAction>
          )}
        </>
      }
    >
      <Text size="sm" c="dimmed" mb="sm">
        New shares that were encrypted to PGP keys can stay in the store until everybody has theirs.
      </Text>
      {error && <ServerError error={error} />}
      {backup === null && (
        <Text size="sm" role="status">
          There is none.
        </Text>
      )}
      {backup && (
        <DataTable
          label="Encrypted shares"
          rows={rows}
          id={({ fingerprint, share }) => fingerprint + share}
          columns={[
            { title: 'PGP key', main: true, cell: ({ fingerprint }) => <code className={classes.key}>{fingerprint}</code> },
            {
              title: 'Share',
              end: true,
              cell: ({ fingerprint, share }) => <CopyButton icon value={share} label={`Copy the share of ${fingerprint}`} />,
            },
          ]}
        />
      )}
    </Section>
  );
}
