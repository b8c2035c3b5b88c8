// Cassandra's jars from Maven Central, into .strongroom/cassandra-<version>. Prints the folder. Needs mvn; running them needs Java 17.
import { cached, printInstalled } from './cache.mjs';
import { fetchJars } from './maven.mjs';

const VERSION = '5.0.4';

/** The folder with the jars in `lib`. Throws with the reason if they cannot be had. */
export async function installCassandra() {
  return await cached(`cassandra-${VERSION}`, (folder) => fetchJars(folder, [`org.apache.cassandra:cassandra-all:${VERSION}`]));
}

await printInstalled(import.meta.url, installCassandra);
