import type { CommandGroup } from '../command.ts';
import { defineCommand } from '../command.ts';
import { Failure } from '../failure.ts';
import { findToken } from '../token-store.ts';

const token = defineCommand({
  name: 'token',
  synopsis: 'Print the token that commands would send',
  description: 'Prints the token from the environment, or else the one that login stored.',
  args: [],
  local: true,
  flags: {},
  examples: [{ text: 'Use the token in another tool:', command: 'print token' }],
  async run({ io, out }) {
    const found = findToken(io.env);
    if (found === undefined) throw new Failure('There is no token: log in, or set STRONGROOM_TOKEN');
    if (out.format === 'json' || out.format === 'yaml') await out.document(found);
    else out.line(found);
  },
});

const group: CommandGroup = { name: 'print', synopsis: 'Print what the command line would use', subcommands: [token] };
export default group;
