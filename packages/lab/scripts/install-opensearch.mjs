// OpenSearch with its security plugin from Maven Central, into .strongroom/opensearch-<version>. Prints the folder. Needs mvn and unzip; running it needs Java 17.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { cached, printInstalled } from './cache.mjs';
import { fetchArtifact, fetchJars } from './maven.mjs';

const VERSION = '2.19.1';

/** The folder: the server's jars in `lib`, the plugin in `opensearch-security`. Throws with the reason if they cannot be had. */
export async function installOpensearch() {
  return await cached(`opensearch-${VERSION}`, (folder) => {
    fetchJars(folder, [
      `org.opensearch:opensearch:${VERSION}`,
      `org.opensearch:opensearch-plugin-classloader:${VERSION}`,
      'org.apache.logging.log4j:log4j-core:2.21.0',
    ]);
    fetchArtifact(folder, `org.opensearch.plugin:opensearch-security:${VERSION}.0:zip`);
    const archive = join(folder, `opensearch-security-${VERSION}.0.zip`);
    const { status, error, stderr } = spawnSync('unzip', ['-q', archive, '-d', join(folder, 'opensearch-security')], { encoding: 'utf8' });
    if (error) throw new Error(error.code === 'ENOENT' ? 'unzip is not installed' : error.message);
    if (status !== 0) throw new Error(`unzip ended with ${status}: ${stderr.slice(-2000)}`);
  });
}

await printInstalled(import.meta.url, installOpensearch);
