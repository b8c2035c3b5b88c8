import type { Declarations, Sample } from './declarations.ts';
import type { MetricSources } from './metric-sources.ts';
import type { StorageTimings } from './storage-timings.ts';
import { STORAGE_OPERATIONS } from './storage-timings.ts';

const one = (value: number | undefined): Sample[] => [{ value }];

/** The server as a whole, its requests and its quotas. */
export function declareServer(to: Declarations, { sealed, seals, spans, work, quotas, timings }: MetricSources): void {
  to.gauge({ name: 'strongroom_unsealed', help: '1 while unsealed.', across: 'min' }, () => one(sealed() ? 0 : 1));
  to.gauge(
    {
      name: 'strongroom_seal_unreachable_seconds',
      help: 'For how long each enabled seal has failed its health checks; 0 while it works.',
      labels: ['seal'],
    },
    () => seals().map(({ name, seconds }) => ({ labels: { seal: name }, value: seconds })),
  );
  to.gauge({ name: 'strongroom_requests_under_way', help: 'Requests that are being answered.', across: 'sum' }, () =>
    one(work()?.requestsUnderWay),
  );
  to.summary({ name: 'strongroom_route_seconds', help: 'Time of requests, by mount and operation.', labels: ['mount', 'operation'] }, () =>
    (timings()?.routes ?? []).map(({ mount, operation, timing }) => ({ labels: { mount, operation }, timing })),
  );
  to.summary({ name: 'strongroom_login_seconds', help: 'Time of logins.' }, () => {
    const login = timings()?.of('login');
    return login ? [{ labels: {}, timing: login }] : [];
  });
  to.gauge({ name: 'strongroom_tokens', help: 'Service tokens; counted every ten minutes.' }, () => one(work()?.tokens));
  to.gauge({ name: 'strongroom_entities', help: 'Entities; counted every ten minutes.' }, () => one(work()?.entities));
  to.counter(
    { name: 'strongroom_trace_spans_total', help: 'Spans of traces, by what became of them: exported or dropped.', labels: ['result'] },
    () => {
      const counts = spans();
      return counts ? (['exported', 'dropped'] as const).map((result) => ({ labels: { result }, value: counts[result] })) : [];
    },
  );
  to.gauge({ name: 'strongroom_trace_spans_waiting', help: 'Spans that wait for the collector.' }, () => one(spans()?.waiting));
  const labels = ['name'];
  to.counter(
    { name: 'strongroom_quota_rate_limit_violations_total', help: 'Requests that a rate limit refused, by its name.', labels },
    () => (quotas()?.rateLimits ?? []).map(({ name, refused }) => ({ labels: { name }, value: refused })),
  );
  to.gauge({ name: 'strongroom_quota_lease_count', help: 'Leases that a cap counted last, by its name.', labels }, () =>
    (quotas()?.leaseCaps ?? []).map(({ name, leases }) => ({ labels: { name }, value: leases })),
  );
  to.gauge({ name: 'strongroom_quota_lease_count_limit', help: 'Leases that a cap allows, by its name.', labels }, () =>
    (quotas()?.leaseCaps ?? []).map(({ name, max }) => ({ labels: { name }, value: max })),
  );
}

/** How the storage does. */
export function declareStorage(to: Declarations, storage: StorageTimings, { room }: MetricSources): void {
  const commits = (['put', 'delete'] as const).map((operation) => storage.of(operation));
  const total = (value: (timing: (typeof commits)[number]) => number): number => commits.reduce((sum, timing) => sum + value(timing), 0);
  to.counter({ name: 'strongroom_storage_commits_total', help: 'Commits to the storage, each durable when answered.' }, () =>
    one(total(({ count }) => count) - storage.failures),
  );
  to.counter({ name: 'strongroom_storage_commit_failures_total', help: 'Commits that did not happen: conflicts and failures.' }, () =>
    one(storage.failures),
  );
  to.counter({ name: 'strongroom_storage_commit_seconds_total', help: 'Time spent waiting for commits.' }, () =>
    one(total(({ seconds }) => seconds)),
  );
  to.summary(
    {
      name: 'strongroom_storage_seconds',
      help: 'Time that the storage takes, by operation: get, list, put and delete. A commit that only deletes is a delete, any other a put.',
      labels: ['operation'],
    },
    () => STORAGE_OPERATIONS.map((operation) => ({ labels: { operation }, timing: storage.of(operation) })),
  );
  to.gauge({ name: 'strongroom_storage_used_bytes', help: 'Size of the store, where the storage is a folder or etcd.' }, () =>
    one(room()?.used ?? storage.capacity?.usedBytes),
  );
  to.gauge({ name: 'strongroom_storage_quota_bytes', help: 'How large the store may become, where the storage is etcd.' }, () =>
    one(storage.capacity?.limitBytes),
  );
  to.gauge({ name: 'strongroom_storage_alarms', help: 'Alarms that the store has raised, where the storage is etcd.' }, () =>
    one(storage.capacity?.alarms.length),
  );
  to.gauge(
    { name: 'strongroom_storage_free_bytes', help: 'Free space on the disk of the store, where the storage is a folder.', across: 'min' },
    () => one(room()?.free),
  );
  to.gauge(
    {
      name: 'strongroom_store_staleness_seconds',
      help: 'Since the changes of other servers were last read; above 10, requests are refused.',
    },
    () => one(storage.staleness),
  );
}

/** What the server has to do beside requests. */
export function declareWork(to: Declarations, { work }: MetricSources): void {
  const waiting = () => work()?.waiting;
  to.gauge({ name: 'strongroom_work_under_way', help: 'Entries of the schedule that are being carried out.', across: 'sum' }, () =>
    one(work()?.workUnderWay),
  );
  to.gauge({ name: 'strongroom_circuit_breakers_open', help: 'Outside systems that are not asked now, because they kept failing.' }, () =>
    one(work()?.circuitsOpen ?? 0),
  );
  to.gauge({ name: 'strongroom_due_backlog', help: 'Entries of the schedule whose time has come, at most 10,000.' }, () =>
    one(waiting()?.due.reduce((sum, { due }) => sum + due, 0)),
  );
  const byKind = (value: (of: { due: number; late: number; oldest: number }) => number) => (): Sample[] =>
    (waiting()?.due ?? []).map((of) => ({ labels: { kind: of.kind }, value: value(of) }));
  const labels = ['kind'];
  to.gauge(
    {
      name: 'strongroom_schedule_due',
      help: 'Work whose time has come, by kind: lease, token, tombstone, job, intent, removal, login.',
      labels,
    },
    byKind(({ due }) => due),
  );
  to.gauge(
    { name: 'strongroom_schedule_late', help: 'Work that is overdue by more than two minutes, by kind.', labels },
    byKind(({ late }) => late),
  );
  to.gauge(
    { name: 'strongroom_schedule_oldest_overdue_seconds', help: 'How long the oldest work is overdue, by kind; 0 where none is.', labels },
    byKind(({ oldest }) => oldest),
  );
  to.gauge({ name: 'strongroom_schedule_failing', help: 'Scheduled jobs whose last attempt failed, at most 10,000.' }, () =>
    one(waiting()?.failingJobs),
  );
  to.gauge({ name: 'strongroom_leases_irrevocable', help: 'Leases that could not be revoked, at most 10,000.' }, () =>
    one(waiting()?.irrevocableLeases),
  );
  to.gauge({ name: 'strongroom_journal_open', help: 'Outside changes that are neither completed nor undone, at most 10,000.' }, () =>
    one(waiting()?.openIntents),
  );
}

/** Series of scheduled snapshots, whichever server takes them. */
export function declareSnapshots(to: Declarations, { work }: MetricSources): void {
  const labels = ['name'];
  type Series = NonNullable<NonNullable<ReturnType<typeof work>>['waiting']>['snapshots'][number];
  const each = (value: (series: Series) => number | undefined) => (): Sample[] =>
    (work()?.waiting?.snapshots ?? []).flatMap((series) => {
      const found = value(series);
      return found === undefined ? [] : [{ labels: { name: series.name }, value: found }];
    });
  to.gauge(
    {
      name: 'strongroom_snapshot_age_seconds',
      help: 'Since the last good scheduled snapshot of the series, or since it was set up where there is none.',
      labels,
    },
    each(({ age }) => age),
  );
  to.gauge(
    { name: 'strongroom_snapshot_interval_seconds', help: 'How often the series should have a snapshot.', labels },
    each(({ interval }) => interval),
  );
  to.gauge(
    { name: 'strongroom_snapshot_bytes', help: 'Size of the last good scheduled snapshot.', labels },
    each(({ bytes }) => bytes),
  );
  to.gauge(
    { name: 'strongroom_snapshot_failures', help: 'Attempts that failed since the last good scheduled snapshot.', labels },
    each(({ failures }) => failures),
  );
  to.gauge(
    { name: 'strongroom_snapshots_kept', help: 'Scheduled snapshots of the series that are kept.', labels },
    each(({ kept }) => kept),
  );
}

/** Audit devices, as this server sees them. */
export function declareAudit(to: Declarations, { audit }: MetricSources): void {
  const labels = ['device', 'type'];
  const each = (value: (device: ReturnType<typeof audit>[number]) => number) => (): Sample[] =>
    audit().map((device) => ({ labels: { device: device.path, type: device.type }, value: value(device) }));
  to.gauge(
    { name: 'strongroom_audit_device_healthy', help: '1 while the device writes.', labels, across: 'min' },
    each(({ state }) => Number(state === 'healthy')),
  );
  to.counter(
    { name: 'strongroom_audit_lines_total', help: 'Lines that the device has written.', labels },
    each(({ written }) => written),
  );
  to.counter(
    {
      name: 'strongroom_audit_lines_lost_total',
      help: 'Lines that the device failed to write, or that found no room in its queue.',
      labels,
    },
    each(({ failed, dropped }) => failed + dropped),
  );
  to.gauge(
    { name: 'strongroom_audit_lines_waiting', help: 'Lines in the queue of the device.', labels, across: 'sum' },
    each(({ waiting }) => waiting),
  );
  to.counter(
    { name: 'strongroom_audit_writes_total', help: 'Writes of the device, of one or more lines each.', labels },
    each(({ writes }) => writes),
  );
  to.counter(
    { name: 'strongroom_audit_write_seconds_total', help: 'Time that the writes of the device took.', labels },
    each(({ seconds }) => seconds),
  );
  const buffered = (value: (buffer: NonNullable<ReturnType<typeof audit>[number]['buffer']>) => number | undefined) => (): Sample[] =>
    audit().flatMap(({ path, type, buffer }) => (buffer ? [{ labels: { device: path, type }, value: value(buffer) }] : []));
  to.gauge(
    { name: 'strongroom_audit_buffer_bytes', help: 'What waits on disk until the receiver of the device takes it.', labels },
    buffered(({ bytes }) => bytes),
  );
  to.gauge(
    { name: 'strongroom_audit_buffer_limit_bytes', help: 'How much may wait; with more, requests are refused.', labels },
    buffered(({ most_bytes }) => most_bytes),
  );
  to.gauge(
    {
      name: 'strongroom_audit_buffer_oldest_seconds',
      help: 'For how long the oldest line in the buffer has waited; 0 while none waits.',
      labels,
    },
    buffered(({ oldest }) => (oldest === null ? 0 : Math.max(0, (Date.now() - Date.parse(oldest)) / 1_000) || 0)),
  );
  to.counter(
    { name: 'strongroom_audit_delivered_lines_total', help: 'Lines that the receiver of a buffered device has taken.', labels },
    buffered(({ delivered_lines }) => delivered_lines),
  );
  to.counter(
    {
      name: 'strongroom_audit_deliveries_total',
      help: 'Batches that were sent to the receiver of a buffered device, by result.',
      labels: [...labels, 'result'],
    },
    () =>
      audit().flatMap(({ path, type, buffer }) =>
        buffer
          ? [
              { labels: { device: path, type, result: 'ok' }, value: buffer.deliveries },
              { labels: { device: path, type, result: 'failed' }, value: buffer.failures },
            ]
          : [],
      ),
  );
}
