import { grpc } from 'google-gax';

/** Options of a call, as Google's client takes them. */
export interface GrpcCallOptions {
  readonly otherArgs: { readonly headers: Record<string, string>; readonly options: grpc.CallOptions };
}

/** A call with these headers that is cancelled, and not merely forgotten, when the signal is aborted. */
export function callOptions(headers: Readonly<Record<string, string>>, signal: AbortSignal): GrpcCallOptions {
  return { otherArgs: { headers: { ...headers }, options: { interceptors: [cancelledBy(signal)] } } };
}

function cancelledBy(signal: AbortSignal): grpc.Interceptor {
  return (options, nextCall) => {
    const inner = nextCall(options);
    const cancel = (): void => inner.cancelWithStatus(grpc.status.CANCELLED, 'the call was aborted');
    const requester = {
      start: (
        metadata: grpc.Metadata,
        listener: grpc.InterceptingListener,
        next: (metadata: grpc.Metadata, listener: grpc.Listener) => void,
      ) => {
        signal.addEventListener('abort', cancel, { once: true });
        next(metadata, {
          onReceiveStatus: (status, pass) => {
            signal.removeEventListener('abort', cancel);
            pass(status);
          },
        });
        // Aborted while the call was being prepared: it is not reported twice.
        if (signal.aborted) cancel();
      },
    };
    return new grpc.InterceptingCall(inner, requester as grpc.Requester);
  };
}
