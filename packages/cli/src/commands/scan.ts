import { defineCommand } from '../command.ts';
import { doing } from '../failure.ts';
import { listKeys } from './list-keys.ts';

export default defineCommand({
  name: 'scan',
  synopsis: 'List everything below a folder',
  description: 'Lists the names of all secrets below a path, with their folders. It takes the capability "scan".',
  args: ['PATH'],
  flags: {},
  examples: [{ text: 'All secrets of a key-value mount:', command: 'scan secret/metadata' }],
  async run({ args: [path = ''], out, client }) {
    return listKeys(out, path, await doing(`Error scanning ${path}`, client().scan(path)));
  },
});
