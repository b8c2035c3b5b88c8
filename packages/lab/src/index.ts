export { startDirectory, type Directory, type DirectoryPerson } from './directory-server.ts';
export { embeddedPostgres, findPostgres, startPostgres, type PostgresOptions, type PostgresServer } from './postgres-server.ts';
