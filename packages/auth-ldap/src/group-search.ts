import { escapeFilterValue, type Connection, type LdapEntry, LdapError } from '@strongroom/ldap-client';
import type { Lender } from './lender.ts';
import { directoryFailed, unreachable } from './failures.ts';
import { groupNames } from './group-names.ts';
import type { Setup } from './setup.ts';
import { sidText } from './sid.ts';
import type { Facts, Trace } from './trace.ts';

/** Look-ups of token groups that are under way at once on the connection. */
const LOOKUPS = 16;

export interface GroupMember {
  readonly dn: string;
  /** `server` of the user's `LdapEntry`. */
  readonly server?: string | undefined;
  readonly username: string;
}

/** The names of the groups of a user, each once. @throws UpstreamFailed */
export async function searchGroups(setup: Setup, lend: Lender, user: GroupMember, trace: Trace, signal?: AbortSignal): Promise<string[]> {
  const { config } = setup;
  let since = trace.start();
  const began = (): void => void (since = trace.start());
  let facts: Facts = config.use_token_groups ? { base: user.dn, filter: '(objectClass=*)' } : { base: config.groupdn };
  let entries: LdapEntry[];
  try {
    if (config.use_token_groups) {
      entries = await lend((connection) => {
        began();
        return tokenGroups(setup, connection, user, signal);
      });
    } else {
      const filter = setup.renderGroupFilter({ UserDN: escapeFilterValue(user.dn), Username: escapeFilterValue(user.username) });
      facts = { base: config.groupdn, filter };
      entries = await lend((connection) => {
        began();
        return connection.search({
          base: config.groupdn,
          filter,
          attributes: [setup.groupAttribute],
          derefAliases: setup.dereference,
          signal,
          ...(config.max_page_size > 0 ? { pageSize: config.max_page_size } : {}),
        });
      });
    }
  } catch (error) {
    const answer = directoryFailed(error, `LDAP search failed: ${(error as Error).message}`);
    throw trace.failed(unreachable(error) ? 'connect' : 'group search', since, facts, error, answer);
  }
  const names = groupNames(entries, setup.groupAttribute, { exactCase: config.use_pre111_group_cn_behavior });
  trace.passed('group search', since, { ...facts, count: names.length });
  return names;
}

/** The groups that Active Directory itself counts, nested ones too; those that may not be read are left out. */
async function tokenGroups(
  setup: Setup,
  connection: Connection,
  { dn, server }: GroupMember,
  signal: AbortSignal | undefined,
): Promise<LdapEntry[]> {
  const [user] = await connection.search({ base: dn, scope: 'base', attributes: ['tokenGroups'], signal, server });
  const sids = (user?.buffers('tokenGroups') ?? []).flatMap((bytes) => sidText(bytes) ?? []);
  const found: LdapEntry[] = [];
  for (let start = 0; start < sids.length; start += LOOKUPS) {
    const some = sids.slice(start, start + LOOKUPS).map(async (sid) => {
      try {
        return await connection.search({ base: `<SID=${sid}>`, scope: 'base', attributes: [setup.groupAttribute], signal, server });
      } catch (error) {
        if (error instanceof LdapError && error.answered) return [];
        throw error;
      }
    });
    found.push(...(await Promise.all(some)).flat());
  }
  return found;
}
