import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { renderCliReference } from '@strongroom/cli';
import { metricFamilies } from '@strongroom/server';
import { configurationPage } from './configuration-page.ts';
import { metricsPage } from './metrics-page.ts';
import { GENERATED, mountPage } from './mount-page.ts';
import { servedMounts } from './served-mounts.ts';

/** Every page of the reference by its file name, as the declarations give it. */
export async function renderReference(): Promise<Map<string, string>> {
  const mounts = await servedMounts();
  const pages = new Map(mounts.map((mount) => [`${mount.page}.md`, mountPage(mount)]));
  pages.set('cli.md', `${GENERATED}\n\n${await renderCliReference()}`);
  pages.set('configuration.md', await configurationPage());
  pages.set('metrics.md', metricsPage(await metricFamilies()));
  const index = [
    GENERATED,
    '',
    '# Reference',
    '',
    ...mounts.map(({ page, title }) => `- [${title}](${page}.md)`),
    '- [The command line](cli.md)',
    '- [The server and its configuration](configuration.md)',
    '- [Metrics](metrics.md)',
    '',
    'The same declarations answer `?help=1` on every path, and `GET /v1/sys/internal/specs/openapi` gives them as an OpenAPI document.',
    'Durations are a number of seconds, or text such as `90s`, `1h30m` and `7d`. `POST` and `PUT` are the same. `LIST` may also be sent as',
    '`GET` with `?list=true`.',
    '',
  ];
  return pages.set('README.md', index.join('\n'));
}

/** Writes all pages into a folder, and removes those that no declaration gives any more. */
export async function writeReference(folder: string): Promise<void> {
  const pages = await renderReference();
  await mkdir(folder, { recursive: true });
  for (const name of await readdir(folder)) if (!pages.has(name)) await rm(join(folder, name), { recursive: true });
  for (const [name, page] of pages) await writeFile(join(folder, name), page);
}

/** The pages that a folder holds. */
export async function readReference(folder: string): Promise<Map<string, string>> {
  const pages = new Map<string, string>();
  for (const name of await readdir(folder)) pages.set(name, await readFile(join(folder, name), 'utf8'));
  return pages;
}
