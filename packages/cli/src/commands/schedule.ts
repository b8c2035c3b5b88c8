import { defineCommand, type CommandGroup } from '../command.ts';
import { doing } from '../failure.ts';
import { isRecord } from '../json.ts';
import { recordsOf, showRecords, textOf, type Column } from './record-rows.ts';
import { workFlags, workQuery } from './work-flags.ts';

const PATH = 'sys/schedule';

const COLUMNS: readonly Column[] = [
  ['Job', (job) => job['job']],
  [
    'For',
    (job) => (job['noun'] === null ? `${textOf(job, 'kind')} ${textOf(job, 'id')}` : `${textOf(job, 'noun')} ${textOf(job, 'name')}`),
  ],
  ['Mount', (job) => job['mount']],
  ['State', (job) => job['state']],
  ['Next Attempt', (job) => job['next_attempt']],
  ['Last Success', (job) => job['last_success']],
  ['Last Error', (job) => textOf(job, 'last_error', 'message')],
];

const list = defineCommand({
  name: 'list',
  synopsis: 'List the jobs of all engines',
  description: 'Rotations, revocations and other work that is due later, with its last error. Needs sudo.',
  args: [],
  flags: workFlags,
  examples: [
    { text: 'What is due when?', command: 'schedule list' },
    { text: 'Which rotations fail?', command: 'schedule list -failing -mount=database/' },
  ],
  async run({ flags, out, client }) {
    const secret = await doing('Error listing the schedule', client().read(PATH, workQuery(flags)));
    await showRecords(out, secret, recordsOf(secret?.data?.['jobs']), COLUMNS, 'No jobs are scheduled.');
  },
});

const circuits = defineCommand({
  name: 'circuits',
  synopsis: 'List the outside systems that keep failing',
  description: 'The server does not ask a system whose circuit breaker is open until the time given.',
  args: [],
  flags: {},
  examples: [{ text: 'Which systems are not asked at the moment?', command: 'schedule circuits' }],
  async run({ out, client }) {
    const secret = await doing('Error listing the circuit breakers', client().read(PATH, { limit: '1' }));
    await showRecords(
      out,
      secret,
      recordsOf(secret?.data?.['circuits']),
      [
        ['System', (circuit) => circuit['target']],
        ['Failures', (circuit) => circuit['failures']],
        ['Open Until', (circuit) => circuit['until']],
      ],
      'All circuit breakers are closed.',
    );
  },
});

const run = defineCommand({
  name: 'run',
  synopsis: 'Run a job now',
  description:
    'Waits for the job, even while the circuit breaker of its outside system is open, and prints why it failed. A job does what is due.',
  args: ['JOB'],
  flags: {},
  examples: [{ text: 'Repeat what failed, and see the result:', command: 'schedule run rotation/2f6a614c' }],
  async run({ args: [job = ''], out, client }) {
    const secret = await doing(`Error running ${job}`, client().write(`${PATH}/run`, { job }));
    if (!out.plain && secret !== undefined) return out.secret(secret);
    const after = secret?.data?.['job'];
    out.success(isRecord(after) ? `Ran ${job}. It is due again at ${textOf(after, 'next_attempt')}.` : `Ran ${job}. It is finished.`);
  },
});

const retry = defineCommand({
  name: 'retry',
  synopsis: 'Make a job due now',
  description: 'Does not wait for the job. The list shows MOUNT, KIND and ID with -format=json.',
  args: ['MOUNT', 'KIND', 'ID'],
  flags: {},
  examples: [{ text: 'Rotate without waiting for the backoff:', command: 'schedule retry database/ rotation app' }],
  async run({ args: [mount = '', kind = '', id = ''], out, client }) {
    await doing(`Error retrying ${id}`, client().write(`${PATH}/retry`, { mount, kind, id }));
    out.success(`Due now: ${kind} ${id} of ${mount}`);
  },
});

const schedule: CommandGroup = {
  name: 'schedule',
  synopsis: 'Work with jobs that are due later',
  subcommands: [list, circuits, run, retry],
};
export default schedule;
