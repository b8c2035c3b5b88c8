import {
  Client,
  connectivityState,
  Metadata,
  type ChannelCredentials,
  type ClientDuplexStream,
  type MethodDefinition,
} from '@grpc/grpc-js';
import type { Address } from './options.ts';
import { WATCH, type WatchRequest, type WatchResponse } from './wire.ts';

const OPTIONS = {
  // etcd ends connections that ping more often than every 5 s, so these pings only clear away what is dead; calls have deadlines of their own.
  'grpc.keepalive_time_ms': 10_000,
  'grpc.keepalive_timeout_ms': 5_000,
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.min_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 1_000,
  'grpc.max_receive_message_length': -1,
  'grpc.max_send_message_length': -1,
  'grpc.enable_retries': 0,
  'grpc.enable_http_proxy': 0,
  'grpc.service_config_disable_resolution': 1,
  'grpc.use_local_subchannel_pool': 1,
};

/** Sent as the name of a server that has none. */
const NO_NAME = { 'grpc.ssl_target_name_override': 'ip-address.invalid' };

/** One member, and the connection to it. */
export class Endpoint {
  readonly target: string;
  readonly #client: Client;
  #closed = false;
  /** Rises whenever the connection is lost: the next one may lead to another history. */
  connection = 1;
  /** The connection that was found to lead to the history that is known. */
  verified = 0;

  constructor(address: Address, credentials: ChannelCredentials) {
    this.target = address.target;
    this.#client = new Client(address.target, credentials, address.tls && address.ip !== undefined ? { ...OPTIONS, ...NO_NAME } : OPTIONS);
    this.#follow();
  }

  /** @throws what gRPC throws, within `millis` */
  call<Request, Response>(
    { path, requestSerialize, responseDeserialize }: MethodDefinition<Request, Response>,
    request: Request,
    millis: number,
    token?: string,
  ): Promise<Response> {
    return new Promise((resolve, reject) => {
      const answered = (error: Error | null, response?: Response): void => (error ? reject(error) : resolve(response as Response));
      this.#client.makeUnaryRequest(
        path,
        requestSerialize,
        responseDeserialize,
        request,
        metadataOf(token),
        { deadline: Date.now() + millis },
        answered,
      );
    });
  }

  /** A stream of watches; errors come as its event `error`. */
  watch(token?: string): ClientDuplexStream<WatchRequest, WatchResponse> {
    return this.#client.makeBidiStreamRequest(WATCH.path, WATCH.requestSerialize, WATCH.responseDeserialize, metadataOf(token));
  }

  close(): void {
    this.#closed = true;
    this.#client.close();
  }

  #follow(): void {
    if (this.#closed) return;
    const channel = this.#client.getChannel();
    const state = channel.getConnectivityState(false);
    channel.watchConnectivityState(state, Infinity, () => {
      if (state === connectivityState.READY) this.connection += 1;
      this.#follow();
    });
  }
}

function metadataOf(token: string | undefined): Metadata {
  const metadata = new Metadata();
  if (token !== undefined) metadata.set('token', token);
  return metadata;
}
