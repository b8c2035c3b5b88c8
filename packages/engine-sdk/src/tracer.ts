/** What a span says of itself. Never a secret, and never a path as a caller wrote it. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

/** A piece of work whose time is measured. */
export interface TraceSpan {
  /** Whether anybody will see it: what is not sampled needs no attributes, and no spans below it. */
  readonly recorded: boolean;
  rename(name: string): void;
  set(attributes: SpanAttributes): void;
  /** The work did not succeed. `kind` is a word such as the name of an error's class: texts of errors may hold what others must not read. */
  fail(kind: string): void;
  /** Once. */
  end(): void;
}

/** How a span begins. */
export interface SpanStart {
  /** `server`: a request from outside. `client`: a call to another system. */
  readonly kind?: 'server' | 'client' | 'internal';
  /** Headers of a request, which may name the span of the caller. */
  readonly headers?: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly attributes?: SpanAttributes;
}

/** Where spans go. None of these throws, and none waits. */
export interface Tracer {
  /** Begins a span below the current one; without a current one, a trace of its own. */
  begin(name: string, start?: SpanStart): TraceSpan;
  /** Runs the work so that spans that begin in it, also later, are below this one. */
  within<T>(span: TraceSpan, work: () => T): T;
  /** Whether work that runs now belongs to a span that is recorded. */
  tracing(): boolean;
}

/** Runs the work as a step of the current trace. Without a tracer, and outside of a trace, it is the work and nothing else. */
export function traced<T>(tracer: Tracer | undefined, name: string, work: () => Promise<T>, start?: SpanStart): Promise<T> {
  return tracer?.tracing() === true ? inSpan(tracer, name, work, start) : work();
}

/** Runs the work in a span of its own, and ends it with the work. */
export async function inSpan<T>(tracer: Tracer, name: string, work: () => Promise<T>, start?: SpanStart): Promise<T> {
  const span = tracer.begin(name, start);
  try {
    return await tracer.within(span, work);
  } catch (error) {
    span.fail(kindOf(error));
    throw error;
  } finally {
    span.end();
  }
}

/** The name of an error's class. */
function kindOf(error: unknown): string {
  return error instanceof Error ? error.constructor.name : typeof error;
}
