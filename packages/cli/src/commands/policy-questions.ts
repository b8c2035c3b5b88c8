import { readFile } from 'node:fs/promises';
import { defineCommand } from '../command.ts';
import { doing, EXIT, Failure } from '../failure.ts';
import { flag } from '../flag.ts';
import { readAll } from '../input.ts';
import type { Invocation } from '../invocation.ts';
import { isRecord, type JsonRecord } from '../json.ts';

/** The text of a policy: of a file, or of standard input for "-". */
export async function policyText(path: string, io: Pick<Invocation<unknown>['io'], 'stdin'>): Promise<string> {
  if (path === '-') return readAll(io.stdin);
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new Failure(`Error reading policy: ${(error as Error).message}`);
  }
}

const operation = flag.text('The call to ask about. Default: read.', {
  choices: ['create', 'read', 'update', 'patch', 'delete', 'list', 'scan'],
});

function records(value: unknown): JsonRecord[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

/** `dev, line 4: list, read` for each block of a rule. */
function sources(rule: unknown): string[] {
  const found = isRecord(rule) ? records(rule['sources']) : [];
  return found.map((one) => `${String(one['policy'])}, line ${String(one['line'])}: ${[one['capabilities']].flat().join(', ')}`);
}

export const explain = defineCommand({
  name: 'explain',
  synopsis: 'Explain why a call is allowed or refused',
  description:
    'Names the rule that decides, where it is written, what is missing, and a block that would allow the call. Asks about your own token unless a flag names ' +
    'another one, or policies. Nothing is called. The exit code is 2 where the call would be refused.',
  args: ['PATH'],
  flags: {
    operation,
    token: flag.text('Ask about this token.', { placeholder: 'token' }),
    accessor: flag.text('Ask about the token of this accessor.', { placeholder: 'accessor' }),
    policy: flag.list('Ask about whoever has this policy; repeatable.', { placeholder: 'name' }),
    draft: flag.text('Judge the policy in this file as if it were saved; "-" is standard input.', { placeholder: 'file' }),
    name: flag.text('The saved policy that the draft stands in for.', { placeholder: 'name' }),
  },
  examples: [
    { text: 'Why may I not read it?', command: 'policy explain secret/data/shop' },
    {
      text: 'Would the changed policy allow it?',
      command: 'policy explain -operation=update -policy=app -draft=app.hcl -name=app secret/data/shop',
    },
  ],
  async run({ args: [path = ''], flags, io, out, client }) {
    const draft = flags.draft === undefined ? undefined : await policyText(flags.draft, io);
    const policies = flags.policy.length === 0 ? undefined : flags.policy.flatMap((text) => text.split(','));
    const { token, accessor, name } = flags;
    const body = { path, operation: flags.operation, token, accessor, policies, draft, name };
    const own = [token, accessor, policies, draft, name].every((given) => given === undefined);
    const secret = await doing('Error explaining', client().secret('POST', `sys/policies/explain${own ? '-self' : ''}`, { body }));
    const data = secret?.data;
    if (!secret || !data) throw new Failure('The server returned no explanation', EXIT.remote);
    if (!out.plain || secret.wrap_info !== undefined) await out.secret(secret);
    else {
      out.warnings(secret);
      out.line(`${data['allowed'] === true ? 'allowed' : 'refused'}: ${String(data['reason'])}`);
      for (const line of sources(data['rule'])) out.line(`  ${line}`);
      if (data['missing'] !== undefined) out.line(`missing: ${String(data['missing'])}`);
      for (const line of sources(data['nearest'])) out.line(`nearest: ${line}`);
      if (data['suggestion'] !== undefined) out.line(`would allow it:\n${String(data['suggestion'])}`);
    }
    return data['allowed'] === true ? 0 : EXIT.remote;
  },
});

export const check = defineCommand({
  name: 'check',
  synopsis: 'Check a policy file without saving it',
  description:
    'Has the server read the policy in a file, or on standard input when the file is "-", and prints each problem with its line and column.',
  args: ['FILE'],
  flags: {},
  examples: [{ text: 'Before a commit:', command: 'policy check app.hcl' }],
  async run({ args: [file = ''], io, out, client }) {
    const policy = await policyText(file, io);
    const secret = await doing('Error checking policy', client().secret('POST', 'sys/policies/check', { body: { policy } }));
    const data = secret?.data ?? {};
    if (secret && (!out.plain || secret.wrap_info !== undefined)) await out.secret(secret);
    else {
      for (const one of records(data['complaints']))
        out.line(`${file}:${String(one['line'])}:${String(one['column'])}: ${String(one['severity'])}: ${String(one['message'])}`);
      if (data['left_out'] !== undefined) out.line(`and ${String(data['left_out'])} more`);
      if (data['valid'] === true) out.success(`The server would accept the policy: ${file}`);
    }
    return data['valid'] === true ? 0 : EXIT.local;
  },
});

export const who = defineCommand({
  name: 'who',
  synopsis: 'Show who may make a call',
  description:
    'Prints the policies that have a rule for the path, and who has them: token roles, roles, users and groups of login methods, entities and groups. Shows only ' +
    'what your token may read.',
  args: ['PATH'],
  flags: { operation },
  examples: [{ text: 'Who may read it?', command: 'policy who secret/data/shop' }],
  async run({ args: [path = ''], flags, out, client }) {
    const api = client();
    const policies: JsonRecord[] = [];
    const holders: JsonRecord[] = [];
    for (let after: string | undefined; ;) {
      const body = { path, operation: flags.operation, after };
      const secret = await doing('Error asking', api.secret('POST', 'sys/policies/who', { body }));
      if (!secret) throw new Failure('The server returned no answer', EXIT.remote);
      if (secret.wrap_info !== undefined || out.field !== undefined) return out.secret(secret);
      if (after === undefined) out.warnings(secret);
      policies.push(...records(secret.data?.['policies']));
      holders.push(...records(secret.data?.['holders']));
      const next = secret.data?.['next'];
      if (typeof next !== 'string') break;
      after = next;
    }
    const rows = [
      ...policies.map((one) => ['policy', String(one['name']), String(one['effect']), sources(one).join('; ')]),
      ...holders.map((one) => [
        String(one['kind']),
        `${String(one['mount'])}${String(one['name'])}`,
        String(one['effect'] ?? ''),
        [one['policies']].flat().join(', '),
      ]),
    ];
    await out.rows(['Kind', 'Name', 'Effect', 'By'], rows, { policies, holders });
  },
});
