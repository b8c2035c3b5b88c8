import type { Context } from '@opentelemetry/api';
import { ExportResultCode, type ExportResult } from '@opentelemetry/core';
import { BatchSpanProcessor, type ReadableSpan, type Span, type SpanExporter, type SpanProcessor } from '@opentelemetry/sdk-trace-base';

/** What became of spans, since the start. */
export interface SpanCounts {
  readonly exported: number;
  /** The collector did not take them, or too many were waiting. */
  readonly dropped: number;
  readonly waiting: number;
}

/** Spans that may wait: while the collector is away, more are dropped. */
const MOST_WAITING = 4_096;
const BATCH = 512;

/** Sends spans in batches, keeps few while the collector is away, and counts what became of them. */
export class CountedExport implements SpanProcessor {
  readonly #batches: BatchSpanProcessor;
  readonly #failed: (reason: string | undefined) => void;
  #exported = 0;
  #dropped = 0;
  #waiting = 0;

  /** `failed` hears why a batch was not taken. */
  constructor(exporter: SpanExporter, failed: (reason: string | undefined) => void) {
    this.#failed = failed;
    const counting: SpanExporter = {
      export: (spans, done) => {
        exporter.export(spans, (result) => {
          this.#settled(spans.length, result);
          done(result);
        });
      },
      shutdown: async () => exporter.shutdown(),
      ...(exporter.forceFlush && { forceFlush: async () => exporter.forceFlush!() }),
    };
    // It drops nothing by itself: that is decided, and counted, here.
    this.#batches = new BatchSpanProcessor(counting, { maxQueueSize: MOST_WAITING * 2, maxExportBatchSize: BATCH });
  }

  get counts(): SpanCounts {
    return { exported: this.#exported, dropped: this.#dropped, waiting: this.#waiting };
  }

  onStart(span: Span, parent: Context): void {
    this.#batches.onStart(span, parent);
  }

  onEnd(span: ReadableSpan): void {
    if ((span.spanContext().traceFlags & 1) === 0) return;
    if (this.#waiting >= MOST_WAITING) {
      this.#dropped += 1;
      return;
    }
    this.#waiting += 1;
    this.#batches.onEnd(span);
  }

  forceFlush(): Promise<void> {
    return this.#batches.forceFlush();
  }

  shutdown(): Promise<void> {
    return this.#batches.shutdown();
  }

  #settled(count: number, { code, error }: ExportResult): void {
    this.#waiting -= count;
    if (code === ExportResultCode.SUCCESS) this.#exported += count;
    else {
      this.#dropped += count;
      this.#failed(error?.message);
    }
  }
}
