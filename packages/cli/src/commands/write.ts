import { defineCommand } from '../command.ts';
import { flag } from '../flag.ts';
import { doing, Failure } from '../failure.ts';
import { parsePairs } from '../kv-pairs.ts';

export default defineCommand({
  name: 'write',
  synopsis: 'Write data, configuration, and secrets',
  description:
    'Writes to the path given. Data are words of the form key=value; key=@file takes the value from a file, key=- from standard input; @file.json and - take a whole JSON object.',
  args: ['PATH', '[DATA...]'],
  flags: { force: flag.boolean('Write without any data, for paths that need none.', { aliases: ['f'] }) },
  examples: [
    { text: 'Store a value:', command: 'write cubbyhole/git zip=zap' },
    { text: 'Take the data from a file:', command: 'write database/config/app @app.json' },
    { text: 'Call a path that takes no data:', command: 'write -force database/rotate-root/app' },
  ],
  async run({ args: [path = '', ...pairs], flags, io, out, client }) {
    if (pairs.length === 0 && !flags.force) throw new Failure('Must supply data or use -force');
    const data = await parsePairs(pairs, io.stdin);
    const secret = await doing(`Error writing data to ${path}`, client().write(path, data));
    if (secret === undefined) {
      if (out.field !== undefined) throw new Failure(`Field "${out.field}" not present in secret: the answer was empty`);
      return out.success(`Data written to: ${path}`);
    }
    await out.secret(secret);
  },
});
