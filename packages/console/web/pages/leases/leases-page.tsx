import { Stack, Text } from '@mantine/core';
import { CommandLines } from '../../parts/command-lines.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { useGo, usePlace } from '../../parts/place.ts';
import { useNow } from '../../parts/use-now.ts';
import { shellWord } from '../../parts/shell-word.ts';
import { FailingLeases } from './failing-leases.tsx';
import { leasePath } from './lease-rows.ts';
import { accessorColumn, endsColumn, issuedColumn, LeaseTable } from './lease-table.tsx';
import { LeaseTree } from './lease-tree.tsx';
import { RevokePrefix } from './revoke-prefix.tsx';
import { Timeline } from './timeline.tsx';
import { axisLabel, spanOf, windowOf } from './timeline-spans.ts';
import { useHistogram } from './use-histogram.ts';
import { useLeaseRows } from './use-lease-rows.ts';

/** What was issued and when it ends: by path, on a timeline, and as a list; and the end of everything below a path. */
export default function LeasesPage() {
  const { search } = usePlace();
  const go = useGo();
  const prefix = (search.prefix ?? '').replace(/^\/+|\/+$/g, '');
  const span = spanOf(search.span);
  const now = useNow(15_000);
  const window = windowOf(span, now);
  const chosen = search.at === undefined ? undefined : Date.parse(search.at);
  const at = chosen !== undefined && chosen >= window.from && chosen < window.to ? chosen : undefined;
  const shown = at === undefined ? window : { from: at, to: at + span.bar };
  const histogram = useHistogram(window.from, window.to, span.bars, prefix);
  const rows = useLeaseRows('expiring', {
    from: new Date(shown.from).toISOString(),
    to: new Date(shown.to).toISOString(),
    prefix: prefix === '' ? undefined : prefix,
  });
  const show = (next: { span?: string; at?: number | undefined }): void =>
    go(
      '/leases',
      {},
      {
        prefix: prefix === '' ? undefined : prefix,
        span: next.span ?? search.span,
        at: next.at === undefined ? undefined : new Date(next.at).toISOString(),
      },
      { replace: true },
    );
  const counting = histogram.soFar?.reduce((sum, { secrets, tokens }) => sum + secrets + tokens, 0);
  return (
    <Page title="Leases">
      <Stack gap={0}>
        <LeaseTree prefix={prefix} span={search.span} />
        {prefix !== '' && <RevokePrefix key={prefix} prefix={prefix} />}
        <FailingLeases key={`failing ${prefix}`} prefix={prefix} />
        <Loaded query={{ ...histogram, data: histogram.data ?? (histogram.soFar && { buckets: histogram.soFar, partial: true }) }}>
          {({ buckets, partial }) => (
            <Timeline
              span={span}
              buckets={buckets}
              chosen={at}
              note={
                counting !== undefined
                  ? `Counting: ${counting.toLocaleString('en')} so far.`
                  : partial
                    ? 'There are more than were counted: choose a shorter time, or a path.'
                    : undefined
              }
              onSpan={(key) => show({ span: key })}
              onChoose={(from) => show({ at: from })}
            />
          )}
        </Loaded>
        <LeaseTable
          label={at === undefined ? 'In this time' : `From ${axisLabel(shown.from, span)} to ${axisLabel(shown.to, span)} UTC`}
          query={rows}
          empty={<Empty>{prefix === '' ? 'No lease ends in this time.' : 'No lease below this path ends in this time.'}</Empty>}
          columns={[endsColumn, issuedColumn, { title: 'Renewable', cell: ({ renewable }) => (renewable ? 'yes' : 'no') }, accessorColumn]}
        />
        <Text size="xs" c="dimmed">
          Leases that end later are not listed here. A lease that is being revoked stands at the time of its next try.
        </Text>
        {prefix !== '' && <CommandLines lines={commandsFor(prefix)} />}
      </Stack>
    </Page>
  );
}

function commandsFor(prefix: string) {
  return [
    {
      with: 'CLI',
      command: `strongroom read sys/leases/totals ${shellWord(`prefix=${prefix}`)}\nstrongroom lease revoke -prefix ${shellWord(prefix)}`,
    },
    {
      with: 'curl',
      command: `curl -H "X-Vault-Token: $VAULT_TOKEN" -X PUT -d '{"sync": false}' "$VAULT_ADDR/v1/"${shellWord(leasePath('revoke-prefix', prefix))}`,
    },
  ];
}
