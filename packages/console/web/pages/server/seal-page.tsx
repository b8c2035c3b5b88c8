import { Alert, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { send } from '../../api/send.ts';
import { CommandLines } from '../../parts/command-lines.tsx';
import { ConfirmAction } from '../../parts/confirm-action.tsx';
import { Facts } from '../../parts/facts.tsx';
import { StateChip } from '../../parts/state-chip.tsx';
import { useSealStatus, type SealStatus } from '../unseal/seal-status.ts';
import { SealsList } from './seals-list.tsx';
import { ServerFrame } from './server-frame.tsx';

/** The seal: what opens the server, how each seal of the configuration is, and the button that closes it. */
export default function SealPage() {
  const status = useSealStatus();
  const client = useQueryClient();
  const seal = async (): Promise<void> => {
    await send('POST', 'sys/seal');
    await client.invalidateQueries({ queryKey: ['sys/seal-status'] });
  };
  return (
    <ServerFrame
      title="Seal"
      place="/server/seal"
      beside={status && <StateChip mood={status.sealed ? 'bad' : 'good'}>{status.sealed ? 'sealed' : 'unsealed'}</StateChip>}
      actions={
        <ConfirmAction label="Seal the server" needs={{ path: 'sys/seal', need: 'update', sudo: true }} typed="seal" act={seal}>
          <Text size="sm">The server forgets its keys at once and refuses every request. {status && openingOf(status)}</Text>
        </ConfirmAction>
      }
    >
      {status?.warnings?.map((text) => (
        <Alert key={text} color="yellow" variant="light" title="A seal fails" mb="md">
          {text}
        </Alert>
      ))}
      {status && (
        <Facts
          facts={[
            { label: 'Seal', value: status.recovery_seal ? `${status.type}, opens by itself` : 'shares of keyholders' },
            { label: status.recovery_seal ? 'Recovery shares' : 'Unseal shares', value: sharesOf(status) },
            { label: 'Cluster', value: status.cluster_name },
            { label: 'Storage', value: status.storage_type },
            { label: 'Version', value: status.version },
          ]}
        />
      )}
      <SealsList />
      <CommandLines
        lines={[
          { with: 'CLI', command: 'strongroom status\nstrongroom operator seal\nstrongroom operator unseal' },
          { with: 'curl', command: 'curl -X POST -H "X-Vault-Token: $STRONGROOM_TOKEN" $STRONGROOM_ADDR/v1/sys/seal' },
        ]}
      />
    </ServerFrame>
  );
}

function sharesOf({ n, t }: SealStatus): string {
  return n === 0 ? 'none yet' : `${t} of ${n} needed`;
}

function openingOf({ recovery_seal, n, t }: SealStatus): string {
  if (!recovery_seal) return `To open it again, ${t} keyholders must give their shares.`;
  return n === 0
    ? 'There are no recovery shares: only a restart opens it again.'
    : `${t} recovery shares open it again, and so does a restart.`;
}
