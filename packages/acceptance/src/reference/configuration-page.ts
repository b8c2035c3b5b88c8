import { readFile } from 'node:fs/promises';
import { GENERATED } from './mount-page.ts';

const README = new URL('../../../server/README.md', import.meta.url);

/** The configuration as the server's README describes it, from its heading `Configuration` to the next of the same rank. */
export async function configurationPage(): Promise<string> {
  const text = await readFile(README, 'utf8');
  const [, section] = /^## Configuration\n([^]*?)(?=^## |(?![^]))/m.exec(text) ?? [];
  if (section === undefined) throw new Error('packages/server/README.md has no section "Configuration"');
  return `${GENERATED}\n\n# The configuration of the server\n\n${section.trim()}\n`;
}
