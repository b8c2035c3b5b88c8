import { testReport } from '@strongroom/auth-sdk';
import { BadRequest, EngineError, f, path, type AnyPath } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import { LdapError, requirePasswordFor } from '@strongroom/ldap-client';
import { accountAttributes, identityAttributes } from './account-state.ts';
import { configFields, configWarnings, mergeConfig, type LdapAuthConfig } from './config.ts';
import type { ConfigStore } from './config-store.ts';
import { directoryLogin } from './directory-login.ts';
import { onPool } from './lender.ts';
import { directoryFailed } from './failures.ts';
import { searchGroups } from './group-search.ts';
import { problemOf } from './account-problem.ts';
import type { LoginRecords } from './login-records.ts';
import { loginName, type LoginName } from './login-name.ts';
import { provenName, recall, type PersonName } from './person.ts';
import type { RememberedNames } from './remembered-names.ts';
import { dereferenceWarnings, makeSetup, type Setup, type SetupParts } from './setup.ts';
import { Trace, type StepReport } from './trace.ts';
import { findUser } from './user-search.ts';

const texts = Type.Optional(Type.Array(Type.String()));
const Tested = testReport({ user_dn: Type.Optional(Type.String()), groups: texts, policies: texts });

interface Report {
  ok: boolean;
  steps: readonly StepReport[];
  user_dn?: string;
  groups?: readonly string[];
  policies?: readonly string[];
}

export function configTestPath(configs: ConfigStore, { mappings, names }: LoginRecords, parts: SetupParts): AnyPath {
  return path('config/test', {
    synopsis: 'Try a configuration: connect, encrypt, bind, find a user, its groups and policies.',
    description:
      'Uses the stored configuration with whatever parameters are sent in its place. Nothing is stored and no token is issued. ' +
      'With a password the user is bound as at a login; without one, only looked up. It takes sudo: who may call it can guess passwords.',
    access: 'sudo',
    fields: {
      ...configFields,
      username: f.string('User to look up; without one the test ends after the service bind.', { default: '' }),
      password: f.secret('Password of the user.', { default: '' }),
    },
  }).update({
    summary: 'Try a configuration without storing it.',
    response: Tested,
    handle: async (req) => {
      const stored = await configs.read();
      const { username, password, ...data } = req.data;
      requirePasswordFor(stored, data, req.supplied);
      const config = mergeConfig(stored, data, req.supplied);
      const setup = makeSetup(config, parts);
      const steps: StepReport[] = [];
      try {
        const trace = new Trace(parts.clock, (report) => steps.push(report));
        const found = await attempt(async () => {
          await reach(setup, trace, req.signal);
          return username.trim() === '' ? {} : await tryUser(setup, { mappings, names }, { username, password }, parts, trace, req.signal);
        });
        const warnings = [...configWarnings(config, req.supplied), ...dereferenceWarnings(config)];
        const report: Report = { ok: steps.every((step) => step.ok), steps, ...found };
        return { data: report, ...(warnings.length > 0 ? { warnings } : {}) };
      } finally {
        setup.directory.close();
      }
    },
  });
}

/** A failed step is in the trace; any other error is a bug of ours. */
async function attempt(work: () => Promise<Partial<Report>>): Promise<Partial<Report>> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof EngineError) return {};
    throw error;
  }
}

async function reach({ directory, searcher }: Setup, trace: Trace, signal: AbortSignal): Promise<void> {
  const began = trace.start();
  const connection = await directory.connect(signal).catch((error: unknown) => {
    const connected = error instanceof LdapError ? error.connectedMillis : undefined;
    if (connected === undefined) throw trace.failed('connect', began, {}, error, directoryFailed(error));
    trace.took('connect', connected);
    throw trace.failed('tls', began + connected, {}, error, directoryFailed(error));
  });
  try {
    const { dialMillis, tls } = connection.established;
    trace.took('connect', dialMillis, { url: connection.url });
    if (tls) trace.took('tls', tls.millis, { url: connection.url, protocol: tls.protocol });
    if (searcher === undefined || searcher.dn === '') return;
    const since = trace.start();
    const facts = { name: searcher.dn, url: connection.url };
    try {
      await connection.bind(searcher.dn, searcher.password, { allowUnauthenticated: searcher.allowUnauthenticated, signal });
    } catch (error) {
      throw trace.failed('service bind', since, facts, error, directoryFailed(error));
    }
    trace.passed('service bind', since, facts);
  } finally {
    connection.close();
  }
}

async function tryUser(
  setup: Setup,
  { mappings, names }: LoginRecords,
  { username, password }: { username: string; password: string },
  { clock }: SetupParts,
  trace: Trace,
  signal: AbortSignal,
): Promise<Partial<Report>> {
  const name = loginName(setup.config, username);
  const user =
    password === ''
      ? await lookUp(setup, names, name, clock.millis(), trace, signal)
      : await directoryLogin(setup, { name, password }, trace, { signal });
  if (!user) return {};
  if (!user.groups) return { user_dn: user.dn };
  const since = trace.start();
  const { policies } = await mappings.of(user.name.folded, user.groups, setup.config.case_sensitive_names);
  const all = tokenPolicies(setup.config, policies);
  trace.passed('policies', since, { count: all.length });
  return { user_dn: user.dn, groups: [...user.groups].sort(), policies: all };
}

/** Without a password. What only the user may search for is a failed step: undefined, or without groups. */
async function lookUp(
  setup: Setup,
  names: RememberedNames,
  name: LoginName,
  now: number,
  trace: Trace,
  signal: AbortSignal,
): Promise<{ dn: string; name: PersonName; groups?: string[] } | undefined> {
  if (!setup.searcher) {
    const nobody = 'nobody searches for users with this configuration: send the password, or set binddn and bindpass, or discoverdn';
    trace.failed('user search', trace.start(), {}, nobody, new BadRequest(nobody));
    return undefined;
  }
  const { searcher } = setup;
  const found = await findUser(setup, searcher, name.typed, [...identityAttributes, ...accountAttributes], trace, signal);
  const { entry } = found;
  const problem = await problemOf(setup, searcher, entry, now, trace, signal);
  if (problem !== undefined) throw trace.failed('account', trace.start(), { name: entry.dn }, problem, new BadRequest(problem));
  const person = await provenName(setup, searcher, await recall(setup, found, names), name, signal);
  const known = { dn: entry.dn, name: person };
  if (!setup.searchesGroups) return { ...known, groups: [] };
  if (!setup.groupSearcher) {
    const asUser =
      'the user searches for groups with this configuration: send the password, or set binddn and bindpass, or anonymous_group_search';
    trace.failed('group search', trace.start(), {}, asUser, new BadRequest(asUser));
    return known;
  }
  const member = { dn: entry.dn, server: entry.server, username: person.verbatim };
  return { ...known, groups: await searchGroups(setup, onPool(setup, setup.groupSearcher, signal), member, trace, signal) };
}

function tokenPolicies(config: LdapAuthConfig, mapped: readonly string[]): string[] {
  const own = config.token_no_default_policy ? [] : ['default'];
  return [...new Set([...config.token_policies, ...mapped, ...own])].sort();
}
