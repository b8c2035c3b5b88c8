import { describe, expect, test } from '@jest/globals';
import { ExportResultCode, type ExportResult } from '@opentelemetry/core';
import { BasicTracerProvider, type SpanExporter } from '@opentelemetry/sdk-trace-base';
import { CountedExport } from '../src/counted-export.ts';

function exporting(answer: (done: (result: ExportResult) => void) => void): {
  spans: CountedExport;
  begin: (count: number) => void;
  failed: string[];
} {
  const failed: string[] = [];
  const exporter: SpanExporter = { export: (_, done) => answer(done), shutdown: async () => undefined };
  const spans = new CountedExport(exporter, (reason = '') => failed.push(reason));
  const tracer = new BasicTracerProvider({ spanProcessors: [spans] }).getTracer('test');
  return { spans, failed, begin: (count) => Array.from({ length: count }, () => tracer.startSpan('x').end()) };
}

describe('spans', () => {
  test('are counted once the collector has them', async () => {
    const { spans, begin } = exporting((done) => done({ code: ExportResultCode.SUCCESS }));
    begin(1_000);
    await spans.forceFlush();
    expect(spans.counts).toEqual({ exported: 1_000, dropped: 0, waiting: 0 });
  });

  test('that the collector does not take are dropped, and the reason is heard', async () => {
    const { spans, begin, failed } = exporting((done) => done({ code: ExportResultCode.FAILED, error: new Error('refused') }));
    begin(10);
    await spans.forceFlush().catch(() => undefined);
    expect([spans.counts, failed]).toEqual([{ exported: 0, dropped: 10, waiting: 0 }, ['refused']]);
  });

  test('wait up to a bound while the collector does not answer; more are dropped', () => {
    const { spans, begin } = exporting(() => undefined);
    begin(5_000);
    expect(spans.counts).toEqual({ exported: 0, dropped: 904, waiting: 4_096 });
  });
});
