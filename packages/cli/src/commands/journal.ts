import { defineCommand, type CommandGroup } from '../command.ts';
import { doing, EXIT, Failure } from '../failure.ts';
import { recordsOf, showRecords, textOf } from './record-rows.ts';
import { leftOutside } from './unmount.ts';
import { workFlags, workQuery } from './work-flags.ts';

const PATH = 'sys/journal';

const list = defineCommand({
  name: 'list',
  synopsis: 'List changes to outside systems that are not finished',
  description: 'The oldest change comes first. What is not finished is undone at its next attempt. Needs sudo.',
  args: [],
  flags: workFlags,
  examples: [
    { text: 'What is under way?', command: 'journal list' },
    { text: 'What could not be undone yet?', command: 'journal list -failing' },
  ],
  async run({ flags, out, client }) {
    const secret = await doing('Error listing the journal', client().read(PATH, workQuery(flags)));
    await showRecords(
      out,
      secret,
      recordsOf(secret?.data?.['intents']),
      [
        ['ID', (entry) => entry['id']],
        ['Mount', (entry) => entry['mount']],
        ['Kind', (entry) => entry['kind']],
        ['Opened', (entry) => entry['opened']],
        ['Attempts', (entry) => entry['attempts']],
        ['Next Attempt', (entry) => entry['next_attempt']],
        ['Outside', (entry) => `${textOf(entry, 'leaves', 'kind')} ${textOf(entry, 'leaves', 'name')}`],
        ['Last Error', (entry) => textOf(entry, 'last_error', 'message')],
      ],
      'The journal is empty.',
    );
  },
});

const read = defineCommand({
  name: 'read',
  synopsis: 'Print one change that is not finished',
  args: ['ID'],
  flags: {},
  examples: [{ text: 'Why does it fail?', command: 'journal read 2f6a614c' }],
  async run({ args: [id = ''], out, client }) {
    const secret = await doing(`Error reading ${id}`, client().read(`${PATH}/${id}`));
    if (secret === undefined) throw new Failure(`The journal has no entry ${id}`, EXIT.remote);
    await out.secret(secret);
  },
});

const retry = defineCommand({
  name: 'retry',
  synopsis: 'Try now to undo or finish a change',
  description: 'Tries at once, even while the circuit breaker of the outside system is open, and prints why it failed.',
  args: ['ID'],
  flags: {},
  examples: [{ text: 'The database is back:', command: 'journal retry 2f6a614c' }],
  async run({ args: [id = ''], out, client }) {
    await doing(`Error retrying ${id}`, client().write(`${PATH}/${id}/retry`, {}));
    out.success(`Finished: ${id}`);
  },
});

const forget = defineCommand({
  name: 'forget',
  synopsis: 'Forget a change without undoing it',
  description: 'For outside systems that are gone for good. Prints what may be left there.',
  args: ['ID'],
  flags: {},
  examples: [{ text: 'The database no longer exists:', command: 'journal forget 2f6a614c' }],
  async run({ args: [id = ''], out, client }) {
    const secret = await doing(`Error forgetting ${id}`, client().secret('DELETE', `${PATH}/${id}`));
    if (secret !== undefined) {
      out.warnings(secret);
      await leftOutside(out, secret);
    }
    out.success(`Forgot: ${id}`);
  },
});

const journal: CommandGroup = {
  name: 'journal',
  synopsis: 'Work with unfinished changes to outside systems',
  subcommands: [list, read, retry, forget],
};
export default journal;
