import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SecretsManager } from '@aws-sdk/client-secrets-manager';
import type { MotoServer } from '@strongroom/lab';
import type { Outside, OutsideSecret } from '@strongroom/sync-testkit';
import type { AwsSmConnection } from '../src/connection.ts';

const CREDENTIALS = { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' };

export function connectionTo(endpoint: string, more: Partial<AwsSmConnection> = {}): AwsSmConnection {
  return {
    access_key_id: CREDENTIALS.accessKeyId,
    secret_access_key: CREDENTIALS.secretAccessKey,
    region: 'eu-central-1',
    role_arn: undefined,
    external_id: undefined,
    identity_token_audience: undefined,
    identity_token_key: undefined,
    identity_token_ttl: undefined,
    kms_key_id: undefined,
    replica_regions: undefined,
    recovery_window_in_days: 7,
    endpoint,
    sts_endpoint: endpoint,
    ...more,
  };
}

/** The form in which the service says what is wrong. */
function refuse(response: ServerResponse, status: number, type: string, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1', 'x-amzn-requestid': 'req-1234', ...headers });
  response.end(JSON.stringify({ __type: type, message: `${type} says no` }));
}

/** moto behind a door that counts, and fails as the service does: moto neither throttles nor refuses in the service's own form. */
export class AwsOutside implements Outside {
  client!: SecretsManager;
  /** What was asked, in order: `DescribeSecret`, or `/` for STS. */
  readonly targets: string[] = [];
  readonly bodies: string[] = [];
  #moto!: MotoServer;
  #door!: Server;
  #refusing!: Server;
  #failing: 'throttled' | 'failing' | 'hanging' | undefined;

  async start(moto: MotoServer): Promise<void> {
    this.#moto = moto;
    this.client = new SecretsManager({ endpoint: moto.endpoint, region: 'eu-central-1', credentials: CREDENTIALS });
    this.#door = await listening((request, response) => this.#pass(request, response));
    this.#refusing = await listening((request, response) => {
      request.resume();
      refuse(response, 400, 'UnrecognizedClientException');
    });
  }

  get moto(): MotoServer {
    return this.#moto;
  }

  get endpoint(): string {
    return addressOf(this.#door);
  }

  /** Where every request is refused for its credentials. */
  get refusing(): string {
    return addressOf(this.#refusing);
  }

  async stop(): Promise<void> {
    this.client?.destroy();
    for (const server of [this.#door, this.#refusing]) {
      server?.closeAllConnections();
      server?.close();
    }
    await this.#moto?.stop();
  }

  async read(name: string): Promise<OutsideSecret | undefined> {
    try {
      const { SecretString } = await this.client.getSecretValue({ SecretId: name });
      const { Tags = [] } = await this.client.describeSecret({ SecretId: name });
      return { value: SecretString ?? '', tags: Object.fromEntries(Tags.map(({ Key, Value }) => [Key ?? '', Value ?? ''])) };
    } catch (error) {
      if (['ResourceNotFoundException', 'InvalidRequestException'].includes((error as Error).name)) return undefined;
      throw error;
    }
  }

  async write(name: string, value: string): Promise<void> {
    try {
      await this.client.putSecretValue({ SecretId: name, SecretString: value });
    } catch {
      await this.client.createSecret({ Name: name, SecretString: value });
    }
  }

  async remove(name: string): Promise<void> {
    await this.client.deleteSecret({ SecretId: name, ForceDeleteWithoutRecovery: true });
  }

  async softDelete(name: string): Promise<void> {
    await this.client.deleteSecret({ SecretId: name, RecoveryWindowInDays: 7 });
  }

  requests(): number {
    return this.targets.length;
  }

  fail(how: 'throttled' | 'failing' | 'hanging'): void {
    this.#failing = how;
  }

  heal(): void {
    this.#failing = undefined;
  }

  #pass(request: IncomingMessage, response: ServerResponse): void {
    this.targets.push(String(request.headers['x-amz-target'] ?? request.url).replace('secretsmanager.', ''));
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      this.bodies.push(Buffer.concat(chunks).toString());
      if (this.#failing === 'throttled') return refuse(response, 400, 'ThrottlingException', { 'retry-after': '7' });
      if (this.#failing === 'failing') return refuse(response, 500, 'InternalServiceError');
      if (this.#failing === 'hanging') return;
      const { host: _host, connection: _connection, ...headers } = request.headers;
      fetch(`${this.#moto.endpoint}${request.url}`, {
        method: 'POST',
        headers: headers as Record<string, string>,
        body: Buffer.concat(chunks),
      })
        .then(async (answer) => {
          const type = answer.headers.get('content-type') ?? 'application/json';
          response.writeHead(answer.status, { 'content-type': type, 'x-amzn-requestid': 'req-1234' });
          response.end(Buffer.from(await answer.arrayBuffer()));
        })
        .catch(() => response.destroy());
    });
  }
}

async function listening(handle: (request: IncomingMessage, response: ServerResponse) => void): Promise<Server> {
  const server = createServer(handle);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

function addressOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
