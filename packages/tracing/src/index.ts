export type { SpanCounts } from './counted-export.ts';
export { openTelemetryTracer, type OpenTelemetryOptions } from './open-telemetry.ts';
export { openOtlpTracing, type OtlpTracing, type OtlpTracingOptions } from './otlp-tracing.ts';
