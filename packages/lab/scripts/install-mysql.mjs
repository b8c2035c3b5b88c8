// MySQL from Debian unstable, into .strongroom/mysql-unstable. Prints the folder. Needs apt-get.
import { cached, printInstalled } from './cache.mjs';
import { unpackDebian } from './debian.mjs';

/** The folder, with the program `run`. Throws with the reason if it cannot be had. */
export async function installMysql() {
  return await cached('mysql-unstable', (folder) => unpackDebian(folder, 'sid', ['mysql-server-core']));
}

await printInstalled(import.meta.url, installMysql);
