// Valkey from Debian trixie, into .strongroom/valkey-trixie. Prints the folder. Needs apt-get.
import { cached, printInstalled } from './cache.mjs';
import { unpackDebian } from './debian.mjs';

/** The folder, with the program `run`. Throws with the reason if it cannot be had. */
export async function installValkey() {
  return await cached('valkey-trixie', (folder) => unpackDebian(folder, 'trixie', ['valkey-server', 'valkey-tools']));
}

await printInstalled(import.meta.url, installValkey);
