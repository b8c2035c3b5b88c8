import { defineCommand } from '../command.ts';
import type { ServerFinding } from '../cli-io.ts';
import { EXIT } from '../failure.ts';
import { flag } from '../flag.ts';
import { loadServer } from '../load-server.ts';

const MARKS = { ok: '[  ok  ]', warning: '[ warn ]', failure: '[ fail ]', skipped: '[ skip ]' } as const;

export const diagnose = defineCommand({
  name: 'diagnose',
  synopsis: 'Check the configuration and the machine before a start',
  description:
    'Looks for what would keep a server from starting, or from being safe: the configuration, permissions and room of the storage and whether it opens, the key of the seal, listeners with the path and end of their certificates, plugins, clock, open files, core dumps, swap and user. Run it as the user of the server. It starts nothing. Exits with 0 when all is well, 2 with warnings, and 1 with failures.',
  args: [],
  local: true,
  flags: { config: flag.list('Configuration file or folder, HCL or JSON; repeatable.', { placeholder: 'path' }) },
  examples: [
    { text: 'Would a server with this configuration start?', command: 'operator diagnose -config=/etc/strongroom.hcl' },
    { text: 'The same for a program:', command: 'operator diagnose -config=/etc/strongroom.hcl -format=json' },
  ],
  async run({ flags, io, out }) {
    const findings = await (await loadServer(io)).diagnose(flags.config ?? [], { env: io.env });
    const some = (status: ServerFinding['status']): boolean => findings.some((finding) => finding.status === status);
    if (out.plain) for (const finding of findings) out.line(lineOf(finding));
    else await out.record({ status: some('failure') ? 'failure' : some('warning') ? 'warning' : 'ok', findings });
    return some('failure') ? EXIT.local : some('warning') ? EXIT.remote : EXIT.ok;
  },
});

function lineOf({ check, status, message, advice }: ServerFinding): string {
  return `${MARKS[status]} ${check}: ${message}${advice === undefined ? '' : `\n         ${advice}`}`;
}
