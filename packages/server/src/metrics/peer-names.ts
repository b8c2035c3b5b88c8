import type { Timed } from '@strongroom/core';
import type { Registry } from 'prom-client';
import { Declarations, type Described, type Sample, type TimedSeries } from './declarations.ts';
import type { MetricSources } from './metric-sources.ts';
import { STORAGE_OPERATIONS, type StorageTimings } from './storage-timings.ts';

/** Timings are in milliseconds there. */
const MILLIS = 1_000;
const PREFIX = 'vault';

/** The names that dashboards of Vault and OpenBao use: `core.unsealed` is `vault_core_unsealed`, and in JSON `vault.core.unsealed`. */
export class PeerNames {
  /** By the name of Prometheus. */
  readonly dotted = new Map<string, string>();
  #to: Declarations | undefined;

  over(registry: Registry, cluster: () => string): this {
    this.#to = new Declarations(registry, ['cluster'], () => ({ cluster: cluster() }));
    return this;
  }

  gauge(described: Described, series: () => Iterable<Sample>): void {
    this.#to!.gauge(this.#named(described), series);
  }

  counter(described: Described, series: () => Iterable<Sample>): void {
    this.#to!.counter(this.#named(described), series);
  }

  summary(described: Described, series: () => readonly TimedSeries[]): void {
    this.#to!.summary(this.#named(described), series, MILLIS);
  }

  #named(described: Described): Described {
    const dotted = `${PREFIX}.${described.name}`;
    const name = dotted.replaceAll(/[^a-zA-Z0-9]/g, '_');
    this.dotted.set(name, dotted);
    return { ...described, name };
  }
}

/** What stands for another metric says so in its help. */
export function declarePeerNames(to: PeerNames, sources: MetricSources, storage: StorageTimings): void {
  const { sealed, seals, work, mounts, quotas, timings, audit } = sources;
  const gauge = (name: string, help: string, value: () => number | undefined, across: Described['across'] = 'max'): void =>
    to.gauge({ name, help, across }, () => [{ value: value() }]);
  gauge('core.unsealed', '1 while unsealed.', () => (sealed() ? 0 : 1), 'min');
  gauge('core.active', '1 while unsealed: every server is active.', () => (sealed() ? 0 : 1), 'min');
  gauge('seal.unreachable.time', 'Milliseconds for which the seal that works least has failed its health checks.', () => {
    const seconds = seals().map((seal) => seal.seconds);
    return seconds.length === 0 ? undefined : Math.max(...seconds) * MILLIS;
  });
  gauge('core.in_flight_requests', 'Requests that are being answered.', () => work()?.requestsUnderWay, 'sum');
  gauge('token.count', 'Service tokens; counted every ten minutes.', () => work()?.tokens);
  gauge('identity.num_entities', 'Entities; counted every ten minutes.', () => work()?.entities);
  gauge('identity.entity.count', 'Entities; counted every ten minutes.', () => work()?.entities);
  const leases = (): number | undefined => {
    const known = mounts().filter((mount) => mount.leases !== undefined);
    return known.length === 0 ? undefined : known.reduce((sum, one) => sum + one.leases! + (one.tokenLeases ?? 0), 0);
  };
  gauge('expire.num_leases', 'Leases that live, those of tokens among them.', leases);
  gauge('expire.num_irrevocable_leases', 'Leases that could not be revoked.', () => work()?.waiting?.irrevocableLeases);
  to.gauge(
    {
      name: 'autosnapshots.last.success.time',
      help: 'When the last good scheduled snapshot was taken: seconds since the epoch.',
      labels: ['snapshot_config_name'],
    },
    () =>
      (work()?.waiting?.snapshots ?? []).flatMap(({ name, lastGood }) =>
        lastGood === undefined ? [] : [{ labels: { snapshot_config_name: name }, value: lastGood / MILLIS }],
      ),
  );
  gauge('runtime.alloc_bytes', 'Used heap.', () => process.memoryUsage().heapUsed, 'apart');
  gauge('runtime.sys_bytes', 'Resident memory.', () => process.memoryUsage.rss(), 'apart');
  to.gauge({ name: 'core.mount_table.num_entries', help: 'Mounts, by type: logical or auth.', labels: ['type', 'local'] }, () => {
    const paths = mounts()
      .map(({ mount }) => mount)
      .filter((mount) => mount !== '');
    const auth = paths.filter((path) => path.startsWith('auth/')).length;
    return [
      { labels: { type: 'logical', local: 'false' }, value: paths.length - auth },
      { labels: { type: 'auth', local: 'false' }, value: auth },
    ];
  });
  to.gauge(
    {
      name: 'token.count.by_auth',
      help: 'Tokens with an end, by the mount that issued them; counted every ten minutes.',
      labels: ['auth_method'],
    },
    () => mounts().flatMap(({ mount, tokenLeases }) => (tokenLeases ? [{ labels: { auth_method: mount }, value: tokenLeases }] : [])),
  );
  to.counter({ name: 'token.creation', help: 'Logins that were granted, by mount.', labels: ['auth_method', 'mount_point'] }, () =>
    mounts().flatMap(({ mount, type, counted }) =>
      counted.logins_ok === 0 ? [] : [{ labels: { auth_method: type, mount_point: mount }, value: counted.logins_ok }],
    ),
  );
  to.counter({ name: 'secret.lease.creation', help: 'Leases issued, by mount.', labels: ['secret_engine', 'mount_point'] }, () =>
    mounts().flatMap(({ mount, type, counted }) =>
      counted.leases_issued === 0 ? [] : [{ labels: { secret_engine: type, mount_point: mount }, value: counted.leases_issued }],
    ),
  );
  to.counter({ name: 'quota.rate_limit.violation', help: 'Requests that a rate limit refused, by its name.', labels: ['name'] }, () =>
    (quotas()?.rateLimits ?? []).map(({ name, refused }) => ({ labels: { name }, value: refused })),
  );
  const failures = (): number => audit().reduce((sum, { failed, dropped }) => sum + failed + dropped, 0);
  to.counter(
    { name: 'audit.log_request_failure', help: 'Lines that an audit device did not write, whether of a request or a response.' },
    () => [{ value: failures() }],
  );
  to.counter({ name: 'audit.log_response_failure', help: 'Always 0: see audit.log_request_failure.' }, () => [{ value: 0 }]);
  const timed = (name: string, help: string, what: Timed): void =>
    to.summary({ name, help }, () => {
      const timing = timings()?.of(what);
      return timing ? [{ labels: {}, timing }] : [];
    });
  timed('core.handle_request', 'Milliseconds of requests, logins left out.', 'request');
  timed('core.handle_login_request', 'Milliseconds of logins.', 'login');
  timed('core.check_token', 'Milliseconds in which a token was looked up, with its entity and policies.', 'check_token');
  timed('audit.log_request', 'Milliseconds in which the audit devices wrote requests.', 'audit_request');
  timed('audit.log_response', 'Milliseconds in which the audit devices wrote responses.', 'audit_response');
  for (const operation of STORAGE_OPERATIONS)
    to.summary({ name: `barrier.${operation}`, help: `Milliseconds of storage operations: ${operation}.` }, () => [
      { labels: {}, timing: storage.of(operation) },
    ]);
  // The names there have the mount in them; a label keeps their number bounded.
  for (const operation of ['read', 'create', 'update', 'patch', 'delete', 'list'])
    to.summary({ name: `route.${operation}`, help: `Milliseconds of requests by mount: ${operation}.`, labels: ['mount_point'] }, () =>
      (timings()?.routes ?? []).flatMap((route) =>
        route.operation === operation ? [{ labels: { mount_point: route.mount }, timing: route.timing }] : [],
      ),
    );
}
