import { readFileSync } from 'node:fs';
import { defineCommand } from '../command.ts';

function packageVersion(): string {
  const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string };
  return manifest.version;
}

export default defineCommand({
  name: 'version',
  synopsis: 'Print the version',
  description: "Prints the version of this command line. The server's own is part of status.",
  args: [],
  local: true,
  flags: {},
  examples: [{ text: 'Which version is this?', command: 'version' }],
  async run({ out }) {
    const version = packageVersion();
    if (out.field !== undefined) return out.pick({ version }, out.field);
    if (out.format === 'json' || out.format === 'yaml') return out.document({ version });
    out.line(`Strongroom v${version}`);
  },
});
