import { AsyncLocalStorage } from 'node:async_hooks';
import {
  context,
  isSpanContextValid,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Context,
  type Span,
  type TracerProvider,
} from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import type { SpanAttributes, SpanStart, Tracer, TraceSpan } from '@strongroom/engine-sdk';

/** How spans are given to a tracer provider. */
export interface OpenTelemetryOptions {
  /** Whether `traceparent` of a request names the span above. Off by default: a caller could otherwise have everything recorded. */
  readonly acceptTraceparent?: boolean;
}

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL };
const propagator = new W3CTraceContextPropagator();

/** Gives the spans of a core to a tracer provider: one of a program that embeds the core, or that of `openOtlpTracing`. */
export function openTelemetryTracer(provider: TracerProvider, { acceptTraceparent = false }: OpenTelemetryOptions = {}): Tracer {
  const spans = provider.getTracer('strongroom');
  const current = new AsyncLocalStorage<Context>();
  const here = (): Context => current.getStore() ?? context.active();

  class OpenTelemetrySpan implements TraceSpan {
    readonly span: Span;
    readonly context: Context;

    constructor(name: string, { kind = 'internal', headers, attributes }: SpanStart) {
      const parent = acceptTraceparent && headers ? callerOf(headers) : here();
      this.span = spans.startSpan(name, { kind: KINDS[kind], ...(attributes && { attributes }) }, parent);
      this.context = trace.setSpan(parent, this.span);
    }

    get recorded(): boolean {
      return this.span.isRecording();
    }

    rename(name: string): void {
      this.span.updateName(name);
    }

    set(attributes: SpanAttributes): void {
      this.span.setAttributes(attributes);
    }

    fail(kind: string): void {
      this.span.setAttribute('error.type', kind).setStatus({ code: SpanStatusCode.ERROR });
    }

    end(): void {
      this.span.end();
    }
  }

  return {
    begin: (name, start = {}) => new OpenTelemetrySpan(name, start),
    // Instrumentation of other libraries asks the global API, whose context is set as well where a program has set one up.
    within: (span, work) => {
      const within = (span as OpenTelemetrySpan).context;
      return current.run(within, () => context.with(within, work));
    },
    tracing: () => trace.getSpan(here())?.isRecording() === true,
  };

  function callerOf(headers: NonNullable<SpanStart['headers']>): Context {
    const getter = {
      get: (carrier: typeof headers, key: string) => (typeof carrier[key] === 'string' ? carrier[key] : undefined),
      keys: Object.keys,
    };
    const found = propagator.extract(ROOT_CONTEXT, headers, getter);
    const caller = trace.getSpanContext(found);
    return caller && isSpanContextValid(caller) ? found : here();
  }
}
