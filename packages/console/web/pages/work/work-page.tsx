import { Button, SegmentedControl, Select, Text } from '@mantine/core';
import { useState } from 'react';
import { ApiError } from '../../api/api-error.ts';
import { useRead } from '../../api/queries.ts';
import type { Job } from '../../api/work.ts';
import { DataTable } from '../../parts/data-table.tsx';
import { Due } from '../../parts/due.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Page } from '../../parts/page.tsx';
import { useGo, usePlace } from '../../parts/place.ts';
import { ResetCircuit } from '../../parts/reset-circuit.tsx';
import { ServerError } from '../../parts/server-error.tsx';
import { StateChip } from '../../parts/state-chip.tsx';
import { To } from '../../parts/to.tsx';
import { TryNow } from '../../parts/try-now.tsx';
import { byNeed, changeRow, circuitRow, jobRow, type Change, type ShownCircuit, type WorkRow } from './work-rows.ts';
import classes from './work.module.css';

const PAGE = 200;
const SHOWN = { all: 'Everything', jobs: 'Jobs', changes: 'Outside changes', circuits: 'Circuit breakers' } as const;
type Shown = keyof typeof SHOWN;

/** What the server will do later, what it could not finish outside, and which outside systems it leaves alone for now: one table. */
export default function WorkPage() {
  const { search } = usePlace();
  const go = useGo();
  const [limit, setLimit] = useState(PAGE);
  const [error, setError] = useState<ApiError>();
  const [done, setDone] = useState<string>();
  const show: Shown = search.show !== undefined && Object.hasOwn(SHOWN, search.show) ? (search.show as Shown) : 'all';
  const failing = search.failing === 'true';
  const mount = search.mount ?? '';
  const filter = (next: Readonly<Record<string, string | undefined>>): void =>
    go(
      '/work',
      {},
      { show: show === 'all' ? undefined : show, failing: failing ? 'true' : undefined, mount: mount || undefined, ...next },
      { replace: true },
    );
  const query = { limit, failing: failing || undefined, mount: mount || undefined };
  const every = 10_000;
  const wants = (one: Shown): boolean => show === 'all' || show === one;
  const jobs = useRead<{ jobs: Job[] }>('sys/schedule', { query, every, enabled: wants('jobs') });
  const changes = useRead<{ intents: Change[] }>('sys/journal', { query, every, enabled: wants('changes') });
  const circuits = useRead<{ circuits: ShownCircuit[] }>('sys/circuits', {
    query: { mount: query.mount },
    every,
    enabled: wants('circuits'),
  });
  const rows = [
    ...(wants('jobs') ? (jobs.data?.data.jobs ?? []).map(jobRow) : []),
    ...(wants('changes') ? (changes.data?.data.intents ?? []).map(changeRow) : []),
    ...(wants('circuits') ? (circuits.data?.data.circuits ?? []).map(circuitRow) : []),
  ]
    .filter((row) => !failing || row.failing)
    .sort(byNeed);
  const read = [jobs, changes, circuits].filter(({ isEnabled }) => isEnabled);
  const waiting = read.some(({ isPending }) => isPending);
  const more = (jobs.data?.data.jobs.length ?? 0) >= limit || (changes.data?.data.intents.length ?? 0) >= limit;
  const ended = (what: string) => (failure: ApiError | undefined) => {
    setError(failure);
    setDone(failure ? undefined : what);
  };
  return (
    <Page title="Work">
      <div className={classes.filters}>
        <SegmentedControl
          size="xs"
          aria-label="Which work"
          data={[
            { value: 'all', label: 'All' },
            { value: 'failing', label: 'Failing' },
          ]}
          value={failing ? 'failing' : 'all'}
          onChange={(value) => filter({ failing: value === 'failing' ? 'true' : undefined })}
        />
        <Select
          size="xs"
          label="Kind"
          allowDeselect={false}
          data={Object.entries(SHOWN).map(([value, label]) => ({ value, label }))}
          value={show}
          onChange={(value) => filter({ show: value === 'all' || value === null ? undefined : value })}
        />
        <Select
          size="xs"
          label="Mount"
          placeholder="All mounts"
          clearable
          searchable
          data={[...new Set([...rows.map((row) => row.mount), ...(mount === '' ? [] : [mount])])].sort()}
          value={mount || null}
          onChange={(value) => filter({ mount: value ?? undefined })}
        />
      </div>
      {read.map(
        (one) => one.error instanceof ApiError && <ServerError key={one.error.path} error={one.error} again={() => void one.refetch()} />,
      )}
      {error && <ServerError error={error} />}
      {done && (
        <Text role="status" size="sm" mb="xs">
          {done}
        </Text>
      )}
      <DataTable<WorkRow>
        label="Jobs, outside changes and circuit breakers"
        labelHidden
        rows={rows}
        id={({ key }) => key}
        empty={
          waiting ? undefined : (
            <Empty>{failing ? 'Nothing fails here.' : 'Nothing is due, nothing is unfinished, and every outside system answers.'}</Empty>
          )
        }
        columns={[
          { title: 'What', main: true, cell: ({ page, what }) => (page ? <To {...page}>{what}</To> : what) },
          { title: 'Mount', cell: (row) => row.mount },
          { title: 'State', cell: ({ mood, state }) => <StateChip mood={mood}>{state}</StateChip> },
          { title: 'Failed tries', end: true, cell: ({ tries }) => tries },
          { title: 'Next', cell: ({ next }) => (next === null ? '' : <Due time={next} />) },
          { title: 'What was said', cell: ({ message }) => <span className={classes.sentence}>{message}</span> },
          {
            title: 'Actions',
            end: true,
            cell: (row) => (
              <div className={classes.actions}>
                <TryNow variant="default" retry={row.retry} job={row.job} ended={ended(`${row.what}: it ran.`)} />
                {row.target !== undefined && (
                  <ResetCircuit mount={row.mount} target={row.target} ended={ended('The circuit breaker is closed.')} />
                )}
              </div>
            ),
          },
        ]}
      />
      {more && (
        <Button variant="default" size="xs" onClick={() => setLimit(limit + PAGE)}>
          Show more
        </Button>
      )}
    </Page>
  );
}
