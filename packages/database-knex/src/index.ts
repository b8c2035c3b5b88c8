export { Attempts } from './attempts.ts';
export type { ConnectionDriver } from './connection-driver.ts';
export { booleanWord, flagParameter, numberParameter } from './connection-parameters.ts';
export {
  ConnectionReader,
  type ConnectionReaderOptions,
  type ConnectionTarget,
  type ConnectionUrl,
  fillPlaceholders,
  takeKey,
} from './connection-reader.ts';
export { Dialer, type DialerOptions } from './dialer.ts';
export { KnexPool, openKnexPool, retire } from './knex-pool.ts';
export { NotConnected } from './not-connected.ts';
export { type PoolFields, poolSettings, type PoolSettings } from './pool-settings.ts';
export { retry, type RetryOptions } from './retry.ts';
export { serverAnswers, type ServerAnswerRules, type ServerAnswers } from './server-answers.ts';
export type { Removal, SqlDriver } from './sql-driver.ts';
export { type SqlLogin, sqlPlugin, type SqlPlugin } from './sql-plugin.ts';
export type { SqlDefaults, SqlRules } from './sql-rules.ts';
export { SqlSession, type SqlSessionOptions } from './sql-session.ts';
export { runInOrder, standardTransaction, type Transaction } from './transaction.ts';
