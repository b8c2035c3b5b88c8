import type { Observation } from '@strongroom/http';
import type { StorageDriver } from '@strongroom/storage-sdk';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry, Summary } from 'prom-client';
import { Declarations } from './declarations.ts';
import { declareAudit, declareServer, declareSnapshots, declareStorage, declareWork } from './server-families.ts';
import type { MetricFamily } from './metric-family.ts';
import type { MetricSources } from './metric-sources.ts';
import type { MetricFamilySnapshot } from './merged-metrics.ts';
import { metricsJson } from './metrics-json.ts';
import { declareMounts } from './mount-families.ts';
import { declarePeerNames, PeerNames } from './peer-names.ts';
import { StorageTimings } from './storage-timings.ts';

/** Seconds; the last bucket is everything slower. */
const BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** What one operation is counted with, looked up once: finding labels costs more than counting. */
interface OperationFigures {
  readonly seconds: { observe(value: number): void };
  readonly statuses: Map<number, { inc(): void }>;
}

/** What the other processes of this server have counted. */
export interface OtherCounts {
  /** The metrics of all processes, given those of this one. */
  with(own: readonly MetricFamilySnapshot[]): Promise<Pick<Registry, 'metrics' | 'getMetricsAsJSON'>>;
}

interface MetricInside {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
}

/** Counts what passes, cheaply, and renders it for Prometheus when asked. */
export class ServerMetrics {
  readonly #registry = new Registry();
  readonly #operations = new Map<string, OperationFigures>();
  readonly #requests: Counter<'operation' | 'status'>;
  readonly #seconds: Histogram<'operation'>;
  readonly #storage = new StorageTimings();
  readonly #peerNames: PeerNames;
  readonly #others: OtherCounts | undefined;

  /** What the sources say is asked for at each scrape. `others`: the other processes of a server that has several. */
  constructor(sources: MetricSources, others?: OtherCounts) {
    this.#others = others;
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
    const ours = new Declarations(registry);
    declareServer(ours, sources);
    declareStorage(ours, this.#storage, sources);
    declareMounts(ours, sources);
    declareWork(ours, sources);
    declareSnapshots(ours, sources);
    declareAudit(ours, sources);
    const peers = new PeerNames();
    declarePeerNames(
      peers.over(registry, () => sources.cluster()),
      sources,
      this.#storage,
    );
    this.#peerNames = peers;
  }

  /** What is counted, in the order in which it is shown. */
  get families(): MetricFamily[] {
    return (this.#registry.getMetricsAsArray() as unknown as MetricInside[]).map((metric) => ({
      name: metric.name,
      type: typeOf(metric),
      help: metric.help,
      labels: metric.labelNames,
    }));
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

  /** The same storage, with what it does timed. */
  counting(driver: StorageDriver): StorageDriver {
    return this.#storage.over(driver);
  }

  /** What this process has counted. */
  async snapshot(): Promise<MetricFamilySnapshot[]> {
    return (await this.#registry.getMetricsAsJSON()) as unknown as MetricFamilySnapshot[];
  }

  /** Prometheus text, or the JSON of Vault and OpenBao. */
  async render(format: 'prometheus' | 'json' = 'prometheus'): Promise<string> {
    const registry = this.#others ? await this.#others.with(await this.snapshot()) : this.#registry;
    return format === 'json'
      ? `${JSON.stringify(metricsJson(await registry.getMetricsAsJSON(), new Date(), this.#peerNames.dotted))}\n`
      : registry.metrics();
  }
}

function typeOf(metric: object): string {
  if (metric instanceof Counter) return 'counter';
  if (metric instanceof Gauge) return 'gauge';
  return metric instanceof Summary ? 'summary' : 'histogram';
}
