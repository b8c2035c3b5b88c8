import { Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { makeStale, useRead } from '../../api/queries.ts';
import { send } from '../../api/send.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { NewKeysList } from '../unseal/new-keys-list.tsx';
import type { NewKeys } from '../unseal/new-keys.ts';
import type { SealStatus } from '../unseal/seal-status.ts';
import { ShareForm } from '../unseal/share-form.tsx';
import { Fingerprints } from './fingerprints.tsx';
import { OrderShares } from './order-shares.tsx';
import { stepRight, type Rekeyed, type RekeyKind, type RekeyStatus } from './rekey.ts';
import { VerifyShares } from './verify-shares.tsx';

interface NewSharesProps {
  readonly kind: RekeyKind;
  readonly present: SealStatus;
}

/** Replaces the shares: several people give their present one, and the browser of the last one shows the new ones, once. */
export function NewShares({ kind, present }: NewSharesProps) {
  const base = `sys/rotate/${kind}`;
  const status = useRead<RekeyStatus>(`${base}/init`, { every: 3_000 });
  const client = useQueryClient();
  const [keys, setKeys] = useState<NewKeys>();
  const refresh = async (): Promise<void> => makeStale(client, [base, 'sys/seal-status']);
  if (keys) return <NewKeysList keys={keys} done={() => setKeys(undefined)} label="Done" />;
  const came = async (made: Rekeyed, threshold: number): Promise<void> => {
    if (made.keys_base64) {
      const fingerprints = made.pgp_fingerprints ?? [];
      setKeys({
        kind: kind === 'root' ? 'Unseal share' : 'Recovery share',
        shares: made.keys_base64,
        threshold,
        fingerprints,
        encrypted: { shares: fingerprints.length > 0, rootToken: false },
      });
    }
    await refresh();
  };
  return (
    <Loaded query={status}>
      {({ data }) => {
        if (!data.started) return <OrderShares base={base} present={present} first={data.required === 0} came={came} />;
        const cancel = async (): Promise<void> => {
          await send('DELETE', `${base}/init`);
          await refresh();
        };
        if (data.verification_nonce) return <VerifyShares base={base} nonce={data.verification_nonce} refresh={refresh} cancel={cancel} />;
        return (
          <Stack>
            <Text size="sm">
              {`${data.n} new shares, ${data.t} of them needed${data.verification_required ? ', verified before they count' : ''}. Keyholders give their present shares.`}
            </Text>
            {data.pgp_fingerprints && <Fingerprints list={data.pgp_fingerprints} backup={data.backup === true} />}
            <ShareForm
              given={data.progress ?? 0}
              needed={data.required}
              nonce={data.nonce ?? ''}
              label="Present share"
              needs={{ give: stepRight(base, 'update', 'update'), startOver: stepRight(base, 'init', 'delete') }}
              give={async (key) => {
                const answer = await send<Rekeyed>('POST', `${base}/update`, { body: { key, nonce: data.nonce } });
                await came(answer.data, data.t);
              }}
              startOver={cancel}
              startOverLabel="Cancel"
            />
          </Stack>
        );
      }}
    </Loaded>
  );
}
