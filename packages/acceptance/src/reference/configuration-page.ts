import { readFile } from 'node:fs/promises';
import { GENERATED } from './mount-page.ts';

const README = new URL('../../../server/README.md', import.meta.url);

/** Flags and configuration as the server's README describes them: from its first example to the end of its section `Configuration`. */
export async function configurationPage(): Promise<string> {
  const text = await readFile(README, 'utf8');
  const [, flags, keys] = /\n(```\n\$ strongroom server[^]*?)^## Configuration\n([^]*?)^## /m.exec(text) ?? [];
  if (flags === undefined || keys === undefined) throw new Error('packages/server/README.md has no example followed by "## Configuration"');
  return `${GENERATED}\n\n# The server and its configuration\n\n${flags.trim()}\n\n## Configuration\n\n${keys.trim()}\n`;
}
