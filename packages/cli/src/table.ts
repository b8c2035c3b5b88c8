import type { CommandNode } from './command.ts';

/** One word of the command line. `load` brings its declaration, so that `status` never pays for `kv`. */
export interface Verb {
  readonly name: string;
  readonly common?: true;
  readonly load: () => Promise<CommandNode>;
  readonly synopsis: string;
}

const verb = (name: string, synopsis: string, load: () => Promise<{ default: CommandNode }>, common?: true): Verb => ({
  name,
  synopsis,
  load: async () => (await load()).default,
  ...(common === undefined ? {} : { common }),
});

/** Every verb. A test holds each synopsis against the declaration that it loads. */
export const verbs: readonly Verb[] = [
  verb('read', 'Read data and retrieve secrets', () => import('./commands/read.ts'), true),
  verb('write', 'Write data, configuration, and secrets', () => import('./commands/write.ts'), true),
  verb('delete', 'Delete secrets and configuration', () => import('./commands/delete.ts'), true),
  verb('list', 'List data or secrets', () => import('./commands/list.ts'), true),
  verb('scan', 'List everything below a folder', () => import('./commands/scan.ts')),
  verb('patch', 'Change some fields of what is stored', () => import('./commands/patch.ts'), true),
  verb('login', 'Authenticate and remember the token', () => import('./commands/login.ts'), true),
  verb('server', 'Start a server', () => import('./commands/server.ts'), true),
  verb('status', 'Print seal and high-availability status', () => import('./commands/status.ts'), true),
  verb('unwrap', 'Unwrap a wrapped secret', () => import('./commands/unwrap.ts'), true),
  verb('audit', 'Work with audit devices', () => import('./commands/audit.ts')),
  verb('auth', 'Work with auth methods', () => import('./commands/auth.ts')),
  verb('completion', 'Print a script that completes words in a shell', () => import('./commands/completion.ts')),
  verb('exec', 'Run a command with secrets in its environment', () => import('./commands/exec.ts')),
  verb('journal', 'Work with unfinished changes to outside systems', () => import('./commands/journal.ts')),
  verb('kv', 'Work with the key-value secrets engine', () => import('./commands/kv.ts')),
  verb('lease', 'Work with leases', () => import('./commands/lease.ts')),
  verb('operator', 'Perform tasks of an operator', () => import('./commands/operator.ts')),
  verb('path-help', 'Print the help of a path of the API', () => import('./commands/path-help.ts')),
  verb('plugin', 'Work with plugins and the catalog', () => import('./commands/plugin.ts')),
  verb('policy', 'Work with policies', () => import('./commands/policy.ts')),
  verb('print', 'Print what the command line would use', () => import('./commands/print.ts')),
  verb('schedule', 'Work with jobs that are due later', () => import('./commands/schedule.ts')),
  verb('secrets', 'Work with secrets engines', () => import('./commands/secrets.ts')),
  verb('sync', 'Work with copies of secrets in other systems', () => import('./commands/sync.ts')),
  verb('token', 'Work with tokens', () => import('./commands/token.ts')),
  verb('version', 'Print the version', () => import('./commands/version.ts')),
];
