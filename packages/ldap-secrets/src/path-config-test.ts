import { EngineError, f, path, type AnyPath, type EngineHost } from '@strongroom/engine-sdk';
import {
  type Connection,
  type Directory,
  LdapError,
  bindNameOf,
  createDirectory,
  makePassword,
  requirePasswordFor,
  textOf,
} from '@strongroom/ldap-client';
import { Type, type Static } from 'typebox';
import { locate } from './account-entry.ts';
import { clientSettings, configFields, mergeConfig, serviceBinding, type LdapSecretsConfig } from './config.ts';
import type { DirectoryService } from './service.ts';

const Step = Type.Object({
  step: Type.Union([
    Type.Literal('connect'),
    Type.Literal('tls'),
    Type.Literal('service bind'),
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
type Step = Static<typeof Step>;
type StepName = Step['step'];

/** The steps of a try, in order, up to the first that fails. */
class Steps {
  readonly taken: Step[] = [];
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  passed(step: StepName, milliseconds: number, facts: Partial<Step> = {}): void {
    this.taken.push({ step, ok: true, milliseconds, ...facts });
  }

  failed(step: StepName, milliseconds: number, error: unknown, facts: Partial<Step> = {}): void {
    this.taken.push({ step, ok: false, milliseconds, error: textOf(error), ...facts });
  }

  get passing(): boolean {
    return this.taken.every(({ ok }) => ok);
  }

  get now(): number {
    return this.#now();
  }

  /** Undefined when it failed. */
  async take<T>(step: StepName, work: () => Promise<T>, facts: (result: T) => Partial<Step>): Promise<T | undefined> {
    const since = this.#now();
    try {
      const result = await work();
      this.passed(step, this.#now() - since, facts(result));
      return result;
    } catch (error) {
      if (!(error instanceof LdapError) && !(error instanceof EngineError)) throw error;
      this.failed(step, this.#now() - since, error);
      return undefined;
    }
  }
}

export function configTestPath(host: EngineHost, service: DirectoryService): AnyPath {
  return path('config/test', {
    synopsis: 'Tries a configuration: connect, TLS, bind, find an account, make a password.',
    description:
      'Uses the stored configuration with whatever parameters are sent in its place. Nothing is stored, and nothing is changed in the directory. ' +
      'With a password_policy one password is made by it, and thrown away. It takes sudo: who may call it can guess passwords of the directory.',
    access: 'sudo',
    fields: {
      ...configFields,
      username: f.string('Account to look up below userdn; without one, and without dn, the test ends after the bind.', { default: '' }),
      dn: f.string('Distinguished name of the account to look up instead.', { default: '' }),
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
      const { username, dn, ...sent } = req.data;
      if (stored) requirePasswordFor(stored, sent, req.supplied);
      const config = mergeConfig(stored, sent, req.supplied, 'of a test');
      const steps = new Steps(() => host.clock.millis());
      const directory = createDirectory(clientSettings(config), { clock: host.clock, log: host.log });
      try {
        const found = await walk(directory, config, { username, dn }, steps, req.signal);
        if (steps.passing && config.password_policy !== '') await tryPolicy(host, config, steps);
        return { data: { ok: steps.passing, steps: steps.taken, ...(found === undefined ? {} : { user_dn: found }) } };
      } finally {
        directory.close();
      }
    },
  });
}

async function walk(
  directory: Directory,
  config: LdapSecretsConfig,
  account: { readonly username: string; readonly dn: string },
  steps: Steps,
  signal: AbortSignal,
): Promise<string | undefined> {
  const connection = await connect(directory, steps, signal);
  if (!connection) return undefined;
  try {
    const name = bindNameOf(config);
    const bound = await steps.take(
      'service bind',
      async () => {
        await connection.bind(name, config.bindpass, { signal });
        return true;
      },
      () => ({ name, url: connection.url }),
    );
    if (!bound || (account.username === '' && account.dn === '')) return undefined;
    const found = await steps.take(
      'user search',
      async () =>
        directory.withServiceConnection(serviceBinding(config), async (kept) => locate(kept, config, account, signal), { signal }),
      ({ dn, server }) => ({ name: dn, ...(server === undefined ? {} : { url: server }) }),
    );
    return found?.dn;
  } finally {
    connection.close();
  }
}

async function tryPolicy(host: EngineHost, config: LdapSecretsConfig, steps: Steps): Promise<void> {
  await steps.take(
    'password',
    async () => makePassword(host, config),
    () => ({ name: config.password_policy }),
  );
}

/** A dial is two steps where there is TLS. */
async function connect(directory: Directory, steps: Steps, signal: AbortSignal): Promise<Connection | undefined> {
  const since = steps.now;
  try {
    const connection = await directory.connect(signal);
    const { dialMillis, tls } = connection.established;
    steps.passed('connect', dialMillis, { url: connection.url });
    if (tls) steps.passed('tls', tls.millis, { url: connection.url, protocol: tls.protocol });
    return connection;
  } catch (error) {
    if (!(error instanceof LdapError)) throw error;
    const { connectedMillis, url } = error;
    if (connectedMillis === undefined) steps.failed('connect', steps.now - since, error);
    else {
      steps.passed('connect', connectedMillis, { url });
      steps.failed('tls', steps.now - since - connectedMillis, error, { url });
    }
    return undefined;
  }
}
