import { ConfigurationInvalid, type DestinationHost, type DestinationSession } from '@strongroom/sync-sdk';
import { checkConnection, trimmedPath, type VaultConnection } from './connection.ts';
import { Kv2 } from './kv2.ts';
import { VaultSession } from './session.ts';
import { VaultApi } from './vault-api.ts';
import { VaultLogin } from './vault-login.ts';

/** @throws ConfigurationInvalid */
export async function openVault(connection: VaultConnection, host: DestinationHost): Promise<DestinationSession> {
  const [fault] = checkConnection(connection);
  if (fault !== undefined) throw new ConfigurationInvalid(fault);
  const api = new VaultApi(connection, host.network);
  const login = new VaultLogin(connection, api, host);
  const kv = new Kv2(api, login, { mount: trimmedPath(connection.mount), prefix: trimmedPath(connection.path_prefix) });
  return new VaultSession({ connection, host, api, login, kv });
}
