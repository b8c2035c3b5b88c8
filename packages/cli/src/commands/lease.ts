import type { CommandGroup } from '../command.ts';
import { defineCommand } from '../command.ts';
import { flag } from '../flag.ts';
import { doing, EXIT, Failure } from '../failure.ts';
import { leftOutside } from './unmount.ts';

const lookup = defineCommand({
  name: 'lookup',
  synopsis: 'Print the state of a lease',
  args: ['ID'],
  flags: {},
  examples: [{ text: 'When does it end?', command: 'lease lookup database/creds/readonly/2f6a614c' }],
  async run({ args: [id = ''], out, client }) {
    const secret = await doing(`Error looking up lease id ${id}`, client().write('sys/leases/lookup', { lease_id: id }));
    if (secret === undefined) throw new Failure(`No lease found with id ${id}`, EXIT.remote);
    await out.secret(secret);
  },
});

const renew = defineCommand({
  name: 'renew',
  synopsis: 'Renew a lease',
  args: ['ID'],
  flags: { increment: flag.duration('How long the lease shall live from now on. The engine may grant less.', { aliases: ['i'] }) },
  examples: [{ text: 'An hour from now:', command: 'lease renew -increment=1h database/creds/readonly/2f6a614c' }],
  async run({ args: [id = ''], flags, out, client }) {
    const body = { lease_id: id, increment: Math.trunc(flags.increment ?? 0) };
    const secret = await doing(`Error renewing ${id}`, client().write('sys/leases/renew', body));
    if (secret === undefined) return out.success(`Renewed lease: ${id}`);
    await out.secret(secret);
  },
});

const revoke = defineCommand({
  name: 'revoke',
  synopsis: 'Revoke a lease, or all below a prefix',
  description:
    'Revokes a lease, and with it the secret. The server works on it in the background unless -sync is given, and retries what fails: ' +
    '"strongroom read sys/internal/ui/attention" lists the failures.',
  args: ['ID | PREFIX'],
  flags: {
    prefix: flag.boolean('Revoke every lease below the prefix given.'),
    force: flag.boolean('Forget the leases even if their secrets cannot be removed. Only with -prefix.', { aliases: ['f'] }),
    sync: flag.boolean('Wait until it is done.'),
  },
  examples: [
    { text: 'Revoke one lease:', command: 'lease revoke database/creds/readonly/2f6a614c' },
    { text: 'Revoke all of a role:', command: 'lease revoke -prefix database/creds/readonly' },
  ],
  async run({ args: [id = ''], flags, out, client }) {
    if (flags.force && !flags.prefix) throw new Failure('-force needs -prefix: a single lease cannot be revoked by force');
    const name = id.replace(/^\/+/, '');
    const path = flags.force ? `revoke-force/${name}` : flags.prefix ? `revoke-prefix/${name}` : `revoke/${name}`;
    if (flags.force) out.warn('Warning! Force-removing leases can leave secrets behind in the systems that they are for.\n');
    const body = flags.force ? undefined : { sync: flags.sync };
    const what = flags.prefix ? `Error revoking leases with prefix ${id}` : `Error revoking lease ${id}`;
    const secret = await doing(what, client().secret('PUT', `sys/leases/${path}`, body === undefined ? {} : { body }));
    if (secret !== undefined) {
      out.warnings(secret);
      await leftOutside(out, secret);
    }
    if (flags.force) return out.success(`Force revoked any leases with prefix: ${id}`);
    if (!flags.sync) {
      if (out.plain) out.line('All revocation operations queued successfully!');
      return;
    }
    out.success(flags.prefix ? `Revoked any leases with prefix: ${id}` : `Revoked lease: ${id}`);
  },
});

const lease: CommandGroup = { name: 'lease', synopsis: 'Work with leases', subcommands: [lookup, renew, revoke] };
export default lease;
