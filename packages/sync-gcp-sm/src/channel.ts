import { v1 } from '@google-cloud/secret-manager';
import { grpc } from 'google-gax';
import { ConfigurationInvalid, type DestinationHost } from '@strongroom/sync-sdk';
import { callOptions, type GrpcCallOptions } from './call-options.ts';
import { type Caller, openCaller, SECRET_MANAGER } from './caller.ts';
import type { GcpSmConnection, GcpSmOptions } from './connection.ts';

export type SecretManagerClient = InstanceType<typeof v1.SecretManagerServiceClient>;

/** What a call needs: the client, the project, and options that say who calls and when to give up. */
export interface Line {
  readonly client: SecretManagerClient;
  readonly parent: string;
  /** New ones for every call: the client writes into them. */
  options(): GrpcCallOptions;
}

interface Channel {
  readonly client: SecretManagerClient;
  readonly caller: Caller;
}

/**
 * The way to Secret Manager. gRPC resolves names by itself, so they are resolved and checked here, and the channel goes to the addresses found.
 * It is opened by the first call, and again after `drop`.
 */
export class SecretManagerChannel {
  readonly #connection: GcpSmConnection;
  readonly #host: DestinationHost;
  readonly #options: GcpSmOptions;
  readonly #endpoint: { readonly host: string; readonly port: number };
  #channel: Promise<Channel> | undefined;

  constructor(connection: GcpSmConnection, host: DestinationHost, options: GcpSmOptions) {
    this.#connection = connection;
    this.#host = host;
    this.#options = options;
    this.#endpoint = { host: SECRET_MANAGER, port: 443, ...options.endpoint };
  }

  async line(signal: AbortSignal): Promise<Line> {
    const channel = (this.#channel ??= this.#open());
    channel.catch(() => {
      if (this.#channel === channel) this.#channel = undefined;
    });
    const { client, caller } = await channel;
    const headers = await caller.auth.getRequestHeaders(`https://${SECRET_MANAGER}/`);
    const who = Object.fromEntries(headers.entries());
    return { client, parent: `projects/${caller.projectId}`, options: () => callOptions(who, signal) };
  }

  /** The addresses may have changed: the next call resolves the name again. */
  async drop(): Promise<void> {
    const channel = this.#channel;
    this.#channel = undefined;
    await channel?.then(({ client }) => client.close()).catch(() => undefined);
  }

  async #open(): Promise<Channel> {
    const { host, port } = this.#endpoint;
    const addresses = await this.#host.network.resolve(host, port);
    const caller = await openCaller(this.#connection, this.#host, this.#options);
    if (caller.projectId === '') throw new ConfigurationInvalid('project_id is required: the credentials name no project');
    const family = addresses.some((one) => one.family === 4) ? 4 : 6;
    const targets = addresses.filter((one) => one.family === family).map(({ address }) => (family === 4 ? address : `[${address}]`));
    const client = new v1.SecretManagerServiceClient({
      authClient: caller.auth,
      projectId: caller.projectId,
      // The library appends the port to the last.
      servicePath: `ipv${family}:${targets.map((target, index) => (index === targets.length - 1 ? target : `${target}:${port}`)).join(',')}`,
      port,
      sslCreds: grpc.credentials.createSsl(this.#options.ca === undefined ? null : Buffer.from(this.#options.ca)),
      'grpc.ssl_target_name_override': host,
      'grpc.default_authority': host,
      'grpc.enable_retries': 0,
    } as ConstructorParameters<typeof v1.SecretManagerServiceClient>[0]);
    // A failing initialization that a call begins would be an unhandled rejection inside the library.
    await client.initialize();
    return { client, caller };
  }
}
