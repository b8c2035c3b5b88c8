import { connectionSecrets, type DatabasePlugin } from '@strongroom/database-sdk';
import type { Static, TObject } from 'typebox';
import type { PoolFields } from './pool-settings.ts';
import type { SqlDriver } from './sql-driver.ts';
import { previewCreation, type SqlRules } from './sql-rules.ts';
import { SqlSession } from './sql-session.ts';

type Described<C extends TObject> = Pick<
  DatabasePlugin<C>,
  'name' | 'version' | 'code' | 'connection' | 'usernameTemplate' | 'usernameMaxLength' | 'canonicalUser'
>;

/** As whom the settings of a connection log in. */
export interface SqlLogin {
  readonly user: string | undefined;
  readonly password: string | undefined;
}

/** What differs between plugins whose sessions are `SqlSession`s. `Target`: what the plugin reads out of the settings, such as a `ConnectionTarget`. */
export interface SqlPlugin<C extends TObject, Connection extends object, Target extends SqlLogin> extends Described<C>, SqlRules {
  /** `native`: the database itself refuses an expired user. */
  readonly expiry: DatabasePlugin['supports']['expiry'];
  /** The driver's `deleteUser` reassigns or drops what a user owns, where it is asked to. Default: it cannot. */
  readonly ownedObjects?: boolean;
  /** The driver has `changeOwnPassword`. */
  readonly selfManaged?: boolean;
  /** What the error of a failed verification begins with. */
  readonly verificationPrefix?: string;
  /** Where the settings lead, and as whom. Throws ConfigurationInvalid. */
  target(config: Static<C>): Target;
  /** The server or cluster, in canonical form, as `ConnectionIdentity` has it. Absent: the text of the address fields. */
  system?(target: Target, config: Static<C>): string;
  /** Checks the settings and loads the driver. Must not connect. Throws ConfigurationInvalid. */
  driver(target: Target, config: Static<C>): Promise<SqlDriver<Connection>>;
}

/** A plugin for a database whose users are made by SQL: it issues passwords, and certificates where it has `subject`. */
export function sqlPlugin<C extends TObject, Connection extends object, Target extends SqlLogin>(
  plugin: SqlPlugin<C, Connection, Target>,
): DatabasePlugin<C> {
  const {
    dialect,
    defaults,
    expiration,
    subject,
    expiry,
    ownedObjects,
    selfManaged,
    verificationPrefix,
    target: targetOf,
    system,
    driver: load,
    ...described
  } = plugin;
  const rules: SqlRules = { name: plugin.name, dialect, defaults, expiration, subject };
  return {
    kind: 'database',
    apiVersion: 2,
    ...described,
    supports: {
      credentials: subject ? ['password', 'client_certificate'] : ['password'],
      expiry,
      statements: 'sql',
      ...(ownedObjects && { ownedObjects }),
      ...(selfManaged && { selfManaged }),
    },
    ...(system && {
      identify(config) {
        const target = targetOf(config);
        return { system: system(target, config), username: target.user };
      },
    }),
    preview: (request) => previewCreation(rules, request),
    async open(config, host) {
      const target = targetOf(config);
      const driver = await load(target, config);
      const { password } = target;
      return SqlSession.open({
        rules: { ...rules, defaults: { ...defaults, ...driver.defaults } },
        driver,
        pool: config as PoolFields,
        secrets: {
          ...connectionSecrets(plugin.connection, config as Record<string, unknown>),
          ...(password !== undefined && { password }),
        },
        log: host.log,
        verificationPrefix,
      });
    },
  };
}
