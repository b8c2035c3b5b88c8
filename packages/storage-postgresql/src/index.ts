export { postgresqlStorage } from './postgresql-storage.ts';
export type { PostgresqlOptions } from './postgresql-storage.ts';
