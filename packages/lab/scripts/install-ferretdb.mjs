// FerretDB, built from its Go module into .strongroom/ferretdb-<version>. Prints the path of the program. Needs Go 1.21 or later.
import { spawnSync } from 'node:child_process';
import { cpSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cached, printInstalled } from './cache.mjs';
import { buildGo, go } from './go.mjs';

/** The last version that keeps its data in SQLite; later ones need a PostgreSQL with an extension. */
const VERSION = '1.24.0';

/** The program. Throws with the reason if it cannot be built. */
export async function installFerretdb() {
  const folder = await cached(`ferretdb-${VERSION}`, (made) => {
    const source = join(made, 'source');
    // `go install …@version` cannot be used: the build wants its version written into a file of its sources.
    const downloaded = go(['mod', 'download', '-json', `github.com/FerretDB/FerretDB@v${VERSION}`], made);
    cpSync(JSON.parse(downloaded).Dir, source, { recursive: true });
    spawnSync('chmod', ['-R', 'u+w', source]);
    writeFileSync(join(source, 'build', 'version', 'version.txt'), `v${VERSION}\n`);
    buildGo(join(made, 'ferretdb'), source, { main: './cmd/ferretdb', tags: 'ferretdb_no_postgresql' });
    rmSync(source, { recursive: true, force: true });
  });
  return join(folder, 'ferretdb');
}

await printInstalled(import.meta.url, installFerretdb);
