import { Button, Group, Progress, Stack, Text } from '@mantine/core';
import { useEffect, useState } from 'react';
import { makeStale, queryClient, useAct } from '../../api/queries.ts';
import { ConfirmAction } from '../../parts/confirm-action.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { LEASE_READS, leasePath } from './lease-rows.ts';
import classes from './revoke-prefix.module.css';
import { useTotals, type Totals } from './use-totals.ts';

/** How many leases are below a prefix, and their end: asked, under way with what is left, and done with what is left over. */
export function RevokePrefix({ prefix }: { readonly prefix: string }) {
  const [began, setBegan] = useState<number>();
  const totals = useTotals(prefix, began === undefined ? 30_000 : 1_000);
  const revoke = useAct({ method: 'PUT', path: leasePath('revoke-prefix', prefix), stale: LEASE_READS });
  const left = totals.data?.leases;
  // What else the page shows of these leases changes with their number.
  useEffect(() => {
    if (began !== undefined) void makeStale(queryClient, ['sys/leases/histogram', 'sys/leases/expiring', 'sys/leases/failing']);
  }, [began, left]);
  return (
    <Loaded query={totals}>
      {(count) => (
        <section className={classes.box} aria-label={`Leases below ${prefix}`}>
          {began === undefined ? (
            <Group justify="space-between" gap="sm">
              <Text>
                <strong>{numberOf(count)}</strong>
                {count.leases === 1 ? ' lease below this path' : ' leases below this path'}
                {count.failing > 0 && `, ${count.failing} of them cannot be revoked at the moment`}
              </Text>
              {count.leases > 0 && (
                <ConfirmAction
                  label={`Revoke all ${numberOf(count)}`}
                  typed={prefix}
                  needs={{ path: `sys/leases/revoke-prefix/${prefix}`, need: 'update', sudo: true }}
                  act={async () => {
                    await revoke.mutateAsync({ sync: false });
                    setBegan(count.leases);
                  }}
                >
                  Every credential that was issued below <strong>{prefix}</strong> ends now: {numberOf(count)}. What uses one of them must
                  get a new one. Tokens end with everything that was issued to them. This cannot be taken back.
                </ConfirmAction>
              )}
            </Group>
          ) : (
            <Revoking began={Math.max(began, count.leases)} count={count} onClose={() => setBegan(undefined)} />
          )}
        </section>
      )}
    </Loaded>
  );
}

function Revoking({ began, count, onClose }: { readonly began: number; readonly count: Totals; readonly onClose: () => void }) {
  const gone = began - count.leases;
  const done = count.leases <= count.failing;
  return (
    <Stack gap="xs">
      <Progress
        value={began === 0 ? 100 : (100 * gone) / began}
        size="lg"
        aria-label="Revoked"
        color={count.failing > 0 ? 'yellow' : 'green'}
      />
      <Text role="status">
        {done
          ? count.leases === 0
            ? `Done: all ${began.toLocaleString('en')} are revoked.`
            : `${gone.toLocaleString('en')} of ${began.toLocaleString('en')} are revoked. ${count.leases.toLocaleString('en')} not yet: listed below with the reason, and tried again.`
          : `${gone.toLocaleString('en')} of ${began.toLocaleString('en')} are revoked, ${(count.leases - count.failing).toLocaleString('en')} to go${count.failing > 0 ? `, ${count.failing} failed` : ''}.`}
      </Text>
      <Group>
        <Button size="xs" variant="default" onClick={onClose}>
          {done ? 'Close' : 'Do not watch'}
        </Button>
      </Group>
    </Stack>
  );
}

function numberOf({ leases, more }: Totals): string {
  return more ? `more than ${leases.toLocaleString('en')}` : leases.toLocaleString('en');
}
