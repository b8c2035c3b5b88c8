import { defineCommand } from '../command.ts';
import { flag } from '../flag.ts';
import { doing, Failure } from '../failure.ts';
import { leaderOf, showSealStatus } from './seal-status.ts';

export const unseal = defineCommand({
  name: 'unseal',
  synopsis: 'Give the server a key share',
  description:
    'Sends one key share to a sealed server. The server unseals when it has enough shares. Without KEY, the command prompts for it.',
  args: ['[KEY]'],
  flags: {
    reset: flag.boolean('Forget the shares that came so far.'),
    migrate: flag.boolean('The share is for moving to another seal.'),
  },
  examples: [{ text: 'Enter a share at the prompt:', command: 'operator unseal' }],
  async run({ args: [word], flags, io, out, client, ask }) {
    if (flags.reset && word !== undefined) throw new Failure('Too many arguments with -reset');
    let key = word;
    if (key === '-') key = (await (await import('../input.ts')).readAll(io.stdin)).trim();
    if (key === undefined && !flags.reset) {
      key = await ask(
        'Unseal Key (will be hidden): ',
        'The key share is missing: give it as an argument, or "-" to read it from standard input',
      );
    }
    const api = client();
    const body = flags.reset ? { reset: true } : { key, migrate: flags.migrate };
    const seal = await doing('Error unsealing', api.record('PUT', 'sys/unseal', { body, unwrapped: true }));
    await showSealStatus(out, seal, await leaderOf(api));
  },
});

export const seal = defineCommand({
  name: 'seal',
  synopsis: 'Seal the server',
  description: 'Makes the server forget its keys. It answers nothing more until it is unsealed.',
  args: [],
  flags: {},
  examples: [{ text: 'Seal the server:', command: 'operator seal' }],
  async run({ out, client }) {
    await doing('Error sealing', client().call('PUT', 'sys/seal', { unwrapped: true }));
    out.success('Strongroom is sealed.');
  },
});

export const stepDown = defineCommand({
  name: 'step-down',
  synopsis: 'Make the active node give up its role',
  args: [],
  flags: {},
  examples: [{ text: 'Let another node take over:', command: 'operator step-down' }],
  async run({ out, client }) {
    const api = client();
    await doing('Error stepping down', api.call('PUT', 'sys/step-down', { unwrapped: true }));
    out.success(`Stepped down: ${api.connection.address}`);
  },
});
