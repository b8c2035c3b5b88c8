import { writeFile } from 'node:fs/promises';
import type { CommandGroup } from '../command.ts';
import { defineCommand } from '../command.ts';
import { doing, EXIT, Failure } from '../failure.ts';
import { formatHcl } from '../format/hcl.ts';
import { check, explain, policyText, who } from './policy-questions.ts';

const list = defineCommand({
  name: 'list',
  synopsis: 'List the names of all policies',
  args: [],
  flags: {},
  examples: [{ text: 'Which policies are there?', command: 'policy list' }],
  async run({ out, client }) {
    const secret = await doing('Error listing policies', client().list('sys/policies/acl'));
    if (secret?.wrap_info !== undefined || out.field !== undefined) return secret === undefined ? undefined : out.secret(secret);
    const keys = secret?.data?.['keys'];
    const names = Array.isArray(keys) ? keys.map(String) : [];
    if (out.format === 'json' || out.format === 'yaml') return out.document(names);
    for (const name of names) out.line(name);
  },
});

const read = defineCommand({
  name: 'read',
  synopsis: 'Print a policy',
  args: ['NAME'],
  words: { NAME: 'policy' },
  flags: {},
  examples: [{ text: 'What may holders of it do?', command: 'policy read default' }],
  async run({ args: [word = ''], out, client }) {
    const name = word.trim().toLowerCase();
    const secret = await doing(`Error reading policy named ${name}`, client().read(`sys/policies/acl/${name}`));
    if (secret === undefined) throw new Failure(`No policy named: ${name}`, EXIT.remote);
    if (!out.plain || secret.wrap_info !== undefined) return out.secret(secret);
    out.line(String(secret.data?.['policy'] ?? '').trim());
  },
});

const write = defineCommand({
  name: 'write',
  synopsis: 'Upload a policy',
  description: 'Uploads the policy in a file, or on standard input when the file is "-". A policy of that name is replaced.',
  args: ['NAME', 'FILE'],
  words: { NAME: 'policy' },
  flags: {},
  examples: [
    { text: 'Upload a file:', command: 'policy write app app.hcl' },
    { text: 'Upload what another command prints:', command: 'policy write app -' },
  ],
  async run({ args: [word = '', file = ''], io, out, client }) {
    const name = word.trim().toLowerCase();
    const policy = await policyText(file, io);
    const secret = await doing('Error uploading policy', client().write(`sys/policies/acl/${name}`, { policy }));
    if (secret !== undefined) out.warnings(secret);
    out.success(`Uploaded policy: ${name}`);
  },
});

const remove = defineCommand({
  name: 'delete',
  synopsis: 'Remove a policy',
  description: 'Removes a policy. Tokens that hold it lose what it allows at once.',
  args: ['NAME'],
  words: { NAME: 'policy' },
  flags: {},
  examples: [{ text: 'Remove a policy:', command: 'policy delete app' }],
  async run({ args: [word = ''], out, client }) {
    const name = word.trim().toLowerCase();
    await doing(`Error deleting ${name}`, client().delete(`sys/policies/acl/${name}`));
    out.success(`Deleted policy: ${name}`);
  },
});

const fmt = defineCommand({
  name: 'fmt',
  synopsis: 'Format a policy file',
  description: 'Rewrites a policy file with even indentation and spacing. A file that is not well-formed stays as it is.',
  args: ['FILE'],
  local: true,
  flags: {},
  examples: [{ text: 'Tidy a file:', command: 'policy fmt app.hcl' }],
  async run({ args: [file = ''], io, out }) {
    const before = await policyText(file, io);
    const after = formatHcl(before);
    if (after !== before) await writeFile(file, after);
    out.success(`Formatted policy: ${file}`);
  },
});

const policy: CommandGroup = {
  name: 'policy',
  synopsis: 'Work with policies',
  subcommands: [list, read, write, remove, fmt, check, explain, who],
};
export default policy;
