// What `lerna version` runs when every package.json has its new version: closes `## Unreleased` in the changelogs, and brings the versions that
// sources and documents repeat up to date. Plain JavaScript without dependencies.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './setup.mjs';

const day = new Date().toISOString().slice(0, 10);
const packages = ['packages', 'examples'].flatMap((parent) =>
  readdirSync(join(root, parent), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(join(root, parent, entry.name, 'package.json')))
    .map((entry) => join(root, parent, entry.name)),
);

const versions = new Map(
  packages.map((folder) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))).map(({ name, version }) => [name, version]),
);

for (const folder of packages) {
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  edit(join(folder, 'package.json'), raisedPeers);
  edit(join(folder, 'CHANGELOG.md'), (text) => closed(text, version));
  for (const file of sources(join(folder, 'src'))) {
    edit(file, (text) => text.replaceAll(/^( +version: |export const PRODUCT_VERSION = )'\d+\.\d+\.\d+'/gm, `$1'${version}'`));
  }
}
for (const page of readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md'))) edit(join(root, 'docs', page), quotedAnew);

/** The package.json with the new versions of its peers in this repository, which lerna leaves as they were. */
function raisedPeers(text) {
  return text.replace(/"peerDependencies": \{[^}]*\}/, (peers) =>
    peers.replaceAll(/"(@strongroom\/[^"]+)": "[^"]*"/g, (_, name) => `"${name}": "^${versions.get(name)}"`),
  );
}

/** The changelog with its unreleased lines under the version; one whose package only follows others says so. */
function closed(text, version) {
  const heading = `## ${version}`;
  if (text.split('\n').some((line) => line === heading || line.startsWith(`${heading} `))) return text;
  const dated = `${heading} (${day})`;
  if (text.includes('\n## Unreleased\n')) return text.replace('\n## Unreleased\n', `\n${dated}\n`);
  return text.replace('# Changelog\n', `# Changelog\n\n${dated}\n\nFollows new versions of the packages that it depends on.\n`);
}

/** The page with each quoted package.json as the file has it. */
function quotedAnew(text) {
  return text.replaceAll(
    /(<!-- code of: (\S+\/package\.json) -->\n\n```json\n)[^]*?```/g,
    (_, mark, file) => `${mark}${readFileSync(join(root, file), 'utf8')}\`\`\``,
  );
}

function* sources(folder) {
  for (const entry of existsSync(folder) ? readdirSync(folder, { withFileTypes: true }) : []) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* sources(path);
    else if (entry.name.endsWith('.ts')) yield path;
  }
}

function edit(file, change) {
  if (!existsSync(file)) return;
  const before = readFileSync(file, 'utf8');
  const after = change(before);
  if (after !== before) writeFileSync(file, after);
}
