import type { Counted, MountCounts } from '@strongroom/core';
import type { Declarations, Sample } from './declarations.ts';
import type { MetricSources } from './metric-sources.ts';

/** A counter of each mount: what the core counts, and the label that tells how it ended. */
const COUNTERS: readonly { readonly name: string; readonly help: string; readonly counts: Partial<Record<Counted, string>> }[] = [
  { name: 'leases_issued', help: 'Leases issued.', counts: { leases_issued: '' } },
  { name: 'leases_renewed', help: 'Leases renewed.', counts: { leases_renewed: '' } },
  {
    name: 'lease_revocations',
    help: 'Attempts to revoke a lease, by result.',
    counts: { leases_revoked: 'ok', revocations_failed: 'failed' },
  },
  { name: 'rotations', help: 'Rotations of credentials, by result.', counts: { rotations_ok: 'ok', rotations_failed: 'failed' } },
  { name: 'sync_runs', help: 'Runs that copy a secret to a destination, by result.', counts: { sync_ok: 'ok', sync_failed: 'failed' } },
  {
    name: 'logins',
    help: 'Logins, by result; failed: the system behind the login method did not answer.',
    counts: { logins_ok: 'ok', logins_denied: 'denied', logins_failed: 'failed' },
  },
  {
    name: 'rollbacks',
    help: 'Attempts to undo an unfinished change to an outside system, by result.',
    counts: { rollbacks_ok: 'ok', rollbacks_failed: 'failed' },
  },
  { name: 'circuit_breaker_openings', help: 'How often the circuit breaker of an outside system opened.', counts: { circuits_opened: '' } },
];

const OF_MOUNT = ['mount', 'type'] as const;

/** Mounts without a counter of a kind are left out of it: what never logs anybody in has no logins. */
export function declareMounts(to: Declarations, { mounts, pools }: MetricSources): void {
  for (const { name, help, counts } of COUNTERS) {
    const results = Object.values(counts).some((result) => result !== '');
    to.counter({ name: `strongroom_${name}_total`, help, labels: results ? [...OF_MOUNT, 'result'] : OF_MOUNT }, () =>
      mounts().flatMap(({ mount, type, counted }) => {
        const values = Object.entries(counts) as [Counted, string][];
        if (values.every(([what]) => counted[what] === 0)) return [];
        return values.map(([what, result]) => ({ labels: results ? { mount, type, result } : { mount, type }, value: counted[what] }));
      }),
    );
  }
  to.counter(
    {
      name: 'strongroom_jobs_total',
      help: 'Attempts of scheduled jobs of engines, by kind and result.',
      labels: [...OF_MOUNT, 'kind', 'result'],
    },
    () =>
      mounts().flatMap(({ mount, type, jobs }) =>
        Object.entries(jobs).flatMap(([kind, { ok, failed }]) => [
          { labels: { mount, type, kind, result: 'ok' }, value: ok },
          { labels: { mount, type, kind, result: 'failed' }, value: failed },
        ]),
      ),
  );
  const each = (value: (mount: MountCounts) => number | undefined) => (): Sample[] =>
    mounts().map((one) => ({ labels: { mount: one.mount, type: one.type }, value: value(one) }));
  to.gauge(
    {
      name: 'strongroom_leases',
      help: 'Leases that live, those of tokens left out; counted every ten minutes and kept up to date in between.',
      labels: OF_MOUNT,
    },
    each(({ leases }) => leases),
  );
  to.gauge(
    {
      name: 'strongroom_token_leases',
      help: 'Tokens with an end that live, by the mount that issued them; counted every ten minutes.',
      labels: OF_MOUNT,
    },
    each(({ tokenLeases }) => tokenLeases || undefined),
  );
  to.counter(
    { name: 'strongroom_requests_denied_total', help: 'Requests that were refused with 403.', labels: OF_MOUNT },
    each(({ denied }) => denied || undefined),
  );
  const ofPool = [...OF_MOUNT, 'target'];
  const eachPool = (value: (pool: ReturnType<typeof pools>[number]) => number) => (): Sample[] =>
    pools().map((pool) => ({ labels: { mount: pool.mount, type: pool.type, target: pool.target }, value: value(pool) }));
  to.gauge(
    {
      name: 'strongroom_pool_connections_open',
      help: 'Connections of this server to an outside system of a mount, such as a database.',
      labels: ofPool,
    },
    eachPool(({ open }) => open),
  );
  to.gauge(
    { name: 'strongroom_pool_connections_idle', help: 'Of those, the ones that nobody uses now.', labels: ofPool },
    eachPool(({ idle }) => idle),
  );
  to.gauge(
    { name: 'strongroom_pool_connections_limit', help: 'The most connections that may be open.', labels: ofPool },
    eachPool(({ limit }) => limit),
  );
  to.gauge(
    { name: 'strongroom_pool_waiting', help: 'Calls that wait for a connection.', labels: ofPool },
    eachPool(({ waiting }) => waiting),
  );
}
