import { SecretsManager } from '@aws-sdk/client-secrets-manager';
import { MotoDoor, type MotoServer } from '@strongroom/lab';
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

/** Secrets Manager as it is seen from outside. */
export class AwsOutside implements Outside {
  client!: SecretsManager;
  #door!: MotoDoor;

  async start(moto: MotoServer): Promise<void> {
    this.#door = await MotoDoor.open(moto);
    this.client = new SecretsManager({ endpoint: moto.endpoint, region: 'eu-central-1', credentials: CREDENTIALS });
  }

  get moto(): MotoServer {
    return this.#door.moto;
  }

  get endpoint(): string {
    return this.#door.endpoint;
  }

  get refusing(): string {
    return this.#door.refusing;
  }

  /** What was asked, in order: `DescribeSecret`, or `/` for STS. */
  get targets(): string[] {
    return this.#door.targets.map((target) => target.replace('secretsmanager.', ''));
  }

  get bodies(): readonly string[] {
    return this.#door.bodies;
  }

  async stop(): Promise<void> {
    this.client?.destroy();
    await this.#door?.stop();
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
    return this.#door.targets.length;
  }

  fail(how: 'throttled' | 'failing' | 'hanging'): void {
    this.#door.fail(how);
  }

  heal(): void {
    this.#door.heal();
  }
}
