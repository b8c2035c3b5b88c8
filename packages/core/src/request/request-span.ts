import type { TraceSpan, Tracer } from '@strongroom/engine-sdk';
import type { CoreResponse } from '../kernel/call/core-response.ts';
import type { Call } from './call.ts';

/**
 * Answers a call within its span: that of the adapter that received it, or one of its own. It is named after the operation and the declared path, never
 * after the path that was called, which holds names of secrets.
 */
export async function inRequestSpan(tracer: Tracer, call: Call, answer: () => Promise<CoreResponse>): Promise<CoreResponse> {
  const { span: received, headers } = call.request;
  const span = received ?? tracer.begin(call.operation, { kind: 'server', ...(headers && { headers }) });
  try {
    const answered = await tracer.within(span, answer);
    if (span.recorded) describe(span, call, answered);
    return answered;
  } finally {
    if (!received) span.end();
  }
}

function describe(span: TraceSpan, { id, operation, mount, match }: Call, { status }: CoreResponse): void {
  span.set({ 'strongroom.request.id': id, 'strongroom.operation': operation, 'http.response.status_code': status });
  if (mount) span.set({ 'strongroom.mount.path': mount.path, 'strongroom.mount.type': mount.type });
  if (mount && match) {
    const route = `${mount.path}${match.path.declaration.pattern}`;
    span.set({ 'http.route': `/v1/${route}` });
    span.rename(`${operation} ${route}`);
  } else span.rename(operation);
  if (status >= 500) span.fail(String(status));
}
