import { Neighbours } from '@strongroom/rotation';
import { systemOf, type Connection } from './connection.ts';

type Login = Pick<Connection, 'connection_uri' | 'username'>;

interface Question {
  readonly login: Login;
  /** The mount that asks. */
  readonly mount: string;
}

const mounts = new Neighbours<Question>();

/** `read`: the connection of the mount at `path`; undefined without one. The function that is returned ends it. */
export function joinUserNeighbours(path: string, read: () => Promise<Login | undefined>): () => void {
  return mounts.join(async ({ login, mount }) => {
    if (mount === path) return [];
    const own = await read();
    return own !== undefined && own.username === login.username && systemOf(own) === systemOf(login) ? [path] : [];
  });
}

/** The paths of the other mounts that log in as the same managing user of the same RabbitMQ. */
export async function sharersOf(mount: string, login: Login): Promise<string[]> {
  return (await mounts.ask({ login, mount })).sort();
}

/** The warning of a mount that shares its managing user. */
export function sharingWarnings(sharers: readonly string[]): string[] {
  return sharers.map(
    (path) =>
      `username: ${path} logs in as the same user; a rotation of its password in one of the two mounts locks the other one out: ` +
      'give each a user of its own',
  );
}
