import { Code, Group, NumberInput, Stack } from '@mantine/core';
import { useState } from 'react';
import { useAct, useRead } from '../../api/queries.ts';
import { ActionButton } from '../../parts/action-button.tsx';
import { CommandLines } from '../../parts/command-lines.tsx';
import { ConfirmAction } from '../../parts/confirm-action.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Facts } from '../../parts/facts.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { useGo, usePlace } from '../../parts/place.ts';
import { ServerError } from '../../parts/server-error.tsx';
import { shellWord } from '../../parts/shell-word.ts';
import { To } from '../../parts/to.tsx';
import { When } from '../../parts/when.tsx';
import { LEASE_READS, leasePath, type LeaseRow } from './lease-rows.ts';
import { LeaseState } from './lease-table.tsx';

interface Found {
  readonly id: string;
  readonly path: string;
  readonly issue_time: string;
  readonly expire_time: string;
  readonly last_renewal: string | null;
  readonly renewable: boolean;
  readonly revoke_error?: string;
  readonly revoke_attempts?: number;
}

/** One lease: what it is, and everything that can be done with it. The credential itself is not kept. */
export default function LeasePage() {
  const { params } = usePlace();
  const id = `${params.first ?? ''}/${params.rest ?? ''}`;
  const go = useGo();
  const lookup = useRead<Found>('sys/leases/lookup', { method: 'POST', body: { lease_id: id } });
  // More is known to those who may read it: whom it was issued to, and how its revocation stands.
  const row = useRead<{ leases: LeaseRow[] }>('sys/leases/expiring', {
    query: { prefix: id, from: '1970-01-01T00:00:00Z', to: '5000-01-01T00:00:00Z' },
  });
  const more = row.data?.data.leases[0];
  const path = lookup.data?.data.path ?? id.slice(0, id.lastIndexOf('/'));
  const leave = (): void => go('/leases', {}, { prefix: path });
  return (
    <Page
      title={id}
      crumbs={[
        <To key="all" to="/leases">
          Leases
        </To>,
        <To key="path" to="/leases" search={{ prefix: path }}>
          {path}
        </To>,
      ]}
      beside={more && <LeaseState state={more.state} />}
    >
      <Loaded query={lookup}>
        {({ data }) => (
          <Stack>
            <Facts
              facts={[
                { label: 'Path', value: data.path },
                { label: 'Ends', value: <When time={data.expire_time} /> },
                { label: 'Issued', value: <When time={data.issue_time} /> },
                { label: 'Last renewal', value: <When time={data.last_renewal} /> },
                { label: 'Renewable', value: data.renewable ? 'yes' : 'no' },
                more?.accessor
                  ? {
                      label: 'Issued to the token',
                      value: (
                        <Group gap={6}>
                          <Code>{more.accessor}</Code>
                          <CopyButton icon value={more.accessor} label="Copy the accessor" />
                        </Group>
                      ),
                    }
                  : undefined,
                data.revoke_error !== undefined && { label: 'Cannot be revoked', value: data.revoke_error },
                data.revoke_attempts !== undefined && { label: 'Attempts', value: data.revoke_attempts },
                more?.next_attempt ? { label: 'Next attempt', value: <When time={more.next_attempt} /> } : undefined,
              ]}
            />
            <LeaseActions id={id} renewable={data.renewable} revoking={more !== undefined && more.state !== 'live'} onGone={leave} />
            <CommandLines
              lines={[
                {
                  with: 'CLI',
                  command: ['lookup', 'renew', 'revoke'].map((verb) => `strongroom lease ${verb} ${shellWord(id)}`).join('\n'),
                },
                {
                  with: 'curl',
                  command: `curl -H "X-Vault-Token: $VAULT_TOKEN" -X PUT -d ${shellWord(JSON.stringify({ lease_id: id }))} "$VAULT_ADDR/v1/sys/leases/revoke"`,
                },
              ]}
            />
          </Stack>
        )}
      </Loaded>
    </Page>
  );
}

interface LeaseActionsProps {
  readonly id: string;
  readonly renewable: boolean;
  readonly revoking: boolean;
  readonly onGone: () => void;
}

function LeaseActions({ id, renewable, revoking, onGone }: LeaseActionsProps) {
  const [minutes, setMinutes] = useState<number | string>('');
  const renew = useAct({ method: 'PUT', path: 'sys/leases/renew', stale: LEASE_READS });
  const revoke = useAct({ method: 'PUT', path: 'sys/leases/revoke', stale: LEASE_READS });
  const requeue = useAct({ method: 'POST', path: 'sys/leases/requeue', stale: LEASE_READS });
  const drop = useAct({ method: 'PUT', path: leasePath('revoke-force', id), stale: LEASE_READS });
  const failed = renew.error ?? requeue.error;
  return (
    <Stack gap="sm">
      <Group align="flex-end" gap="xs">
        {renewable && !revoking && (
          <>
            <NumberInput
              size="xs"
              label="Minutes from now"
              placeholder="as its engine gives"
              min={1}
              value={minutes}
              onChange={setMinutes}
              allowDecimal={false}
            />
            <ActionButton
              needs={{ path: 'sys/leases/renew', need: 'update' }}
              loading={renew.isPending}
              onClick={() => renew.mutate({ lease_id: id, ...(minutes === '' ? {} : { increment: Number(minutes) * 60 }) })}
            >
              Renew
            </ActionButton>
          </>
        )}
        {revoking ? (
          <ActionButton
            needs={{ path: 'sys/leases/requeue', need: 'update', sudo: true }}
            loading={requeue.isPending}
            onClick={() => requeue.mutate({ lease_id: id })}
          >
            Try to revoke it now
          </ActionButton>
        ) : (
          <ConfirmAction
            label="Revoke"
            needs={{ path: 'sys/leases/revoke', need: 'update' }}
            act={async () => {
              await revoke.mutateAsync({ lease_id: id, sync: true });
              onGone();
            }}
          >
            The credential ends now, and what uses it with it.
          </ConfirmAction>
        )}
        <ConfirmAction
          label="Drop by force"
          needs={{ path: `sys/leases/revoke-force/${id}`, need: 'update', sudo: true }}
          act={async () => {
            await drop.mutateAsync(undefined);
            onGone();
          }}
        >
          Tries once more to revoke it, and forgets the lease in any case: the credential may go on working outside.
        </ConfirmAction>
      </Group>
      {renew.data?.warnings.map((warning) => (
        <p key={warning}>{warning}</p>
      ))}
      {failed && <ServerError error={failed} />}
    </Stack>
  );
}
