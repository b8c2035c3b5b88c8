import { Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { send } from '../../api/send.ts';
import { CommandLines } from '../../parts/command-lines.tsx';
import { ConfirmAction } from '../../parts/confirm-action.tsx';
import { Facts } from '../../parts/facts.tsx';
import { StateChip } from '../../parts/state-chip.tsx';
import { useSealStatus } from '../unseal/seal-status.ts';
import { EncryptionKey } from './encryption-key.tsx';
import { NewShares } from './new-shares.tsx';
import { RootToken } from './root-token.tsx';
import { Section } from './section.tsx';
import { ServerFrame } from './server-frame.tsx';

/** The seal, the key that encrypts, the shares that unseal, and a new root token. */
export default function SealPage() {
  const status = useSealStatus();
  const client = useQueryClient();
  const seal = async (): Promise<void> => {
    await send('POST', 'sys/seal');
    await client.invalidateQueries({ queryKey: ['sys/seal-status'] });
  };
  return (
    <ServerFrame
      title="Seal and keys"
      place="/server/seal"
      beside={status && <StateChip mood={status.sealed ? 'bad' : 'good'}>{status.sealed ? 'sealed' : 'unsealed'}</StateChip>}
      actions={
        <ConfirmAction label="Seal the server" needs={{ path: 'sys/seal', need: 'update', sudo: true }} typed="seal" act={seal}>
          <Text size="sm">
            The server forgets its keys at once and refuses every request.{' '}
            {status?.recovery_seal
              ? 'It opens by itself when it starts again.'
              : `To open it again, ${status?.t ?? 'several'} keyholders must give their shares.`}
          </Text>
        </ConfirmAction>
      }
    >
      {status && (
        <Facts
          facts={[
            { label: 'Seal', value: status.recovery_seal ? `${status.type}, opens by itself` : 'shares of keyholders' },
            { label: status.recovery_seal ? 'Recovery shares' : 'Unseal shares', value: `${status.t} of ${status.n} needed` },
            { label: 'Cluster', value: status.cluster_name },
            { label: 'Storage', value: status.storage_type },
            { label: 'Version', value: status.version },
          ]}
        />
      )}
      <EncryptionKey />
      {status && (
        <Section title={status.recovery_seal ? 'New recovery shares' : 'New unseal shares'}>
          <NewShares kind={status.recovery_seal ? 'recovery' : 'root'} present={status} />
        </Section>
      )}
      <Section title="New root token">
        <RootToken />
      </Section>
      <CommandLines
        lines={[
          { with: 'CLI', command: 'strongroom status\nstrongroom operator seal\nstrongroom operator unseal' },
          { with: 'curl', command: 'curl -X POST -H "X-Vault-Token: $STRONGROOM_TOKEN" $STRONGROOM_ADDR/v1/sys/seal' },
        ]}
      />
    </ServerFrame>
  );
}
