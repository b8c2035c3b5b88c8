import { defineCommand } from '../command.ts';
import { flag } from '../flag.ts';
import { doing, Failure } from '../failure.ts';
import { parsePairs } from '../kv-pairs.ts';

export default defineCommand({
  name: 'patch',
  synopsis: 'Change some fields of what is stored',
  description: 'Sends the data as a JSON merge patch: fields that are not named stay as they are. Data are given as for write.',
  args: ['PATH', '[DATA...]'],
  flags: { force: flag.boolean('Patch without any data.', { aliases: ['f'] }) },
  examples: [{ text: 'Change one field of a policy:', command: 'patch sys/policies/acl/dev cas_required=true' }],
  async run({ args: [path = '', ...pairs], flags, io, out, client }) {
    if (pairs.length === 0 && !flags.force) throw new Failure('Must supply data or use -force');
    const data = await parsePairs(pairs, io.stdin);
    const secret = await doing(`Error writing data to ${path}`, client().patch(path, data));
    if (secret === undefined) return out.success(`Data written to: ${path}`);
    await out.secret(secret);
  },
});
