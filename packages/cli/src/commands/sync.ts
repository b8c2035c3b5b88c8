import type { CommandGroup } from '../command.ts';
import { associations } from './sync-associations.ts';
import { destinations } from './sync-destinations.ts';

const sync: CommandGroup = {
  name: 'sync',
  synopsis: 'Work with copies of secrets in other systems',
  subcommands: [destinations, associations],
};
export default sync;
