import { defineCommand } from '../command.ts';
import { doing } from '../failure.ts';
import { listKeys } from './list-keys.ts';

export default defineCommand({
  name: 'list',
  synopsis: 'List data or secrets',
  description: 'Lists the names under a path. Folders end with a slash.',
  args: ['PATH'],
  flags: {},
  examples: [{ text: 'The tokens roles:', command: 'list auth/token/roles' }],
  async run({ args: [path = ''], out, client }) {
    return listKeys(out, path, await doing(`Error listing ${path}`, client().list(path)));
  },
});
