import { createClient } from 'redis';

/** Logs in past the plugin and runs one command; by default reads a key below the user's own name. */
export async function login(port: number, username: string, password: string, command = ['GET', `${username}:x`]): Promise<unknown> {
  const client = createClient({ RESP: 2, username, password, socket: { host: '127.0.0.1', port, reconnectStrategy: false } });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await client.sendCommand(command);
  } finally {
    client.destroy();
  }
}
