import { SSM } from '@aws-sdk/client-ssm';
import { MotoDoor, type MotoServer } from '@strongroom/lab';
import type { Outside, OutsideSecret } from '@strongroom/sync-testkit';
import type { AwsSsmConnection } from '../src/connection.ts';

const CREDENTIALS = { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' };

export function connectionTo(endpoint: string, more: Partial<AwsSsmConnection> = {}): AwsSsmConnection {
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
    tier: 'Standard',
    endpoint,
    sts_endpoint: endpoint,
    ...more,
  };
}

/** Parameter Store as it is seen from outside. */
export class SsmOutside implements Outside {
  client!: SSM;
  door!: MotoDoor;

  async start(moto: MotoServer): Promise<void> {
    this.door = await MotoDoor.open(moto);
    this.client = new SSM({ endpoint: moto.endpoint, region: 'eu-central-1', credentials: CREDENTIALS });
  }

  async stop(): Promise<void> {
    this.client?.destroy();
    await this.door?.stop();
  }

  async read(name: string): Promise<OutsideSecret | undefined> {
    try {
      const { Parameter } = await this.client.getParameter({ Name: name, WithDecryption: true });
      const { TagList = [] } = await this.client.listTagsForResource({ ResourceType: 'Parameter', ResourceId: name });
      return { value: Parameter?.Value ?? '', tags: Object.fromEntries(TagList.map(({ Key, Value }) => [Key ?? '', Value ?? ''])) };
    } catch (error) {
      if ((error as Error).name === 'ParameterNotFound') return undefined;
      throw error;
    }
  }

  async write(name: string, value: string): Promise<void> {
    await this.client.putParameter({ Name: name, Value: value, Type: 'SecureString', Overwrite: true });
  }

  async remove(name: string): Promise<void> {
    await this.client.deleteParameter({ Name: name });
  }

  /** The values of every parameter. */
  async all(): Promise<ReadonlyMap<string, string>> {
    const { Parameters = [] } = await this.client.getParametersByPath({ Path: '/', Recursive: true, WithDecryption: true });
    return new Map(Parameters.map(({ Name = '', Value = '' }) => [Name, Value]));
  }

  requests(): number {
    return this.door.targets.length;
  }

  fail(how: 'throttled' | 'failing' | 'hanging'): void {
    this.door.fail(how);
  }

  heal(): void {
    this.door.heal();
  }
}
