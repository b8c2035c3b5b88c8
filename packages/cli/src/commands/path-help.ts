import { defineCommand } from '../command.ts';
import { doing, EXIT, Failure } from '../failure.ts';

export default defineCommand({
  name: 'path-help',
  synopsis: 'Print the help of a path of the API',
  description: 'Prints what the server says about a path: its fields, and the paths below it.',
  args: ['PATH'],
  flags: {},
  examples: [{ text: 'What the database engine offers:', command: 'path-help database' }],
  async run({ args: [path = ''], out, client }) {
    const page = await doing(`Error retrieving help for ${path}`, client().record('GET', path, { query: { help: '1' }, unwrapped: true }));
    if (out.field !== undefined) return out.pick(page, out.field);
    if (out.format !== 'table') return out.document(page);
    if (typeof page['help'] !== 'string') throw new Failure(`No help found at ${path}`, EXIT.remote);
    out.line(page['help'].trimEnd());
  },
});
