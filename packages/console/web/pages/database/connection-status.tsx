import { Group, Progress, Stack, Text, Title } from '@mantine/core';
import { apiPath } from '../../api/api-path.ts';
import { useRead } from '../../api/queries.ts';
import { Facts } from '../../parts/facts.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { StateChip, type Mood } from '../../parts/state-chip.tsx';
import { When } from '../../parts/when.tsx';

interface Status {
  readonly plugin_version: string;
  readonly state: 'ready' | 'left-alone' | 'out-of-use';
  readonly open: boolean;
  readonly pool: { readonly open: number; readonly idle: number; readonly waiting: number; readonly limit: number } | null;
  readonly queue: { readonly under_way: number; readonly waiting: number; readonly limit: number };
  readonly call_deadline: number;
  readonly circuit: {
    readonly state: 'closed' | 'open' | 'half-open';
    readonly failures: number;
    readonly threshold: number;
    readonly since: string | null;
    readonly next_try: string | null;
  };
  readonly quarantine: string | null;
  readonly last_error: { readonly message: string; readonly time: string } | null;
}

const STATES: Record<Status['state'], readonly [Mood, string]> = {
  ready: ['good', 'ready'],
  'left-alone': ['bad', 'circuit breaker open'],
  'out-of-use': ['bad', 'out of use'],
};

/** How a connection is doing in the server that answers, read again every two seconds. */
export function ConnectionStatus({ mount, name }: { readonly mount: string; readonly name: string }) {
  const status = useRead<Status>(apiPath(mount, 'config', name, 'status'), { every: 2_000 });
  return (
    <Loaded query={status}>
      {({ data: { state, open, pool, queue, circuit, quarantine, last_error, plugin_version, call_deadline } }) => (
        <section aria-label="How the connection is doing">
          <Stack gap="sm">
            <Group gap="xs">
              <Title order={2} size="h4">
                Now
              </Title>
              <StateChip mood={STATES[state][0]}>{STATES[state][1]}</StateChip>
            </Group>
            <Meter label="Sessions" used={pool?.open ?? 0} limit={pool?.limit ?? 0}>
              {pool
                ? `${pool.open} of ${pool.limit} open, ${pool.idle} idle${pool.waiting > 0 ? `, ${pool.waiting} wait for one` : ''}`
                : open
                  ? 'open'
                  : 'none: opened at the first use'}
            </Meter>
            <Meter label="Calls" used={queue.under_way + queue.waiting} limit={queue.limit}>
              {`${queue.under_way} under way, ${queue.waiting} wait; ${queue.limit} at most`}
            </Meter>
            <Facts
              facts={[
                {
                  label: 'Circuit breaker',
                  value: (
                    <>
                      {circuit.state}
                      {circuit.failures > 0 && `, ${circuit.failures} failures in a row`}
                      {circuit.threshold > 0 ? ` (opens at ${circuit.threshold})` : ' (never opens)'}
                      {circuit.next_try !== null && (
                        <>
                          , next try <When time={circuit.next_try} />
                        </>
                      )}
                    </>
                  ),
                },
                quarantine !== null && { label: 'Out of use because', value: quarantine },
                last_error !== null && {
                  label: 'Last error',
                  value: (
                    <>
                      {last_error.message} (<When time={last_error.time} />)
                    </>
                  ),
                },
                { label: 'Deadline of a call', value: `${call_deadline} s` },
                { label: 'Plugin version', value: plugin_version },
              ]}
            />
          </Stack>
        </section>
      )}
    </Loaded>
  );
}

interface MeterProps {
  readonly label: string;
  readonly used: number;
  readonly limit: number;
  readonly children: string;
}

function Meter({ label, used, limit, children }: MeterProps) {
  return (
    <div>
      <Group justify="space-between" gap="xs">
        <Text size="sm">{label}</Text>
        <Text size="sm" c="dimmed">
          {children}
        </Text>
      </Group>
      <Progress
        value={limit === 0 ? 0 : Math.min(100, (100 * used) / limit)}
        aria-label={label}
        color={used >= limit && limit > 0 ? 'red' : 'blue'}
      />
    </div>
  );
}
