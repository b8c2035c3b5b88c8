import { ConfigurationInvalid, type DestinationHost, type DestinationSession } from '@strongroom/sync-sdk';
import { SecretManagerChannel } from './channel.ts';
import { checkConnection, type GcpSmConnection, type GcpSmOptions } from './connection.ts';
import { parseCredentials } from './credentials.ts';
import { replicationOf } from './replication.ts';
import { GcpSmSession } from './session.ts';

export async function openGcpSm(connection: GcpSmConnection, host: DestinationHost, options: GcpSmOptions): Promise<DestinationSession> {
  const [fault] = checkConnection(connection);
  if (fault !== undefined) throw new ConfigurationInvalid(fault);
  const { credentials } = connection;
  const secrets = credentials ? [credentials, parseCredentials(credentials).private_key] : [];
  return new GcpSmSession(new SecretManagerChannel(connection, host, options), replicationOf(connection), host, secrets);
}
