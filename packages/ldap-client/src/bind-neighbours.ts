import { Neighbours } from '@strongroom/rotation';
import { bindNameOf, type BindAccount } from './bind-account.ts';
import { isDn, normalizeDn } from './dn.ts';
import { LdapError } from './error.ts';
import { canonicalServers, serverUrls } from './server-urls.ts';

type Bound = Pick<BindAccount, 'url' | 'binddn' | 'upndomain'>;

interface Question {
  readonly bound: Bound;
  /** The mount that asks. */
  readonly mount: string;
}

const mounts = new Neighbours<Question>();

/** `read`: the configuration of the mount at `path`; undefined without one. The function that is returned ends it. */
export function joinBindNeighbours(path: string, read: () => Promise<Bound | undefined>): () => void {
  return mounts.join(async ({ bound, mount }) => {
    if (mount === path) return [];
    const own = await read();
    return own !== undefined && own.binddn !== '' && nameOf(own) === nameOf(bound) && haveServerInCommon(own, bound) ? [path] : [];
  });
}

/** The paths of the other mounts, of either kind, that log in with the same account at the same server. */
export async function sharersOf(mount: string, bound: Bound): Promise<string[]> {
  return bound.binddn === '' ? [] : (await mounts.ask({ bound, mount })).sort();
}

/** The warning of a mount that shares its account. */
export function sharingWarnings(sharers: readonly string[]): string[] {
  return sharers.map(
    (path) =>
      `binddn: ${path} logs in with the same account; a rotation of its password in one of the two mounts locks the other one out: ` +
      'give each an account of its own',
  );
}

function nameOf(bound: Bound): string {
  const name = bindNameOf(bound);
  return (isDn(name) ? normalizeDn(name) : name).toLowerCase();
}

function haveServerInCommon(one: Bound, other: Bound): boolean {
  const servers = new Set(serversOf(other));
  return serversOf(one).some((server) => servers.has(server));
}

function serversOf({ url }: Bound): string[] {
  return serverUrls(url).map((text) => {
    try {
      return canonicalServers([text]);
    } catch (error) {
      // Stored by an older release, which did not check it.
      if (error instanceof LdapError) return text;
      throw error;
    }
  });
}
