import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, ParentBasedSampler, TraceIdRatioBasedSampler } from '@opentelemetry/sdk-trace-base';
import type { Log, Tracer } from '@strongroom/engine-sdk';
import { CountedExport, type SpanCounts } from './counted-export.ts';
import { openTelemetryTracer, type OpenTelemetryOptions } from './open-telemetry.ts';

/** Where spans are sent, and how many. What is left out comes from the `OTEL_` variables of the environment, or has the defaults of OpenTelemetry. */
export interface OtlpTracingOptions extends OpenTelemetryOptions {
  /** The URL that spans are posted to: `https://collector:4318/v1/traces`. */
  readonly endpoint?: string;
  /** Sent with each batch, such as an access token. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The share of the traces that begin here and are recorded, from 0 to 1. */
  readonly sampleRatio?: number;
  readonly serviceName?: string;
  readonly serviceVersion: string;
  readonly log: Log;
}

/** Traces that are sent to a collector. */
export interface OtlpTracing {
  readonly tracer: Tracer;
  /** What became of the spans. */
  readonly counts: SpanCounts;
  /** Sends what waits, for a few seconds at most. Never rejects. */
  close(): Promise<void>;
}

/** Milliseconds for one batch. */
const TIMEOUT = 10_000;
const LAST_BATCHES = 3_000;

/** Sends spans over OTLP by HTTP. A collector that is away, slow or hostile costs spans, and nothing else. */
export function openOtlpTracing(options: OtlpTracingOptions): OtlpTracing {
  const { endpoint, headers, sampleRatio, serviceName, serviceVersion, log } = options;
  let failing = false;
  const exporter = new OTLPTraceExporter({
    ...(endpoint === undefined ? {} : { url: endpoint }),
    ...(headers === undefined ? {} : { headers: { ...headers } }),
    ...(process.env['OTEL_EXPORTER_OTLP_TIMEOUT'] === undefined ? { timeoutMillis: TIMEOUT } : {}),
  });
  const spans = new CountedExport(exporter, () => {
    if (!failing) log.warn('spans cannot be sent to the collector; they are dropped, and counted in strongroom_trace_spans_total');
    failing = true;
  });
  const provider = new BasicTracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': 'strongroom', 'service.version': serviceVersion }))
      .merge(detectResources({ detectors: [envDetector] }))
      .merge(resourceFromAttributes(serviceName === undefined ? {} : { 'service.name': serviceName })),
    spanProcessors: [spans],
    ...(sampleRatio === undefined ? {} : { sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(sampleRatio) }) }),
  });
  return {
    tracer: openTelemetryTracer(provider, options),
    get counts() {
      return spans.counts;
    },
    close: async () => {
      let timer!: NodeJS.Timeout;
      const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, LAST_BATCHES).unref()));
      await Promise.race([provider.shutdown().catch(() => undefined), late]);
      clearTimeout(timer);
    },
  };
}
