import { defineCommand, type CommandGroup } from '../command.ts';
import { doing, EXIT, Failure } from '../failure.ts';
import { parsePairs } from '../kv-pairs.ts';

const PATH = 'sys/storage/raft/snapshot-auto';

const write = defineCommand({
  name: 'write',
  synopsis: 'Create or change a series of scheduled snapshots',
  description:
    'The server takes a snapshot at once and at each interval from then on, and keeps the last ones (retain). Settings that are left out stay. A secret is best given as KEY=@FILE.',
  args: ['NAME', 'K=V...'],
  flags: {},
  examples: [
    {
      text: 'A snapshot every hour, of which the last day is kept:',
      command: 'operator snapshot auto write hourly storage_type=local path_prefix=/backup interval=1h retain=24',
    },
    {
      text: 'One a day in a bucket:',
      command:
        'operator snapshot auto write daily storage_type=aws-s3 aws_s3_bucket=backups aws_s3_region=eu-central-1 path_prefix=strongroom/ interval=24h retain=30',
    },
  ],
  async run({ args: [name = '', ...pairs], io, out, client }) {
    await doing('Error writing the settings', client().write(`${PATH}/config/${name}`, await parsePairs(pairs, io.stdin)));
    out.success(`Snapshots of ${name} are scheduled. See: operator snapshot auto status ${name}`);
  },
});

const read = defineCommand({
  name: 'read',
  synopsis: 'Show the settings of a series',
  description: 'Shows the settings without secrets.',
  args: ['NAME'],
  flags: {},
  examples: [{ text: 'Where do they go, and how many are kept?', command: 'operator snapshot auto read hourly' }],
  async run({ args: [name = ''], out, client }) {
    const secret = await doing('Error reading the settings', client().read(`${PATH}/config/${name}`));
    if (!secret) throw new Failure(`There are no scheduled snapshots ${name}.`, EXIT.remote);
    await out.secret(secret);
  },
});

const status = defineCommand({
  name: 'status',
  synopsis: 'Show the status of a series',
  description: 'Shows the last good snapshot, the last error, the next attempt and what is kept.',
  args: ['NAME'],
  flags: {},
  examples: [{ text: 'When was the last good one?', command: 'operator snapshot auto status hourly' }],
  async run({ args: [name = ''], out, client }) {
    const secret = await doing('Error reading the status', client().read(`${PATH}/status/${name}`));
    if (!secret) throw new Failure(`There are no scheduled snapshots ${name}.`, EXIT.remote);
    await out.secret(secret);
  },
});

const list = defineCommand({
  name: 'list',
  synopsis: 'List the series of scheduled snapshots',
  description: 'Lists their names.',
  args: [],
  flags: {},
  examples: [{ text: 'Which are there?', command: 'operator snapshot auto list' }],
  async run({ out, client }) {
    const secret = await doing('Error listing the series', client().list(`${PATH}/config`));
    if (!secret) throw new Failure('No snapshots are scheduled.', EXIT.remote);
    await out.secret(secret);
  },
});

const run = defineCommand({
  name: 'run',
  synopsis: 'Take a scheduled snapshot now',
  description: 'Does not wait for the snapshot: the status tells what becomes of it.',
  args: ['NAME'],
  flags: {},
  examples: [{ text: 'Before an upgrade:', command: 'operator snapshot auto run hourly' }],
  async run({ args: [name = ''], out, client }) {
    await doing('Error taking a snapshot', client().write(`${PATH}/run/${name}`, {}));
    out.success(`A snapshot of ${name} is due now. See: operator snapshot auto status ${name}`);
  },
});

const remove = defineCommand({
  name: 'delete',
  synopsis: 'Delete a series',
  description: 'No more snapshots are taken. Those that were taken stay.',
  args: ['NAME'],
  flags: {},
  examples: [{ text: 'No more of them:', command: 'operator snapshot auto delete hourly' }],
  async run({ args: [name = ''], out, client }) {
    await doing('Error deleting the series', client().delete(`${PATH}/config/${name}`));
    out.success(`Snapshots of ${name} are no longer scheduled (if they were). The snapshots stay.`);
  },
});

export const auto: CommandGroup = {
  name: 'auto',
  synopsis: 'Let the server take snapshots by itself',
  description: 'Series of snapshots that the server takes by its schedule, checks, and keeps in a folder or a bucket.',
  subcommands: [write, read, list, status, run, remove],
};
