import { connectionSecrets, type DatabasePlugin } from '@strongroom/database-sdk';
import type { Static, TObject } from 'typebox';
import type { PoolFields } from './pool-settings.ts';
import type { SqlDriver } from './sql-driver.ts';
import { previewCreation, type SqlRules } from './sql-rules.ts';
import { SqlSession } from './sql-session.ts';

type Described<C extends TObject> = Pick<
  DatabasePlugin<C>,
  'name' | 'version' | 'code' | 'connection' | 'usernameTemplate' | 'usernameMaxLength' | 'identify' | 'canonicalUser'
>;

/** What differs between plugins whose sessions are `SqlSession`s. */
export interface SqlPlugin<C extends TObject, Connection extends object> extends Described<C>, SqlRules {
  /** `native`: the database itself refuses an expired user. */
  readonly expiry: DatabasePlugin['supports']['expiry'];
  /** What the error of a failed verification begins with. */
  readonly verificationPrefix?: string;
  /** Checks the settings and loads the driver. Must not connect. Throws ConfigurationInvalid. */
  driver(config: Static<C>): Promise<SqlDriver<Connection>>;
}

/** A plugin for a database whose users are made by SQL: it issues passwords, and certificates where it has `subject`. */
export function sqlPlugin<C extends TObject, Connection extends object>(plugin: SqlPlugin<C, Connection>): DatabasePlugin<C> {
  const { dialect, defaults, expiration, subject, expiry, verificationPrefix, driver: load, ...described } = plugin;
  const rules: SqlRules = { name: plugin.name, dialect, defaults, expiration, subject };
  return {
    kind: 'database',
    apiVersion: 1,
    ...described,
    supports: { credentials: subject ? ['password', 'client_certificate'] : ['password'], expiry, statements: 'sql' },
    preview: (request) => previewCreation(rules, request),
    async open(config, host) {
      const driver = await load(config);
      return SqlSession.open({
        rules: { ...rules, defaults: { ...defaults, ...driver.defaults } },
        driver,
        pool: config as PoolFields,
        secrets: { ...connectionSecrets(plugin.connection, config as Record<string, unknown>), ...driver.secrets },
        log: host.log,
        verificationPrefix,
      });
    },
  };
}
