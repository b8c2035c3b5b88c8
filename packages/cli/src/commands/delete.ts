import { defineCommand } from '../command.ts';
import { doing } from '../failure.ts';
import { parseQuery } from '../kv-pairs.ts';

export default defineCommand({
  name: 'delete',
  synopsis: 'Delete secrets and configuration',
  description: 'Deletes what is at the path given. Deleting what is not there succeeds.',
  args: ['PATH', '[K=V...]'],
  flags: {},
  examples: [{ text: 'Remove a role:', command: 'delete database/roles/readonly' }],
  async run({ args: [path = '', ...pairs], io, out, client }) {
    const query = pairs.length === 0 ? undefined : await parseQuery(pairs, io.stdin);
    const secret = await doing(`Error deleting ${path}`, client().delete(path, query));
    if (secret !== undefined) out.warnings(secret);
    out.success(`Data deleted (if it existed) at: ${path}`);
  },
});
