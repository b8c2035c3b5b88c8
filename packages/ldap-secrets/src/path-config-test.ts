import {
  BadRequest,
  EngineError,
  f,
  path,
  StepTrace,
  untilStepFails,
  type AnyPath,
  type EngineHost,
  type StepReport,
} from '@strongroom/engine-sdk';
import {
  type Connection,
  type Directory,
  LdapError,
  bindNameOf,
  createDirectory,
  makePassword,
  requirePasswordFor,
} from '@strongroom/ldap-client';
import { Type, type Static } from 'typebox';
import { type AccountAddress, locate } from './account-entry.ts';
import { clientSettings, configFields, mergeConfig, serviceBinding, type LdapSecretsConfig } from './config.ts';
import { loginNameOf, ownEntry } from './own-account.ts';
import type { DirectoryService } from './service.ts';

const Step = Type.Object({
  step: Type.Union([
    Type.Literal('connect'),
    Type.Literal('tls'),
    Type.Literal('service bind'),
    Type.Literal('account bind'),
    Type.Literal('user search'),
    Type.Literal('password'),
  ]),
  ok: Type.Boolean(),
  milliseconds: Type.Number(),
  /** The server that answered. */
  url: Type.Optional(Type.String()),
  protocol: Type.Optional(Type.String({ description: 'Of TLS.' })),
  name: Type.Optional(Type.String({ description: 'The name that was bound, the entry that was found, or the password policy.' })),
  error: Type.Optional(Type.String()),
});
type Facts = Pick<Static<typeof Step>, 'url' | 'protocol' | 'name'>;
type StepName = Static<typeof Step>['step'];
type Trace = StepTrace<StepName, Facts>;

export function configTestPath(host: EngineHost, service: DirectoryService): AnyPath {
  return path('config/test', {
    synopsis: 'Tries a configuration: connect, TLS, bind, find an account, make a password.',
    description:
      'Uses the stored configuration with whatever parameters are sent in its place. Nothing is stored, and nothing is changed in the directory. ' +
      'With self_managed an account logs in, where its password is sent, and finds itself. ' +
      'With a password_policy one password is made by it, and thrown away. It takes sudo: who may call it can guess passwords of the directory.',
    access: 'sudo',
    fields: {
      ...configFields,
      username: f.string('Account to look up below userdn; without one, and without dn, the test ends after the bind.', { default: '' }),
      dn: f.string('Distinguished name of the account to look up instead.', { default: '' }),
      password: f.secret('Password of that account, with self_managed: it logs in. Without one, the test ends after connect and tls.'),
    },
  }).update({
    summary: 'Tries a configuration without storing it.',
    response: Type.Object({
      ok: Type.Boolean(),
      steps: Type.Array(Step),
      user_dn: Type.Optional(Type.String()),
    }),
    handle: async (req) => {
      const stored = await service.read();
      const { username, dn, password, ...sent } = req.data;
      if (stored) requirePasswordFor(stored, sent, req.supplied);
      const config = mergeConfig(stored, sent, req.supplied, 'of a test');
      const account = { username, dn };
      const own = config.self_managed ? ownLogin(config, account, password) : undefined;
      if (!config.self_managed && password !== undefined) {
        throw new BadRequest('password: it is used with self_managed alone; otherwise the service account looks the account up');
      }
      const steps: StepReport<StepName, Facts>[] = [];
      const trace: Trace = new StepTrace(host.clock, (report) => steps.push(report));
      const directory = createDirectory(clientSettings(config), { clock: host.clock, log: host.log });
      let found: string | undefined;
      try {
        await untilStepFails(async () => {
          found = config.self_managed
            ? await walkAsAccount(directory, { config, account, own }, trace, req.signal)
            : await walk(directory, config, account, trace, req.signal);
          if (config.password_policy !== '') await tryPolicy(host, config, trace);
        });
      } finally {
        directory.close();
      }
      return { data: { ok: steps.every(({ ok }) => ok), steps, ...(found === undefined ? {} : { user_dn: found }) } };
    },
  });
}

async function walk(
  directory: Directory,
  config: LdapSecretsConfig,
  account: { readonly username: string; readonly dn: string },
  trace: Trace,
  signal: AbortSignal,
): Promise<string | undefined> {
  const connection = await connect(directory, trace, signal);
  try {
    const name = bindNameOf(config);
    const binding = async (): Promise<void> => connection.bind(name, config.bindpass, { signal });
    await trace.take('service bind', binding, { facts: () => ({ name, url: connection.url }), reasonFor });
    if (account.username === '' && account.dn === '') return undefined;
    const found = await trace.take(
      'user search',
      async () =>
        directory.withServiceConnection(serviceBinding(config), async (kept) => locate(kept, config, account, signal), { signal }),
      { facts: ({ dn, server }) => ({ name: dn, ...(server === undefined ? {} : { url: server }) }), reasonFor },
    );
    return found.dn;
  } finally {
    connection.close();
  }
}

interface OwnLogin {
  readonly bindName: string;
  readonly password: string;
}

/** How the account logs in; undefined where none is sent. @throws BadRequest for half of it */
function ownLogin(config: LdapSecretsConfig, account: AccountAddress, password: string | undefined): OwnLogin | undefined {
  const isNamed = account.username !== '' || account.dn !== '';
  if (!isNamed && password !== undefined) throw new BadRequest('password: whose it is must be sent with it, as dn or username');
  if (isNamed && password === undefined) {
    throw new BadRequest('password: with self_managed the account logs in to find itself; send its password, or leave out username and dn');
  }
  return password === undefined ? undefined : { bindName: loginNameOf(config, account), password };
}

async function walkAsAccount(
  directory: Directory,
  { config, account, own }: { readonly config: LdapSecretsConfig; readonly account: AccountAddress; readonly own: OwnLogin | undefined },
  trace: Trace,
  signal: AbortSignal,
): Promise<string | undefined> {
  const connection = await connect(directory, trace, signal);
  try {
    if (own === undefined) return undefined;
    const { bindName: name, password } = own;
    const binding = async (): Promise<void> => connection.bind(name, password, { signal });
    await trace.take('account bind', binding, { facts: () => ({ name, url: connection.url }), reasonFor });
    const search = async () => ownEntry(connection, config, account, signal);
    const { dn } = await trace.take('user search', search, { facts: (found) => ({ name: found.dn }), reasonFor });
    return dn;
  } finally {
    connection.close();
  }
}

async function tryPolicy(host: EngineHost, config: LdapSecretsConfig, trace: Trace): Promise<void> {
  await trace.take('password', async () => makePassword(host, config), { facts: () => ({ name: config.password_policy }), reasonFor });
}

/** A dial is two steps where there is TLS. */
async function connect(directory: Directory, trace: Trace, signal: AbortSignal): Promise<Connection> {
  const since = trace.start();
  try {
    const connection = await directory.connect(signal);
    const { dialMillis, tls } = connection.established;
    trace.took('connect', dialMillis, { url: connection.url });
    if (tls) trace.took('tls', tls.millis, { url: connection.url, protocol: tls.protocol });
    return connection;
  } catch (error) {
    if (!(error instanceof LdapError)) throw error;
    const { connectedMillis, url } = error;
    if (connectedMillis === undefined) throw trace.stopped('connect', since, {}, error);
    trace.took('connect', connectedMillis, { url });
    throw trace.stopped('tls', since + connectedMillis, { url }, error);
  }
}

/** What a test is made to find. @throws any other error */
function reasonFor(error: unknown): unknown {
  if (error instanceof LdapError || error instanceof EngineError) return error;
  throw error;
}
