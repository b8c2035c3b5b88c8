import { defineCommand } from '../command.ts';
import { doing, EXIT, Failure } from '../failure.ts';
import { parseQuery } from '../kv-pairs.ts';

export default defineCommand({
  name: 'read',
  synopsis: 'Read data and retrieve secrets',
  description:
    'Reads from the path given: a stored secret, a configuration, or credentials made for this call. Words of the form key=value go along as query parameters.',
  args: ['PATH', '[K=V...]'],
  flags: {},
  examples: [
    { text: 'Details of your own token:', command: 'read auth/token/lookup-self' },
    { text: 'A database login, made on the spot:', command: 'read database/creds/readonly' },
  ],
  async run({ args: [path = '', ...pairs], io, out, client }) {
    const query = pairs.length === 0 ? undefined : await parseQuery(pairs, io.stdin);
    const secret = await doing(`Error reading ${path}`, client().read(path, query));
    if (secret === undefined) throw new Failure(`No value found at ${path}`, EXIT.remote);
    await out.secret(secret);
  },
});
