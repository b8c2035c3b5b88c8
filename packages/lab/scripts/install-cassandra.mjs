// Cassandra's jars from Maven Central, into .strongroom/cassandra-<version>. Prints the folder. Needs mvn; running them needs Java 17.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { cached, MAKING_MS } from './cache.mjs';

const VERSION = '5.0.4';
const POM = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>strongroom</groupId>
  <artifactId>cassandra-for-tests</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>org.apache.cassandra</groupId>
      <artifactId>cassandra-all</artifactId>
      <version>${VERSION}</version>
    </dependency>
  </dependencies>
</project>
`;

/** The folder with the jars. Throws with the reason if they cannot be had. */
export async function installCassandra() {
  return await cached(`cassandra-${VERSION}`, (folder) => {
    const pom = join(folder, 'pom.xml');
    writeFileSync(pom, POM);
    const goal = ['-B', '-q', '-f', pom, 'dependency:copy-dependencies', `-DoutputDirectory=${join(folder, 'lib')}`];
    const { status, error, stdout, stderr } = spawnSync('mvn', goal, { encoding: 'utf8', maxBuffer: 1 << 26, timeout: MAKING_MS });
    if (error) throw new Error(error.code === 'ENOENT' ? 'mvn is not installed' : error.message);
    if (status !== 0) throw new Error(`mvn ended with ${status}: ${(stdout + stderr).slice(-2000)}`);
  });
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  try {
    console.log(await installCassandra());
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}
