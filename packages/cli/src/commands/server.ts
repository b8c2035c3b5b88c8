import { defineCommand } from '../command.ts';
import { flag } from '../flag.ts';
import { loadServer } from '../load-server.ts';

export default defineCommand({
  name: 'server',
  synopsis: 'Start a server',
  description:
    'Starts a server and runs until it is stopped. With -dev it keeps everything in memory, is unsealed, and prints its root token: for testing only. Without -config it stores into a folder of its own and listens on the loopback address.',
  args: [],
  local: true,
  flags: {
    config: flag.list('Configuration file or folder, HCL or JSON; repeatable.', { placeholder: 'path' }),
    'log-level': flag.text('Least level to log: trace, debug, info, warn or error.', { placeholder: 'level' }),
    dev: flag.boolean('Development mode: in memory, unsealed, with a known root token.'),
    'dev-root-token-id': flag.text('Root token of development mode.', { placeholder: 'token' }),
    'dev-listen-address': flag.text('Address of development mode. Default: 127.0.0.1:8200.', { placeholder: 'host:port' }),
  },
  examples: [
    { text: 'A server to try things with:', command: 'server -dev -dev-root-token-id=root' },
    { text: 'A server with a configuration:', command: 'server -config=/etc/strongroom.hcl' },
  ],
  async run({ flags, given, io }) {
    const argv: string[] = [];
    for (const [name, value] of Object.entries(flags)) {
      if (!given.has(name)) continue;
      for (const item of Array.isArray(value) ? (value as readonly string[]) : [value])
        argv.push(item === true ? `-${name}` : `-${name}=${String(item)}`);
    }
    const { runServer } = await loadServer(io);
    return runServer(argv);
  },
});
