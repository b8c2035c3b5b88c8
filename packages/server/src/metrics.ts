import type { Counted, MountCounts, QuotaFigures, WorkFigures } from '@strongroom/core';
import type { Observation } from '@strongroom/http';
import type { Change, StorageDriver } from '@strongroom/storage-sdk';
import { metricsJson } from './metrics-json.ts';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

/** Seconds; the last bucket is everything slower. */
const BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** What one operation is counted with, looked up once: finding labels costs more than counting. */
interface OperationFigures {
  readonly seconds: { observe(value: number): void };
  readonly statuses: Map<number, { inc(): void }>;
}

/** Counts what passes, cheaply, and renders it for Prometheus when asked. */
export class ServerMetrics {
  readonly #registry = new Registry();
  readonly #operations = new Map<string, OperationFigures>();
  readonly #requests: Counter<'operation' | 'status'>;
  readonly #seconds: Histogram<'operation'>;
  #commits = 0;
  #commitFailures = 0;
  #commitSeconds = 0;
  #staleness: () => number = () => 0;

  /** What the functions return is asked for at each scrape. */
  constructor(state: {
    readonly sealed: () => boolean;
    readonly quotas?: () => QuotaFigures | undefined;
    readonly mounts?: () => readonly MountCounts[];
    readonly work?: () => WorkFigures | undefined;
  }) {
    const registry = this.#registry;
    collectDefaultMetrics({ register: registry });
    const registers = [registry];
    this.#requests = new Counter({
      name: 'strongroom_requests_total',
      help: 'Requests answered, by operation and status.',
      labelNames: ['operation', 'status'],
      registers,
    });
    this.#seconds = new Histogram({
      name: 'strongroom_request_seconds',
      help: 'Time from the head of a request to its answer.',
      labelNames: ['operation'],
      buckets: BUCKETS,
      registers,
    });
    const total = (name: string, help: string, value: () => number): void => {
      new Counter({
        name,
        help,
        registers,
        collect() {
          this.reset();
          this.inc(value());
        },
      });
    };
    total('strongroom_storage_commits_total', 'Commits to the storage, each durable when answered.', () => this.#commits);
    total('strongroom_storage_commit_failures_total', 'Commits that did not happen: conflicts and failures.', () => this.#commitFailures);
    total('strongroom_storage_commit_seconds_total', 'Time spent waiting for commits.', () => this.#commitSeconds);
    const staleness = (): number => this.#staleness() / 1_000;
    new Gauge({
      name: 'strongroom_store_staleness_seconds',
      help: 'Since the changes of other servers were last read; above 10, requests are refused.',
      registers,
      collect() {
        this.set(staleness());
      },
    });
    new Gauge({
      name: 'strongroom_unsealed',
      help: '1 while unsealed.',
      registers,
      collect() {
        this.set(state.sealed() ? 0 : 1);
      },
    });
    this.#addQuotas(state.quotas ?? (() => undefined));
    addMounts(registry, state.mounts ?? (() => []));
    addWork(registry, state.work ?? (() => undefined));
  }

  #addQuotas(quotas: () => QuotaFigures | undefined): void {
    const registers = [this.#registry];
    const labelNames = ['name'] as const;
    new Counter({
      name: 'strongroom_quota_rate_limit_violations_total',
      help: 'Requests that a rate limit refused, by its name.',
      labelNames,
      registers,
      collect() {
        this.reset();
        for (const { name, refused } of quotas()?.rateLimits ?? []) this.inc({ name }, refused);
      },
    });
    const perCap = (name: string, help: string, value: (cap: QuotaFigures['leaseCaps'][number]) => number): void => {
      new Gauge({
        name,
        help,
        labelNames,
        registers,
        collect() {
          this.reset();
          for (const cap of quotas()?.leaseCaps ?? []) this.set({ name: cap.name }, value(cap));
        },
      });
    };
    perCap('strongroom_quota_lease_count', 'Leases that a cap counted last, by its name.', (cap) => cap.leases);
    perCap('strongroom_quota_lease_count_limit', 'Leases that a cap allows, by its name.', (cap) => cap.max);
  }

  /** Takes about half a microsecond. */
  readonly observe = ({ operation, status, seconds }: Observation): void => {
    let figures = this.#operations.get(operation);
    if (!figures) {
      figures = { seconds: this.#seconds.labels(operation), statuses: new Map() };
      this.#operations.set(operation, figures);
    }
    figures.seconds.observe(seconds);
    let counted = figures.statuses.get(status);
    if (!counted) figures.statuses.set(status, (counted = this.#requests.labels(operation, String(status))));
    counted.inc();
  };

  /** The same storage, with its commits counted. */
  counting(driver: StorageDriver): StorageDriver {
    const commit = async (change: Change): Promise<void> => {
      const began = performance.now();
      try {
        await driver.commit(change);
        this.#commits += 1;
      } catch (error) {
        this.#commitFailures += 1;
        throw error;
      } finally {
        this.#commitSeconds += (performance.now() - began) / 1_000;
      }
    };
    this.#staleness = () => driver.staleness().millis;
    return {
      name: driver.name,
      shared: driver.shared,
      get: (key) => driver.get(key),
      range: (query) => driver.range(query),
      ...(driver.copy ? { copy: async () => driver.copy!() } : {}),
      ...(driver.replace ? { replace: async () => driver.replace!() } : {}),
      commit,
      changes: (listener) => driver.changes(listener),
      staleness: () => driver.staleness(),
      close: () => driver.close(),
    };
  }

  /** Prometheus text, or the JSON of Vault and OpenBao. */
  async render(format: 'prometheus' | 'json' = 'prometheus'): Promise<string> {
    return format === 'json'
      ? `${JSON.stringify(metricsJson(await this.#registry.getMetricsAsJSON(), new Date()))}\n`
      : this.#registry.metrics();
  }
}

/** A counter of each mount: what the core counts, and the label that tells how it ended. */
const MOUNT_COUNTERS: readonly { readonly name: string; readonly help: string; readonly counts: Partial<Record<Counted, string>> }[] = [
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
    help: 'Attempts to undo an unfinished outside change, by result.',
    counts: { rollbacks_ok: 'ok', rollbacks_failed: 'failed' },
  },
  { name: 'circuit_breaker_openings', help: 'How often the circuit breaker of an outside system opened.', counts: { circuits_opened: '' } },
];

/** Mounts without a counter of a kind are left out of it: what never logs anybody in has no logins. */
function addMounts(registry: Registry, mounts: () => readonly MountCounts[]): void {
  const registers = [registry];
  for (const { name, help, counts } of MOUNT_COUNTERS) {
    const results = Object.values(counts).some((result) => result !== '');
    new Counter({
      name: `strongroom_${name}_total`,
      help,
      labelNames: results ? ['mount', 'type', 'result'] : ['mount', 'type'],
      registers,
      collect() {
        this.reset();
        for (const { mount, type, counted } of mounts()) {
          const values = Object.entries(counts) as [Counted, string][];
          if (values.every(([what]) => counted[what] === 0)) continue;
          for (const [what, result] of values) this.inc(results ? { mount, type, result } : { mount, type }, counted[what]);
        }
      },
    });
  }
  new Counter({
    name: 'strongroom_jobs_total',
    help: 'Attempts of scheduled jobs of engines, by kind and result.',
    labelNames: ['mount', 'type', 'kind', 'result'],
    registers,
    collect() {
      this.reset();
      for (const { mount, type, jobs } of mounts()) {
        for (const [kind, { ok, failed }] of Object.entries(jobs)) {
          this.inc({ mount, type, kind, result: 'ok' }, ok);
          this.inc({ mount, type, kind, result: 'failed' }, failed);
        }
      }
    },
  });
  new Gauge({
    name: 'strongroom_leases',
    help: 'Leases that live, those of tokens left out; counted every ten minutes and kept up to date in between.',
    labelNames: ['mount', 'type'],
    registers,
    collect() {
      this.reset();
      for (const { mount, type, leases } of mounts()) if (leases !== undefined) this.set({ mount, type }, leases);
    },
  });
}

function addWork(registry: Registry, work: () => WorkFigures | undefined): void {
  const registers = [registry];
  new Gauge({
    name: 'strongroom_circuit_breakers_open',
    help: 'Outside systems that are not asked now, because they kept failing.',
    registers,
    collect() {
      this.set(work()?.circuitsOpen ?? 0);
    },
  });
  new Gauge({
    name: 'strongroom_due_backlog',
    help: 'Entries of the schedule whose time has come, at most 10,000.',
    registers,
    collect() {
      this.set(work()?.backlog ?? NaN);
    },
  });
}
