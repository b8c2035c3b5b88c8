export { runCli } from './run-cli.ts';
export { renderCliReference } from './reference.ts';
export type { CliIo } from './cli-io.ts';
