// What Maven Central has, fetched with mvn.
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MAKING_MS } from './cache.mjs';

/** The jars of these artifacts, and of all that they need, into `<folder>/lib`. An artifact is `group:name:version`. Throws with the reason. */
export function fetchJars(folder, artifacts) {
  const dependencies = artifacts.map((artifact) => {
    const [group, name, version] = artifact.split(':');
    return `<dependency><groupId>${group}</groupId><artifactId>${name}</artifactId><version>${version}</version></dependency>`;
  });
  mkdirSync(folder, { recursive: true });
  const pom = join(folder, 'pom.xml');
  writeFileSync(
    pom,
    `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>strongroom</groupId>
  <artifactId>server-for-tests</artifactId>
  <version>1</version>
  <dependencies>
    ${dependencies.join('\n    ')}
  </dependencies>
</project>
`,
  );
  maven(['-f', pom, 'dependency:copy-dependencies', '-DincludeScope=runtime', `-DoutputDirectory=${join(folder, 'lib')}`]);
}

/** One artifact, `group:name:version:type`, into `folder`. Throws with the reason. */
export function fetchArtifact(folder, artifact) {
  maven(['dependency:copy', `-Dartifact=${artifact}`, `-DoutputDirectory=${folder}`]);
}

function maven(words) {
  const { status, error, stdout, stderr } = spawnSync('mvn', ['-B', '-q', ...words], {
    encoding: 'utf8',
    maxBuffer: 1 << 26,
    timeout: MAKING_MS,
  });
  if (error) throw new Error(error.code === 'ENOENT' ? 'mvn is not installed' : error.message);
  if (status !== 0) throw new Error(`mvn ended with ${status}: ${(stdout + stderr).slice(-2000)}`);
}
