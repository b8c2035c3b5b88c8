// The jars of Neo4j's Community Edition from Maven Central, into .strongroom/neo4j-<version>. Prints the folder. Needs mvn; running them needs Java 17.
import { cached, printInstalled } from './cache.mjs';
import { fetchJars } from './maven.mjs';

const VERSION = '5.26.1';

/** The folder with the jars in `lib`. Throws with the reason if they cannot be had. */
export async function installNeo4j() {
  return await cached(`neo4j-${VERSION}`, (folder) => fetchJars(folder, [`org.neo4j.test:neo4j-harness:${VERSION}`]));
}

await printInstalled(import.meta.url, installNeo4j);
