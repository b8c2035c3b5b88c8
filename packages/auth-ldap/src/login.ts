import { requireAddress, termsFor } from '@strongroom/auth-sdk';
import { BadRequest, type EngineResponse } from '@strongroom/engine-sdk';
import { directoryLogin, type DirectoryUser } from './directory-login.ts';
import { credentialsRefused } from './failures.ts';
import { loginName } from './login-name.ts';
import type { LoginCall } from './path-login.ts';
import type { LoginInternal } from './renewal.ts';
import type { Setup } from './setup.ts';
import type { Trace } from './trace.ts';
import type { LoginRecords } from './login-records.ts';

/** Directories hang up on requests that are too long for them, which would pass for an outage. */
const LONGEST_PASSWORD = 65_536;

/** @throws BadRequest or TokenRefused for what counts against the user, UpstreamFailed for what does not. */
export async function login(
  setup: Setup,
  { mappings, names }: LoginRecords,
  call: LoginCall,
  trace: Trace,
): Promise<EngineResponse<Record<string, never>>> {
  const { config } = setup;
  const name = loginName(config, call.username);
  requireAddress(config, call.remoteAddress);
  if (call.password === '' && config.deny_null_bind) {
    throw new BadRequest('password cannot be of zero length when passwordless binds are being denied');
  }
  if (Buffer.byteLength(call.password) > LONGEST_PASSWORD) throw new BadRequest(`password is longer than ${LONGEST_PASSWORD} bytes`);
  if (name.typed === '') throw credentialsRefused();
  const user = await directoryLogin(setup, { name, password: call.password }, trace, { signal: call.signal, countAs: call.countAs, names });
  const { folded } = user.name;
  const { policies, localGroups } = await mappings.of(folded, user.groups, config.case_sensitive_names);
  return {
    data: {},
    ...(user.groups.length === 0 ? { warnings: [noGroups(config.groupdn)] } : {}),
    auth: {
      displayName: folded,
      policies: [...config.token_policies, ...policies],
      metadata: { username: folded },
      alias: { ...user.alias, metadata: { name: folded } },
      groupAliases: [...new Set([...localGroups, ...user.groups])],
      terms: termsFor(config, call.remoteAddress),
      internal: { ...internalOf(setup, name.typed, user) },
    },
  };
}

function noGroups(groupdn: string): string {
  return `no LDAP groups found in groupDN ${JSON.stringify(groupdn)}; only policies from locally-defined groups available`;
}

/** What a renewal needs; the folded name and the groups only where it cannot ask for them again. */
function internalOf(setup: Setup, username: string, user: DirectoryUser): LoginInternal {
  return {
    username,
    ...(user.identity === undefined ? {} : { identity: user.identity }),
    ...(setup.searcher ? {} : { name: user.name.folded }),
    ...(setup.searcher && setup.groupSearcher ? {} : { groups: user.groups }),
  };
}
